"""How the wheel is built, and how the module finds the program."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import refract_eval
from refract_eval import ProgramNotFoundError, _program, find_program

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE))
hatch_build = pytest.importorskip("hatch_build")

import payload  # noqa: E402


def elf(machine: int, *segments: int, ident: bytes = b"\x7fELF\x02\x01") -> bytes:
    """Return the header of an ELF file with program headers of these kinds."""
    head = ident.ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 2, machine, 1, 0, 64, 0, 0, 64, 56, len(segments), 0, 0, 0
    )
    return head + b"".join(struct.pack("<I", kind).ljust(56, b"\0") for kind in segments)


def pe(machine: int) -> bytes:
    """Return the header of a PE file."""
    return b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", 0x80) + b"\0" * 64 + b"PE\0\0" + struct.pack("<H", machine)


@pytest.mark.parametrize(
    ("program", "want"),
    [
        (elf(62, 1, 1), ("linux", "amd64", False)),
        (elf(183, 1, 2), ("linux", "arm64", True)),
        (elf(183, 3), ("linux", "arm64", True)),
        (b"\xcf\xfa\xed\xfe" + struct.pack("<I", 0x0100000C), ("darwin", "arm64", True)),
        (b"\xcf\xfa\xed\xfe" + struct.pack("<I", 0x01000007), ("darwin", "amd64", True)),
        (pe(0x8664), ("windows", "amd64", True)),
    ],
)
def test_headers(program: bytes, want: tuple[str, str, bool]) -> None:
    assert payload.inspect(program) == payload.Payload(*want)


@pytest.mark.parametrize(
    "program",
    [b"", b"#!/bin/sh", b"\x7fELF", elf(40, 1), elf(62, 1)[:66], elf(62, ident=b"\x7fELF\x01\x01"), b"MZ", pe(0x14C)],
    ids=["empty", "script", "short", "machine", "cut", "32 bits", "DOS", "PE of 32 bits"],
)
def test_headers_that_no_wheel_carries(program: bytes) -> None:
    with pytest.raises(ValueError, match="the program: "):
        payload.inspect(program)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ELF")
def test_the_program_here_is_static_and_python_is_not(program: str) -> None:
    found = payload.inspect(Path(program).read_bytes())
    assert f"{found.system}-{found.machine}" == hatch_build.this_platform()
    assert not found.dynamic
    assert payload.inspect(Path(os.path.realpath(sys.executable)).read_bytes()).dynamic


def test_builds_that_cannot_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(hatch_build.BuildError, match=r"no wheel is made for plan9-386: only for linux-amd64"):
        hatch_build.build_program("plan9-386", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(hatch_build.BuildError, match=r"no 'go' on PATH: .* Go 1.26 .*pip install refract-eval"):
        hatch_build.build_program("linux-amd64", tmp_path)
    monkeypatch.setattr(hatch_build, "HERE", tmp_path)
    with pytest.raises(hatch_build.BuildError, match="built from a clone of refract"):
        hatch_build.build_program("linux-amd64", tmp_path)


def test_the_licence_is_the_repository_s() -> None:
    assert (HERE / "LICENSE").read_bytes() == (HERE.parent / "LICENSE").read_bytes()


def test_the_version_is_the_program_s(program: str) -> None:
    done = subprocess.run([program, "version"], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[0] == f"refract {refract_eval.__version__}"


def test_the_program_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("REFRACT_PROGRAM", raising=False)
    monkeypatch.setattr(_program, "_folders", lambda: iter([str(tmp_path / "a"), str(tmp_path / "b")]))
    with pytest.raises(ProgramNotFoundError, match=r"there is no refract.* in .*a, .*b: install the wheel again"):
        find_program()
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / _program.NAME).touch()
    assert find_program() == str(tmp_path / "b" / _program.NAME)
