"""Writes what the site is built from, a copy of the pages and mkdocs.yml, into a new folder.

usage: docs/site_pages.py FOLDER
"""

import json
import pathlib
import posixpath
import re
import shutil
import sys

KINDS = {"tutorials": "Tutorials", "how-to": "How-to", "reference": "Reference", "explanation": "Explanation"}
REPOSITORY = "https://github.com/refract-eval/refract"


def navigation(docs):
    """The pages in the order in which README.md links to them, then the others."""
    readme = (docs / "README.md").read_text("utf-8")
    nav = [{"Home": "README.md"}]
    for folder, title in KINDS.items():
        linked = re.findall(rf"\]\(({folder}/[\w-]+\.md)", readme)
        present = sorted(p.relative_to(docs).as_posix() for p in docs.glob(f"{folder}/*.md"))
        nav.append({title: list(dict.fromkeys(linked + present))})
    return nav


def page(docs, path):
    """A page, whose relative links to files outside docs/ become links to the repository."""

    def follow(match):
        name, _, anchor = match[1].partition("#")
        target = posixpath.normpath(posixpath.join("docs", path.parent.as_posix(), name))
        if target.startswith("docs/"):
            return match[0]
        if not (docs.parent / target).exists():
            sys.exit(f"{path} links to {match[1]}, which does not exist")
        return f"]({REPOSITORY}/blob/main/{target}{'#' + anchor if anchor else ''})"

    text = re.sub(r"\]\((\.\./[^)\s]+)\)", follow, (docs / path).read_text("utf-8"))
    # The words after a block's language are for our tests; with them there is no block.
    return re.sub(r"^(```\w+) (?!title=).+$", r"\1", text, flags=re.MULTILINE)


def main(folder):
    docs = pathlib.Path(__file__).resolve().parent
    to = pathlib.Path(folder)
    shutil.copytree(docs, to / "docs", ignore=shutil.ignore_patterns("*.sh", "*.py", "requirements.txt"))
    for path in (to / "docs").rglob("*.md"):
        path.write_text(page(docs, path.relative_to(to / "docs")), "utf-8")
    config = (docs.parent / "mkdocs.yml").read_text("utf-8")
    (to / "mkdocs.yml").write_text(f"{config}\nnav: {json.dumps(navigation(docs))}\n", "utf-8")


main(*sys.argv[1:])
