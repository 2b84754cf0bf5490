"""Builds and checks the wheels: python build.py [-o DIR] [--twice] [PLATFORM …].

Without platforms, all of them. Needs Go and hatchling. --twice builds each wheel twice and checks that the
bytes are equal.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import payload
from hatch_build import HERE, PLATFORMS, this_platform

MOST = 100 << 20  # bytes per file that the package index accepts


def build(platform: str, into: Path) -> Path:
    """Build the wheel for a platform and check what it carries."""
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=into) as work:
        env = {"SOURCE_DATE_EPOCH": "1700000000", **os.environ, "REFRACT_WHEEL_PLATFORM": platform}
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", work]
        subprocess.run(command, cwd=HERE, env=env, check=True, stdout=subprocess.DEVNULL)
        (made,) = Path(work).glob("*.whl")
        check(made, platform)
        return made.replace(into / made.name)


def check(wheel: Path, platform: str) -> None:
    """Fail if a wheel is too large, or its program is for another platform than its name says."""
    if wheel.stat().st_size >= MOST:
        raise SystemExit(f"{wheel.name} has {wheel.stat().st_size:,} bytes: the index takes {MOST:,}")
    if not wheel.name.endswith(f"-py3-none-{PLATFORMS[platform]}.whl"):
        raise SystemExit(f"{wheel.name} is not named for {platform}")
    with zipfile.ZipFile(wheel) as files:
        programs = [f for f in files.infolist() if ".data/scripts/refract" in f.filename]
        if len(programs) != 1:
            raise SystemExit(f"{wheel.name} has {len(programs)} programs")
        found = payload.inspect(files.read(programs[0]), f"{wheel.name}: {programs[0].filename}")
        if f"{found.system}-{found.machine}" != platform or (found.system == "linux" and found.dynamic):
            raise SystemExit(f"{wheel.name} has a program of {found}")
        if not (programs[0].external_attr >> 16) & 0o100:
            raise SystemExit(f"{wheel.name}: {programs[0].filename} is not executable")
        for name in ("/licenses/LICENSE", "refract_eval/py.typed", "refract_eval/__init__.py"):
            if not any(f.endswith(name) for f in files.namelist()):
                raise SystemExit(f"{wheel.name} lacks {name}")
        texts = files.read("refract_eval/LICENSES.txt").decode()
        with tempfile.TemporaryDirectory() as work:
            program = files.extract(programs[0], work)
            told = subprocess.run(["go", "version", "-m", program], check=True, stdout=subprocess.PIPE, text=True)
        for _, kind, *module in (line.split("\t") for line in told.stdout.splitlines() if line.startswith("\tdep\t")):
            if f"==== {module[0]} {module[1]}: " not in texts:
                raise SystemExit(f"{wheel.name} lacks the license of the {kind} {module[0]}")


def main() -> None:
    """Build what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=HERE / "dist", metavar="DIR")
    parser.add_argument("--twice", action="store_true", help="build twice and compare")
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM", help=f"this, {', '.join(PLATFORMS)}")
    asked = parser.parse_args()
    for platform in asked.platforms or PLATFORMS:
        wheel = build(this_platform() if platform == "this" else platform, asked.output)
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, sha256 {digest[:12]}", flush=True)
        if asked.twice:
            with tempfile.TemporaryDirectory() as again:
                other = build(this_platform() if platform == "this" else platform, Path(again))
                if hashlib.sha256(other.read_bytes()).hexdigest() != digest:
                    raise SystemExit(f"{wheel.name}: a second build has other bytes")


if __name__ == "__main__":
    main()
