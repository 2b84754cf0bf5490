"""The platform of a program, read from its header: ELF, Mach-O or PE."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Payload:
    """A program's system and machine in Go's words, such as "linux" and "arm64".

    dynamic says that it needs a loader or system libraries. Programs for macOS always do; Linux ones must not,
    to run on glibc and musl alike.
    """

    system: str
    machine: str
    dynamic: bool


_ELF = {62: "amd64", 183: "arm64"}
_MACH = {0x01000007: "amd64", 0x0100000C: "arm64"}
_PE = {0x8664: "amd64", 0xAA64: "arm64"}
_PT_DYNAMIC, _PT_INTERP = 2, 3


def inspect(program: bytes, name: str | Path = "the program") -> Payload:
    """Read the header of a program; ValueError if wheels have no such programs."""
    try:
        if program[:4] == b"\x7fELF":
            return _elf(program)
        if program[:4] == b"\xcf\xfa\xed\xfe":
            return Payload("darwin", _MACH[struct.unpack_from("<I", program, 4)[0]], True)
        if program[:2] == b"MZ":
            return _pe(program)
    except (KeyError, struct.error) as e:
        raise ValueError(f"{name}: header of a machine that is not known: {e}") from e
    raise ValueError(f"{name}: neither ELF, nor Mach-O of 64 bits, nor PE: it begins with {program[:4]!r}")


def _elf(program: bytes) -> Payload:
    if program[4:6] != b"\x02\x01":
        raise KeyError("ELF that is not of 64 bits and little-endian")
    machine = _ELF[struct.unpack_from("<H", program, 18)[0]]
    start = struct.unpack_from("<Q", program, 32)[0]
    size, count = struct.unpack_from("<HH", program, 54)
    kinds = {struct.unpack_from("<I", program, start + i * size)[0] for i in range(count)}
    return Payload("linux", machine, bool(kinds & {_PT_DYNAMIC, _PT_INTERP}))


def _pe(program: bytes) -> Payload:
    at = struct.unpack_from("<I", program, 0x3C)[0]
    if program[at : at + 4] != b"PE\0\0":
        raise KeyError("MZ without PE")
    return Payload("windows", _PE[struct.unpack_from("<H", program, at + 4)[0]], True)
