"""Scores hypotheses with a process that stays open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol

from ._client import Client
from ._metric import Metric, name_of
from ._pending import Request, awaits, waits
from ._run import Flag, command_line
from ._texts import hypotheses_by_system, references_by_segment, texts
from .errors import UsageError
from .scores import Scores, read_scores
from .segments import Segment, segment_to_json, segments_of


class Frame(Protocol):
    """A table of pandas or polars."""

    @property
    def columns(self) -> Any:
        """The names of its columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of its rows and columns."""

    def to_numpy(self) -> Any:
        """Return its rows."""


Texts = Iterable[str | None]
Hypotheses = Texts | Mapping[str, Texts]
References = Iterable[Texts | None] | Texts | Frame
Metrics = Sequence[str | Metric] | str | Metric


class Scorer:
    """Metrics and aggregators, and a process that scores with them.

    metrics and aggregate are as for score(). missing says how missing references are treated, system how a
    system's score is computed ("auto", "corpus" or "average"), and language what the texts are in ("zh", or
    "en-zh"), like the flags of `refract score`. flags are other flags of `refract serve`, by name, such as
    {"base-url": "http://localhost:8000/v1", "max-text": 64}, or as on a command line, ["--max-text=64"]; with
    an unknown flag, the first call raises a UsageError. timeout is the limit for a call in seconds.

    The process starts with the first call, and ends with close(), with the context or when Python ends. Threads
    and event loops may share a Scorer. A forked child starts its own process, and so does a pickled copy; if
    the process died, the next call starts another.

        with Scorer(metrics=["chrf"], aggregate="max") as scorer:
            for hypotheses, references in batches:
                scorer.score(hypotheses, references)
    """

    def __init__(
        self,
        metrics: Metrics = ("bleu", "chrf"),
        aggregate: Sequence[str] | str | None = None,
        *,
        missing: str | None = None,
        system: str | None = None,
        language: str | None = None,
        flags: Mapping[str, Flag] | Sequence[str] = (),
        timeout: float | None = None,
    ) -> None:
        """Take the settings; nothing is started yet."""
        if isinstance(flags, str) or not all(isinstance(f, str) for f in flags):
            raise UsageError(f'flags is {flags!r}: give {{"max-text": 64}}, or ["--max-text=64"]')
        words = tuple(command_line(flags) if isinstance(flags, Mapping) else flags)
        if wrong := [f for f in words[:1] if not f.startswith("-")]:
            raise UsageError(f'flags begin with {wrong[0]!r}: give {{"max-text": 64}}, or ["--max-text=64"]')
        self._client = Client(words, timeout)
        self._settings = Settings(metrics, aggregate, missing, system, language)
        self._process = (words, timeout)

    def _score(
        self,
        hypotheses: Hypotheses,
        references: References,
        sources: Texts | None = None,
        *,
        ids: Iterable[str] | None = None,
        layout: str | None = None,
        cells: bool = False,
    ) -> Request[Scores]:
        """Score as refract_eval.score() does."""
        return self._settings.of_texts(self._client, hypotheses, references, sources, ids, layout, cells)

    @waits(_score)
    def score() -> None:  # noqa: D102
        ...

    @awaits(_score)
    def ascore() -> None:
        """Await what score() returns, which does not block the event loop."""

    def score_segments(self, segments: Iterable[Segment], *, cells: bool = False) -> Scores:
        """Score the hypotheses of a set, as read() gives it, against its references and variants."""
        return self._settings.of_segments(self._client, segments, cells).wait()

    def metrics(self) -> list[dict[str, Any]]:
        """List the metrics that there are, as `refract metrics -f json` does."""
        found = self._client.call("metrics", {})
        return list(found)

    def close(self) -> None:
        """End the process; a later call is an error."""
        self._client.close()

    @property
    def pid(self) -> int | None:
        """The id of the process; None if none runs."""
        return self._client.pid

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the settings: a copy has its own process."""
        return _restored, (self._settings, *self._process)

    def __enter__(self) -> Scorer:
        """Return the Scorer."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the Scorer."""
        self.close()

    async def __aenter__(self) -> Scorer:
        """Return the Scorer."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Close the Scorer."""
        self.close()


