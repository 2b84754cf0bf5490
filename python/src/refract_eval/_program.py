"""Finds the program."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from .errors import ProgramNotFoundError

NAME = "refract.exe" if sys.platform == "win32" else "refract"


def find_program() -> str:
    """Return the path of the program that came with this package.

    The variable REFRACT_PROGRAM names another. PATH is not searched, because it may have another program of
    that name.
    """
    if named := os.environ.get("REFRACT_PROGRAM"):
        if not os.path.isfile(named):
            raise ProgramNotFoundError(f"REFRACT_PROGRAM names {named!r}, where there is no file")
        return named
    tried = list(dict.fromkeys(_folders()))
    for folder in tried:
        path = os.path.join(folder, NAME)
        if os.path.isfile(path):
            return path
    raise ProgramNotFoundError(
        f"there is no {NAME} in {', '.join(tried)}: install the wheel again "
        "(pip install --force-reinstall refract-eval), or name the program in REFRACT_PROGRAM"
    )


def _folders() -> Iterator[str]:
    """Folders where installers put scripts, most likely first."""
    yield sysconfig.get_path("scripts")
    yield sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))
    yield os.path.dirname(sys.executable)
    package = Path(__file__).resolve().parent
    bin = "Scripts" if sys.platform == "win32" else "bin"
    yield str(package.parent / bin)  # pip install --target
    for parent in package.parents:  # pip install --prefix: PREFIX/lib/pythonX.Y/site-packages
        if parent.name.lower() == "lib":
            yield str(parent.parent / bin)
            break
