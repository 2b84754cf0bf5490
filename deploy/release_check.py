"""Checks a snapshot of a release: release_check.py CLONE.

In CLONE/dist are the archives and their checksums, a bill of materials for each program, and the
manifests of Homebrew and Scoop; CLONE/pages has the man pages and completions.
"""

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
import payload  # noqa: E402

PLATFORMS = ["linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64", "windows-amd64"]
PROGRAMS = ["refract"]

clone = Path(sys.argv[1])
dist, pages = clone / "dist", clone / "pages"


def want(what: str, ok: bool) -> None:
    """Fail unless a condition holds."""
    if not ok:
        raise SystemExit(f"release_check: {what}")


def content(archive: Path) -> dict[str, bytes]:
    """Read the files of an archive; a program must be executable if the format can say so."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as z:
            return {n: z.read(n) for n in z.namelist()}
    with tarfile.open(archive) as t:
        files = [f for f in t.getmembers() if f.isfile()]
        for f in files:
            want(f"{archive.name}: mode {f.mode:o} of {f.name}", bool(f.mode & 0o100) == (f.name in PROGRAMS))
        return {f.name: t.extractfile(f).read() for f in files}


sums = {name: digest for digest, name in (line.split() for line in (dist / "checksums.txt").open())}
for name, digest in sums.items():
    want(f"{name}: not the file of checksums.txt", hashlib.sha256((dist / name).read_bytes()).hexdigest() == digest)

beside = {p.relative_to(pages).as_posix() for p in pages.rglob("*") if p.is_file()}
want("neither man pages nor completions", {"man/refract.1", "completions/refract.bash"} <= beside)
archives = {}
for platform in PLATFORMS:
    system, machine = platform.split("-")
    (archive,) = dist.glob(f"refract_*_{system}_{machine}.{'zip' if system == 'windows' else 'tar.gz'}")
    archives[platform] = archive.name
    want(f"{archive.name} is not in checksums.txt", archive.name in sums)
    files = content(archive)
    programs = [p + ".exe" * (system == "windows") for p in PROGRAMS]
    differs = set(files) ^ (beside | {"LICENSE", "CHANGELOG.md", *programs})
    want(f"{archive.name} and what it should hold differ in {differs}", not differs)
    for p in programs:
        found = payload.inspect(files[p], p)
        ok = (found.system, found.machine) == (system, machine) and not (system == "linux" and found.dynamic)
        want(f"{archive.name}: {p} is of {found}", ok)
    print(f"{archive.name}: {archive.stat().st_size / 1e6:.0f} MB, {len(files)} files")
print(f"checksums: {len(sums)} files")

for platform in PLATFORMS:
    system, machine = platform.split("-")
    for p in PROGRAMS:
        (path,) = dist.glob(f"{p}_[0-9]*_{system}_{machine}.sbom.json")
        want(f"{path.name} is not in checksums.txt", path.name in sums)
        bom = json.loads(path.read_text())
        want(f"{path.name}: no CycloneDX document", bom["bomFormat"] == "CycloneDX")
        named = {(c["name"], c["version"]) for c in bom["components"]}
        (program,) = dist.glob(f"{p}_{system}_{machine}_*/{p}*")
        linked = subprocess.run(["go", "version", "-m", program], check=True, capture_output=True, text=True).stdout
        modules = set(re.findall(r"^\tdep\t(\S+)\t(\S+)", linked, re.M))
        want(f"{path.name} lacks {modules - named}", bool(modules) and modules <= named)
print(f"bills of materials: {len(PLATFORMS) * len(PROGRAMS)}; the last names {len(named)} modules")

cask = (dist / "homebrew/Casks/refract.rb").read_text()
for platform in PLATFORMS[:4]:
    want(f"the cask lacks the sum of {archives[platform]}", sums[archives[platform]] in cask)
for name in PROGRAMS:
    want(f"the cask lacks {name}", f'binary "{name}"' in cask)
paged = set(re.findall(r'manpage "(.*)"', cask))
differs = paged ^ {b for b in beside if b.startswith("man/")}
want(f"the cask and the man pages differ in {differs}", not differs)
want("the cask lacks completions", cask.count("_completion ") == 3)

(scoop,) = dist.glob("scoop/**/refract.json")
machine = json.loads(scoop.read_text())["architecture"]["64bit"]
want("the manifest of Scoop has another sum", machine["hash"] == sums[archives["windows-amd64"]])
want("the manifest of Scoop lacks a program", machine["bin"] == [p + ".exe" for p in PROGRAMS])

copied = re.findall(r"^COPY (.*) \S+$", (clone / "deploy/release.Dockerfile").read_text(), re.M)
sources = [s.removeprefix("$TARGETPLATFORM/") for line in copied for s in line.split()]
want(f"the image copies {sources}", set(PROGRAMS) < set(sources))
for s in set(sources) - set(PROGRAMS):
    want(f"the image copies {s}, which there is not", (clone / s).is_file())
print("cask, manifest of Scoop, and what the image copies: whole")
