"""What can go wrong with the program; wrong arguments are TypeError and ValueError."""

from __future__ import annotations


class RefractError(Exception):
    """Something could not be done; the message says what, and mostly what to do."""


class UsageError(RefractError, ValueError):
    """The request is wrong, and will be so again: a metric that there is none of, say."""


class ProgramNotFoundError(RefractError):
    """The program refract is not where the wheel puts it."""


class ProcessDiedError(RefractError):
    """The process ended before it answered. The next call starts another.

    returncode is its exit code, negative for a signal; stderr the end of what it wrote.
    """

    def __init__(self, message: str, returncode: int | None = None, stderr: str = "") -> None:
        """Keep the exit code and what the process wrote beside the message."""
        super().__init__(message)
        self.returncode = returncode
        self.stderr = stderr
