"""One process of `refract serve`, which reads and writes lines.

Three threads serve its pipes, so that a signal never interrupts a write halfway, a full pipe never blocks an
event loop, and its standard error is available when it dies. They hold file descriptors as numbers, not
buffered files, whose locks a fork could leave locked.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence

_CHUNK = 1 << 20
_STDERR_KEPT = 16 << 10  # bytes
_GRACE = 5.0  # seconds for a process to end after its input

# Held while a process starts: a fork in the meantime would copy pipes that nobody closes.
_starting = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_starting.acquire, after_in_parent=_starting.release, after_in_child=_starting.release)


def start(command: Sequence[str], stdin: int, stdout: int) -> subprocess.Popen[bytes]:
    """Start a process in its own session, so that only Python receives Ctrl+C in a terminal."""
    with _starting:
        return subprocess.Popen(
            command,
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=sys.platform != "win32",
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )


def lines_of(fd: int) -> Iterator[bytes]:
    """Read lines from a descriptor, without their ends; an unfinished last line is dropped."""
    parts: list[bytes] = []
    while chunk := os.read(fd, _CHUNK):
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            yield b"".join([*parts, line])
            parts.clear()
        if rest:
            parts.append(rest)


class Process:
    """A running process.

    received is called with every line that it writes, and ended once, with its exit code
    and the end of what it wrote to standard error, when it is gone and reaped. Both run
    in a thread of this object.
    """

    def __init__(
        self,
        command: Sequence[str],
        received: Callable[[bytes], None],
        ended: Callable[[int, str], None],
    ) -> None:
        """Start the process."""
        self._received, self._ended = received, ended
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._said: deque[bytes] = deque()
        self.owner = os.getpid()
        self._popen = start(command, subprocess.PIPE, subprocess.PIPE)
        self.pid = self._popen.pid
        self._listener = threading.Thread(target=self._listen, name="refract-stderr", daemon=True)
        self._reader = threading.Thread(target=self._read, name="refract-read", daemon=True)
        self._writer = threading.Thread(target=self._write, name="refract-write", daemon=True)
        for thread in (self._listener, self._reader, self._writer):
            thread.start()

    def send(self, line: bytes) -> None:
        """Write a line, given without its end, after those before it."""
        self._outgoing.put(line + b"\n")

    def close(self) -> None:
        """Close the input, wait for the process, and kill it if it does not end."""
        if self.owner != os.getpid():
            return
        self._outgoing.put(None)
        self._reader.join(_GRACE)
        if self._reader.is_alive():
            self.kill()
            self._reader.join()

    def kill(self) -> None:
        """End the process at once."""
        with contextlib.suppress(OSError):
            self._popen.kill()

    def abandon(self) -> None:
        """Close the pipes in a forked child: they belong to the parent."""
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._popen.returncode = 0  # not ours to wait for

    def _write(self) -> None:
        assert self._popen.stdin is not None
        fd = self._popen.stdin.fileno()
        try:
            while (line := self._outgoing.get()) is not None:
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(fd, rest) :]
        except OSError:
            pass  # it is gone, which the reader notices too
        finally:
            self._popen.stdin.close()

    def _read(self) -> None:
        assert self._popen.stdout is not None
        for line in lines_of(self._popen.stdout.fileno()):
            self._received(line)
        self._popen.stdout.close()
        try:
            code = self._popen.wait(_GRACE)
        except subprocess.TimeoutExpired:  # it closed its output, but still runs
            self.kill()
            code = self._popen.wait()
        self._outgoing.put(None)
        self._listener.join(1)  # a process that it started may hold the pipe for longer
        self._ended(code, b"".join(self._said).decode("utf-8", "replace").strip())

    def _listen(self) -> None:
        assert self._popen.stderr is not None
        fd = self._popen.stderr.fileno()
        kept = 0
        while chunk := os.read(fd, 4096):
            self._said.append(chunk)
            kept += len(chunk)
            while kept - len(self._said[0]) >= _STDERR_KEPT:
                kept -= len(self._said.popleft())
        self._popen.stderr.close()
