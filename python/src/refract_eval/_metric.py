"""Metrics that are Python functions.

    score(metrics=[f]) ──► spec "exec:python _relay.py …" ──► program ──► relay ──► thread of this process ──► f

To the program a function is a metric like others of `exec:`: the relay that it starts speaks their protocol, and
asks this process over a local socket that only its user can open, with a key.
"""

from __future__ import annotations

import inspect
import itertools
import json
import math
import os
import re
import shutil
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from typing import Any

from .errors import MetricError, RefractError

Metric = Callable[..., Iterable[Any]]
Pair = tuple[str, str, str]  # hypothesis, reference, source

_SEGMENTS = 64  # that the program asks about at once, unless the metric names a number
_LOOK = 5.0  # seconds, after which a connection of a function that is gone ends
_RELAY = Path(__file__).with_name("_relay.py")
_NAME = re.compile(r"[^A-Za-z0-9.,:=+/_-]+")
_CALL = re.compile(r"Python metric, call (\d+)")


def spec(metric: Metric) -> str:
    """Return the specification by which the program finds a function, which the caller keeps until the answer."""
    global _host
    if not sys.executable:
        raise RefractError("this Python does not know its own program (sys.executable), which a metric needs")
    with _lock:
        if _host is None:
            _host = _Host()
        host = _host
    words = [sys.executable, "-IS", str(_RELAY), host.key_file, host.address, str(host.number(metric))]
    quoted = " ".join("'" + w.replace("'", r"'\''") + "'" for w in words)
    return f"exec:processes=1 timeout=1000h {quoted}"


def raised(text: str) -> MetricError | None:
    """Return the error of a function that a message of the program is about, if it is about one."""
    found = _CALL.search(text)
    return _errors.pop(int(found[1]), None) if found else None


class _Host:
    """The socket of this process, and its functions by number."""

    def __init__(self) -> None:
        folder = tempfile.mkdtemp(prefix="refract-")  # only its user may open it
        key = os.urandom(32)
        self.key_file = os.path.join(folder, "key")
        Path(self.key_file).write_bytes(key)
        address = None if sys.platform == "win32" else os.path.join(folder, "socket")
        self._listener = Listener(address, backlog=64, authkey=key)
        self.address = str(self._listener.address)
        self.removed = weakref.finalize(self, _remove, self._listener, folder)
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._functions: dict[int, Callable[[], Metric | None]] = {}
        threading.Thread(target=self._accept, name="refract-metrics", daemon=True).start()

    def number(self, metric: Metric) -> int:
        """Return the number of a function, which does not change while the function lives."""
        with self._lock:
            for number, of in self._functions.items():
                known = of()
                if known is metric or (inspect.ismethod(metric) and known == metric):
                    return number
            number = next(self._numbers)
            self._functions[number] = _weak(metric, lambda _: self._functions.pop(number, None))
            return number

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except Exception:  # someone without the key
                continue
            threading.Thread(target=self._serve, args=(connection,), name="refract-metric", daemon=True).start()

    def _serve(self, connection: Connection) -> None:
        with connection:
            try:
                of = self._functions.get(int(connection.recv_bytes()), lambda: None)
                metric = of()
                if metric is None:
                    return
                served = Function(metric)
                connection.send_bytes(_line(served.hello))
                while True:
                    metric = None  # it may be collected while nobody asks
                    while not connection.poll(_LOOK):
                        if of() is None:
                            return
                    request, metric = json.loads(connection.recv_bytes()), of()
                    if metric is None:
                        return
                    connection.send_bytes(_line(served.answer(metric, request)))
            except (EOFError, OSError):
                return


