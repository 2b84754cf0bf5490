"""Requests and answers, over a process that is started if none runs."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import sys
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, TimeoutError
from typing import Any

from ._process import Process
from ._program import find_program
from ._run import USAGE
from .errors import ProcessDiedError, RefractError, UsageError

PROTOCOL = 1
_START = 60.0  # seconds that the process has to say who it is

Answer = Future[Any]


class _Session:
    """A process and its open requests. Its threads hold this object, not the Client."""

    def __init__(self, command: Sequence[str]) -> None:
        self._lock = threading.Lock()
        self._pending: dict[int, Answer] = {}
        self._ids = itertools.count(1)
        self._end: ProcessDiedError | None = None
        self._hello: Answer = Future()
        self.line = 0  # bytes that a request may have
        self._process = Process(command, self._received, self._ended)
        try:
            self._greet(command, _result(self._hello, _START))
        except BaseException:
            self._process.kill()
            self._process.close()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def usable(self) -> bool:
        return self._end is None and self._process.owner == os.getpid()

    def close(self) -> None:
        self._process.close()

    def abandon(self) -> None:
        self._process.abandon()

    def ask(self, method: str, params: Mapping[str, Any]) -> Answer:
        """Send a request. Cancelling the future cancels the request in the process too."""
        answer: Answer = Future()
        number = next(self._ids)
        line = _encode({"id": number, "method": method, "params": params})
        if self.line and len(line) >= self.line:
            raise ValueError(
                f"the request has {len(line):,} bytes, and the process takes {self.line:,} at most: give it "
                "in parts, or write the set to a file (refract_eval.write) and run 'refract score' on it"
            )
        with self._lock:
            if self._end is not None:
                raise self._end
            self._pending[number] = answer
        answer.add_done_callback(lambda a: self._cancel(number) if a.cancelled() else None)
        self._process.send(line)
        return answer

    def _cancel(self, number: int) -> None:
        with self._lock:
            if self._pending.pop(number, None) is None:
                return
        line = _encode({"id": next(self._ids), "method": "cancel", "params": {"id": number}})
        self._process.send(line)

    def _received(self, line: bytes) -> None:
        if not self._hello.done():
            self._hello.set_result(line)
            return None
        try:
            said = json.loads(line)
            number, result, error = said["id"], said.get("result"), said.get("error")
        except (ValueError, KeyError, TypeError):
            return self._process.kill()  # it cannot be trusted any more
        with self._lock:
            answer = self._pending.pop(number, None)
        if answer is None or not answer.set_running_or_notify_cancel():
            return None
        if error is None:
            return answer.set_result(result)
        kind = UsageError if error.get("code") == "usage" else RefractError
        return answer.set_exception(kind(error.get("message", "no reason given")))

    def _ended(self, code: int, said: str) -> None:
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        end = ProcessDiedError(f"refract ended {how}" + (f"; it said: {said}" if said else ""), code, said)
        with self._lock:
            self._end = end
            pending, self._pending = list(self._pending.values()), {}
        if not self._hello.done() and code == USAGE:  # an unknown flag
            self._hello.set_exception(UsageError(said))
        for answer in [self._hello, *pending]:
            if not answer.done() and answer.set_running_or_notify_cancel():
                answer.set_exception(ProcessDiedError(str(end), code, said))

    def _greet(self, command: Sequence[str], line: bytes) -> None:
        try:
            hello = json.loads(line)
            version, self.line = hello["refract"], int(hello.get("line", 0))
        except (ValueError, KeyError, TypeError):
            raise RefractError(f"{command[0]} does not speak the protocol: it began with {line[:80]!r}") from None
        if version != PROTOCOL:
            raise RefractError(
                f"{command[0]} (refract {hello.get('version')}) speaks version {version} of the protocol, and "
                f"this package version {PROTOCOL}: install the wheel again, or mend REFRACT_PROGRAM"
            )


class Client:
    """Sends requests to a process, which it starts at the first request, and again after a fork or if it died.

    Threads may share it, and so may event loops.
    """

    def __init__(self, flags: Sequence[str] = (), timeout: float | None = None) -> None:
        """Take flags of `refract serve`, and the seconds that a request may take."""
        self._flags, self._timeout = tuple(flags), timeout
        self._lock = threading.Lock()
        self._session: _Session | None = None
        self._closed = False
        self._finalizer: Callable[[], object] = lambda: None
        _clients.add(self)

    @property
    def pid(self) -> int | None:
        """The process's id; None if no process runs."""
        session = self._session
        return session.pid if session is not None and session.usable() else None

    def call(self, method: str, params: Mapping[str, Any]) -> Any:
        """Ask and wait. An interruption cancels the request."""
        answer = self._live().ask(method, params)
        try:
            return _result(answer, self._timeout)
        except TimeoutError:
            raise RefractError(f"{method} took more than {self._timeout} s, and was cancelled") from None
        finally:
            answer.cancel()  # does nothing if it is done

    async def acall(self, method: str, params: Mapping[str, Any]) -> Any:
        """Ask and await. Cancelling the task cancels the request."""
        session = self._session
        if session is None or not session.usable():
            session = await asyncio.to_thread(self._live)
        answer = session.ask(method, params)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(answer), self._timeout)
        except asyncio.TimeoutError:
            raise RefractError(f"{method} took more than {self._timeout} s, and was cancelled") from None
        finally:
            answer.cancel()

    def close(self) -> None:
        """End the process. A later call is an error."""
        self._closed = True
        self._finalizer()

    def _live(self) -> _Session:
        with self._lock:
            if self._closed:
                raise RefractError("this Scorer is closed")
            if self._session is None or not self._session.usable():
                self._session = None
                self._finalizer()  # of the previous session
                self._session = _Session([find_program(), "serve", *self._flags])
                self._finalizer = weakref.finalize(self, self._session.close)  # and at exit
            return self._session

    def _forked(self) -> None:
        self._lock = threading.Lock()
        if self._session is not None:
            self._session.abandon()
            self._session = None


_clients: weakref.WeakSet[Client] = weakref.WeakSet()


def _after_fork() -> None:
    for client in list(_clients):
        client._forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _result(answer: Answer, timeout: float | None) -> Any:
    """Wait in steps, because on Windows Ctrl+C is handled only between waits."""
    if sys.platform != "win32":
        return answer.result(timeout)
    left = timeout
    while left is None or left > 0.1:
        with contextlib.suppress(TimeoutError):
            return answer.result(0.1)
        left = None if left is None else left - 0.1
    return answer.result(left)


def _encode(message: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError as e:
        around = e.object[max(0, e.start - 20) : e.start + 20]
        raise ValueError(f"a text has half of a surrogate pair, which is not valid Unicode: {around!r}") from None
