"""Runs one command of refract to its end."""

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
_REASON = "refract: "  # starts the line that says why a command failed


class Run:
    """A running command.

    takes is called in a thread with every line of standard error; lines for which it returns false are kept as
    messages. An exception in it interrupts the command, and wait() raises it. names maps files that the caller
    does not know to names for messages.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        takes: Callable[[str], bool] = lambda line: False,
        names: Mapping[str, str] | None = None,
        stdout: int = subprocess.DEVNULL,
    ) -> None:
        """Start the command."""
        self.messages: list[str] = []
        self._takes, self._names = takes, names or {}
        self._raised: BaseException | None = None
        self._popen = start([find_program(), *arguments], subprocess.DEVNULL, stdout)
        self._listener = threading.Thread(target=self._listen, name="refract-stderr", daemon=True)
        self._listener.start()

    def wait(self, allowed: Sequence[int] = (DONE,)) -> int:
        """Return the exit code; if it is not allowed, raise an error with the command's messages.

        The first interruption asks the command to end and waits, so that paid answers are kept; the second
        kills it.
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
        """Return the command's messages as an error that begins with the reason."""
        said = self.messages[-10:]
        reason = max((i for i, line in enumerate(said) if line.startswith(_REASON)), default=0)
        text = "\n".join([*said[reason:], *said[:reason]]).removeprefix(_REASON)
        return (UsageError if code == USAGE else RefractError)(text or f"refract ended with exit code {code}")

    def interrupt(self) -> None:
        """Ask the command to end, like Ctrl+C."""
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
    """Return flags as a command line; their names may have _ instead of -."""
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, bool):
            yield f"{flag}={str(value).lower()}"
        elif isinstance(value, (str, int, float, PathLike)):
            yield f"{flag}={value}"
        elif value is not None:
            yield from (f"{flag}={v}" for v in value)
