"""Runs a command of refract once, to its end."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence

from ._process import lines_of, start
from ._program import find_program
from .errors import RefractError, UsageError

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130  # exit codes


class Run:
    """A command that runs.

    takes is called with every line of its standard error, in a thread; those that it does
    not take are kept as messages.
    """

    def __init__(self, arguments: Sequence[str], takes: Callable[[str], bool] = lambda line: False) -> None:
        """Start the command."""
        self.messages: list[str] = []
        self._takes = takes
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
        if code in allowed:
            return code
        said = "\n".join(self.messages[-10:]) or f"refract ended with exit code {code}"
        raise (UsageError if code == USAGE else RefractError)(said)

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
            if not self._takes(text):
                self.messages.append(text)
        self._popen.stderr.close()
