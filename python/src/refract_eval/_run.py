"""Runs a command of refract once, to its end."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike

from ._process import lines_of, start
from ._program import find_program
from .errors import RefractError, UsageError

Flag = str | int | float | bool | Sequence[str] | None
DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130  # exit codes
_REASON = "refract: "  # begins the line that says why a command failed


class Run:
    """A command that runs.

    takes is called with every line of its standard error, in a thread; those that it does
    not take are kept as messages. What it raises interrupts the command, and is raised by wait().
    names has what stands in messages for files that the caller does not know.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        takes: Callable[[str], bool] = lambda line: False,
        names: Mapping[str, str] | None = None,
    ) -> None:
        """Start the command."""
        self.messages: list[str] = []
        self._takes, self._names = takes, names or {}
        self._raised: BaseException | None = None
        self._popen = start([find_program(), *arguments], subprocess.DEVNULL, subprocess.DEVNULL)
        self._listener = threading.Thread(target=self._listen, name="refract-stderr", daemon=True)
        self._listener.start()

    def wait(self, allowed: Sequence[int] = (DONE,)) -> int:
        """Return the exit code; one that is not allowed is an error with what the command said.

        The first interruption asks the command to end, which keeps what it has paid for, and
        waits for it; the second kills it.
        """
        try:
            code = self._popen.wait()
        except BaseException:
            self.interrupt()
            try:
                self._popen.wait()
            except BaseException:
                self._popen.kill()
                self._popen.wait()
                raise
            raise
        self._listener.join()
        if self._raised is not None:
            raise self._raised
        if code in allowed:
            return code
        raise self.error(code)

    def error(self, code: int) -> RefractError:
        """Return what the command said as an error, which begins with the reason."""
        said = self.messages[-10:]
        reason = max((i for i, line in enumerate(said) if line.startswith(_REASON)), default=0)
        text = "\n".join([*said[reason:], *said[:reason]]).removeprefix(_REASON)
        return (UsageError if code == USAGE else RefractError)(text or f"refract ended with exit code {code}")

    def interrupt(self) -> None:
        """Ask the command to end, as Ctrl+C does."""
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                self._popen.send_signal(signal.CTRL_BREAK_EVENT)
            else:
                self._popen.send_signal(signal.SIGINT)

    def _listen(self) -> None:
        assert self._popen.stderr is not None
        for line in lines_of(self._popen.stderr.fileno()):
            text = line.decode("utf-8", "replace").rstrip("\r")
            if not self._taken(text):
                for path, name in self._names.items():
                    text = text.replace(path, name)
                self.messages.append(text)
        self._popen.stderr.close()

    def _taken(self, line: str) -> bool:
        if self._raised is None:
            try:
                return self._takes(line)
            except BaseException as e:
                self._raised = e
                self.interrupt()
        return False


def command_line(flags: Mapping[str, Flag]) -> Iterator[str]:
    """Return flags by their names, in which _ may stand for -, as a command line has them."""
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, bool):
            yield f"{flag}={str(value).lower()}"
        elif isinstance(value, (str, int, float, PathLike)):
            yield f"{flag}={value}"
        elif value is not None:
            yield from (f"{flag}={v}" for v in value)