class Function:
    """What the program is told of a function, and the answers to its requests."""

    def __init__(self, metric: Metric) -> None:
        """Read what the function says of itself."""
        self.takes_sources = _takes_sources(metric)
        needs_source = bool(getattr(metric, "needs_source", self.takes_sources))
        self.takes_sources = self.takes_sources or needs_source
        self.batch = getattr(metric, "batch_size", None)
        if self.batch is not None and (not isinstance(self.batch, int) or self.batch < 1):
            raise ValueError(f"batch_size is {self.batch!r}: it is the number of pairs of a call, 1 or more")
        self.name = name_of(metric)
        needs = {"source": needs_source, "reference": bool(getattr(metric, "needs_references", True))}
        self.hello: dict[str, Any] = {
            "refract": 1,
            "name": self.name,
            "needs": [name for name, needed in needs.items() if needed],
            "direction": "lower" if getattr(metric, "lower_is_better", False) else "higher",
            "batch": _SEGMENTS,
        }
        if signature := getattr(metric, "signature", None):
            self.hello["signature"] = {str(k): str(v) for k, v in dict(signature).items()}
        self._failed = ""

    def answer(self, metric: Metric, request: Any) -> dict[str, Any]:
        """Answer a request. After an exception all requests are answered with it: the metric is at its end."""
        number = request["id"]
        if self._failed:
            return {"id": number, "error": self._failed}
        pairs = [
            (h, r, s.get("source", ""))
            for s in request["segments"]
            for h in s["hypotheses"]
            for r in s.get("references") or [""]
        ]
        distinct = list(dict.fromkeys(pairs))
        try:
            scores = dict(zip(distinct, self._scores(metric, distinct), strict=True))
        except _PairError as e:
            call = next(_calls)
            error = e.__cause__
            said = f"the metric {self.name} raised {type(error).__name__}: {error}, for {e}"
            made = MetricError(said)
            made.__cause__ = error
            _errors[call] = made
            while len(_errors) > 64:  # that nobody asked for, as their calls were given up
                _errors.pop(next(iter(_errors)), None)
            self._failed = f"Python metric, call {call}: {said}"
            return {"id": number, "error": self._failed}
        rows = iter(pairs)
        sizes = [len(s["hypotheses"]) * max(1, len(s.get("references") or ())) for s in request["segments"]]
        return {"id": number, "scores": [[scores[p] for p in itertools.islice(rows, n)] for n in sizes]}

    def _scores(self, metric: Metric, pairs: Sequence[Pair]) -> list[float | None]:
        size = self.batch or max(1, len(pairs))
        return [x for i in range(0, len(pairs), size) for x in self._batch(metric, pairs[i : i + size])]

    def _batch(self, metric: Metric, pairs: Sequence[Pair]) -> list[float | None]:
        """Call the function. If it raises, halve the batch to find the pair."""
        hypotheses, references, sources = (list(column) for column in zip(*pairs, strict=True))
        given = {"sources": sources} if self.takes_sources else {}
        try:
            return [_number(x) for x in _listed(metric(hypotheses, references, **given), len(pairs))]
        except BaseException as e:  # SystemExit, too, ends the metric and not the thread
            error = e
        if len(pairs) == 1:
            raise _PairError(_shown(pairs[0])) from error
        half = len(pairs) // 2
        self._batch(metric, pairs[:half])
        self._batch(metric, pairs[half:])
        raise _PairError(f"{len(pairs)} pairs at once, the first with {_shown(pairs[0])}") from error


class _PairError(Exception):
    """Where a function raised; the cause is what it raised."""


def _remove(listener: Listener, folder: str) -> None:
    listener.close()
    shutil.rmtree(folder, ignore_errors=True)


def name_of(metric: Metric) -> str:
    """Return the name of a function as the program takes it."""
    given = getattr(metric, "name", None) or getattr(metric, "__name__", None) or type(metric).__name__
    return _NAME.sub("_", str(given)).strip("_")[:80] or "metric"


def _takes_sources(metric: Metric) -> bool:
    try:
        parameters = inspect.signature(metric).parameters
    except (TypeError, ValueError):  # of a builtin
        return False
    found = parameters.get("sources")
    return found is not None and found.default is inspect.Parameter.empty


def _listed(made: Any, want: int) -> list[Any]:
    if isinstance(made, (str, bytes, dict)) or not isinstance(made, Iterable):
        raise TypeError(f"it returned {type(made).__name__}, not a list of {want} scores")
    scores = list(made.tolist() if hasattr(made, "tolist") else made)  # of an array or a tensor
    if len(scores) != want:
        raise ValueError(f"it returned {len(scores)} scores for {want} pairs")
    return scores


def _number(score: Any) -> float | None:
    """Read a score; None, NaN and infinities are missing."""
    if score is None:
        return None
    if isinstance(score, (str, bytes)):
        raise TypeError(f"it returned {score!r}, not a number")
    value = float(score)
    return value if math.isfinite(value) else None


def _shown(pair: Pair) -> str:
    hypothesis, reference, source = (t if len(t) <= 200 else t[:200] + "…" for t in pair)
    return f"hypothesis {hypothesis!r}, reference {reference!r}" + (f", source {source!r}" if source else "")


def _line(message: Any) -> bytes:
    return json.dumps(message, allow_nan=False).encode() + b"\n"


def _weak(metric: Metric, gone: Callable[[Any], object]) -> Callable[[], Metric | None]:
    try:
        return weakref.WeakMethod(metric, gone) if inspect.ismethod(metric) else weakref.ref(metric, gone)
    except TypeError:  # of a builtin, which lives as long as its module
        return lambda: metric


_lock = threading.Lock()
_host: _Host | None = None
_calls = itertools.count(1)
_errors: dict[int, MetricError] = {}


def _after_fork() -> None:
    global _lock, _host
    if _host is not None:
        _host.removed.detach()  # the socket and its folder are the parent's
    _lock, _host = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
