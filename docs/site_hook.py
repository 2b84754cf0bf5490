"""What mkdocs needs to know of these pages: their order, and where links out of docs/ lead."""

import pathlib
import posixpath
import re

from mkdocs.exceptions import PluginError

KINDS = {"tutorials": "Tutorials", "how-to": "How-to", "reference": "Reference", "explanation": "Explanation"}


def on_config(config):
    """The navigation has the pages in the order in which README.md links to them, then the others."""
    docs = pathlib.Path(config.docs_dir)
    readme = (docs / "README.md").read_text("utf-8")
    config.nav = [{"Home": "README.md"}]
    for folder, title in KINDS.items():
        linked = re.findall(rf"\]\(({folder}/[\w-]+\.md)", readme)
        present = sorted(p.relative_to(docs).as_posix() for p in docs.glob(f"{folder}/*.md"))
        if present:
            config.nav.append({title: list(dict.fromkeys(linked + present))})
    return config


def on_page_markdown(markdown, page, config, files):
    """A relative link to a file outside docs/ becomes one to the repository."""
    root = pathlib.Path(config.docs_dir).parent

    def follow(match):
        path, _, anchor = match[1].partition("#")
        target = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page.file.src_uri), path))
        if target.startswith("docs/"):
            return match[0]
        if not (root / target).exists():
            raise PluginError(f"{page.file.src_uri} links to {match[1]}, which does not exist")
        return f"]({config.extra['repository']}/blob/main/{target}{'#' + anchor if anchor else ''})"

    markdown = re.sub(r"\]\((\.\./[^)\s]+)\)", follow, markdown)
    # The words after a block's language are for our tests; with them mkdocs sees no block.
    return re.sub(r"^(```\w+) (?!title=).+$", r"\1", markdown, flags=re.MULTILINE)