def _restored(settings: Settings, flags: Sequence[str], timeout: float | None) -> Scorer:
    scorer = Scorer(flags=flags, timeout=timeout)
    scorer._settings = settings
    return scorer


@dataclass(frozen=True)
class Settings:
    """The settings of a scorer; see score()."""

    metrics: Metrics
    aggregate: Sequence[str] | str | None
    missing: str | None = None
    system: str | None = None
    language: str | None = None

    def of_texts(
        self, client: Client, hypotheses: Any, references: Any, sources: Any, ids: Any, layout: str | None, cells: bool
    ) -> Request[Scores]:
        """Request the scores of texts."""
        systems = hypotheses_by_system(hypotheses)
        refs = references_by_segment(references, systems, layout)
        segments: list[dict[str, Any]] = [
            {"hypotheses": {name: v[i] for name, v in systems.items()}, "references": r} for i, r in enumerate(refs)
        ]
        named = [str(i + 1) for i in range(len(refs))]
        if sources is not None:
            for segment, source in zip(segments, _of_length(sources, "sources", len(refs)), strict=True):
                segment["source"] = source
        if ids is not None:
            named = [str(id) for id in _of_length(ids, "ids", len(refs))]
            for segment, id in zip(segments, named, strict=True):
                segment["id"] = id
        return self._request(client, segments, named, cells)

    def of_segments(self, client: Client, segments: Iterable[Segment], cells: bool) -> Request[Scores]:
        """Request the scores of a set that was read."""
        segments = segments_of(segments)
        lines = [{k: v for k, v in segment_to_json(s).items() if k not in ("rejected", "human")} for s in segments]
        return self._request(client, lines, [s.id for s in segments], cells)

    def _request(self, client: Client, segments: list[dict[str, Any]], ids: list[str], cells: bool) -> Request[Scores]:
        params: dict[str, Any] = {"segments": segments, "metrics": metrics_of(self.metrics)}
        if self.aggregate is not None:
            params["aggregate"] = specs(self.aggregate, "aggregate")
        given = {"missing": self.missing, "system": self.system, "language": self.language}
        params.update((k, v) for k, v in given.items() if v is not None)
        if cells:
            params["per"] = ["system", "segment", "cell"]
        warnings = list(_warnings(segments))
        return Request(client, "score", params, lambda result: read_scores(result, ids, warnings))


def specs(of: Sequence[str] | str, name: str) -> list[str]:
    """Read at least one specification of metrics or aggregators."""
    read = [of] if isinstance(of, str) else list(of) if isinstance(of, Iterable) else []
    if not read or not all(isinstance(s, str) and s for s in read):
        raise ValueError(f"{name} is {of!r}: give one or several names, such as {_EXAMPLES.get(name)}")
    return read


def metrics_of(given: Metrics) -> list[str | Metric]:
    """Read at least one metric: names, and functions or other objects that can be called."""
    read: list[str | Metric] = (
        [given] if isinstance(given, str) or callable(given) else list(given) if isinstance(given, Iterable) else []
    )
    if not read or not all(callable(m) or (isinstance(m, str) and m) for m in read):
        raise ValueError(
            f"metrics is {given!r}: give one or several names, such as {_EXAMPLES['metrics']}, or functions"
        )
    names = [name_of(m) for m in read if not isinstance(m, str)]
    if twice := [n for n in names if names.count(n) > 1]:
        raise ValueError(f"two metrics are called {twice[0]!r}: give one of them another name (an attribute name)")
    return read


_EXAMPLES = {"metrics": '"chrf" or ["bleu", "chrf"]', "aggregate": '"max"', "statistic": '"kendall"'}


def _warnings(segments: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    missing: dict[str, int] = {name: 0 for s in segments for name in s.get("hypotheses", ())}
    for name in missing:
        missing[name] = sum(s.get("hypotheses", {}).get(name) is None for s in segments)
    for name, n in missing.items():
        if n:
            yield f"{n} of {len(segments)} hypotheses of {name!r} are missing (None), and have no score"


def _of_length(value: Any, name: str, n: int) -> list[str | None]:
    read = texts(value, name)
    if len(read) != n:
        raise ValueError(f"{name} has {len(read)} elements, and there are {n} hypotheses")
    return read
