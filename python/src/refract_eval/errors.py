"""Errors of the program; wrong arguments raise TypeError and ValueError."""

from __future__ import annotations


class RefractError(Exception):
    """Something could not be done; the message says what, and usually what to do."""


class UsageError(RefractError, ValueError):
    """The request itself is wrong, such as an unknown metric; repeating it does not help."""


class ProgramNotFoundError(RefractError):
    """The program refract is not where the wheel installs it."""


class ProcessDiedError(RefractError):
    """The process ended before it answered. The next call starts another one.

    returncode is its exit code, negative for a signal; stderr the end of what it wrote.
    """

    def __init__(self, message: str, returncode: int | None = None, stderr: str = "") -> None:
        """Keep the message, the exit code and what the process wrote."""
        super().__init__(message)
        self.returncode = returncode
        self.stderr = stderr


class MetricError(RefractError):
    """A metric that is a Python function raised; the message has the texts, and __cause__ what it raised."""
