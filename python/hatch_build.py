"""Builds the Go program into the wheel, for one platform.

REFRACT_WHEEL_PLATFORM names the platform, such as linux-arm64; without it, it is this machine's. The program
becomes a script of the wheel, so that `refract` starts no Python.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import payload  # noqa: E402

# Tags by platform. A static program runs on glibc and musl alike; macOS 12 is the
# oldest that Go 1.26 runs on.
PLATFORMS = {
    "linux-amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux-arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin-arm64": "macosx_12_0_arm64",
    "darwin-amd64": "macosx_12_0_x86_64",
    "windows-amd64": "win_amd64",
}

_MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


class BuildError(Exception):
    """The program cannot be built here; the message says what to do."""


def this_platform() -> str:
    """Name this machine's platform in Go's words."""
    machine = platform.machine().lower()
    return f"{sys.platform.replace('win32', 'windows')}-{_MACHINES.get(machine, machine)}"


def build_program(name: str, into: Path) -> Path:
    """Cross-compile refract for a platform of PLATFORMS, and check its header.

    The tag lean omits the language models, which are larger than the package index allows.
    """
    if name not in PLATFORMS:
        raise BuildError(f"no wheel is made for {name}: only for {', '.join(PLATFORMS)}")
    source = HERE.parent
    if not (source / "go.mod").is_file():
        raise BuildError(
            "the Go program is built from a clone of refract, in which this folder is python/; "
            "from PyPI, install a wheel: pip install --only-binary refract-eval refract-eval"
        )
    go = shutil.which("go")
    if go is None:
        raise BuildError(
            "no 'go' on PATH: from a clone, the program refract is built with Go 1.26 or later "
            "(https://go.dev/dl); without Go, install a wheel from PyPI: pip install refract-eval"
        )
    tell(f"refract-eval: Go compiles the program refract for {name}, which takes minutes the first time")
    system, machine = name.split("-")
    program = into / ("refract.exe" if system == "windows" else "refract")
    command = [go, "build", "-trimpath", "-buildvcs=false", "-tags=lean", "-ldflags=-s -w"]
    env = {**os.environ, "CGO_ENABLED": "0", "GOOS": system, "GOARCH": machine, "GOFLAGS": ""}
    done = subprocess.run([*command, "-o", str(program), "./cmd/refract"], cwd=source, env=env)
    if done.returncode != 0:
        raise BuildError(f"go build for {name} failed with exit code {done.returncode}; what it says is above")
    found = payload.inspect(program.read_bytes(), program)
    if (found.system, found.machine) != (system, machine):
        raise BuildError(f"{program} is of {found.system}-{found.machine}, not of {name}")
    if system == "linux" and found.dynamic:
        raise BuildError(f"{program} is linked dynamically: it would run on only one libc")
    return program


def tell(line: str) -> None:
    """Show a line to whoever waits, on the terminal too, because pip keeps the output of builds to itself."""
    print(line, file=sys.stderr, flush=True)
    if not sys.stderr.isatty():
        with contextlib.suppress(OSError), open("CONOUT$" if os.name == "nt" else "/dev/tty", "w") as terminal:
            terminal.write(f"\n{line}\n")


def linked_licenses(into: Path) -> Path:
    """Write the licenses of all modules that are linked into the program; one without a license is an error."""
    command = ["go", "run", "-buildvcs=false", "./deploy/pages", str(into)]
    if subprocess.run(command, cwd=HERE.parent, env={**os.environ, "GOFLAGS": ""}).returncode != 0:
        raise BuildError("the licenses of the linked modules are not known; what deploy/pages says is above")
    return into / "LICENSES.txt"


class ProgramHook(BuildHookInterface[Any]):
    """Puts the program into the wheel's scripts, and the platform into its tag."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the program before the wheel is packed."""
        name = os.environ.get("REFRACT_WHEEL_PLATFORM") or this_platform()
        self.work = tempfile.TemporaryDirectory(prefix="refract-wheel-")
        try:
            program = build_program(name, Path(self.work.name))
            licenses = linked_licenses(Path(self.work.name) / "pages")
        except BuildError as e:
            self.work.cleanup()
            raise SystemExit(f"refract-eval: {e}") from None
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{PLATFORMS[name]}"
        build_data["shared_scripts"][str(program)] = program.name
        build_data["force_include"][str(licenses)] = "refract_eval/LICENSES.txt"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the program once it is packed."""
        self.work.cleanup()
