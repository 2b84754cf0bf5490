"""Scores hypotheses with a process that stays open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from ._client import Client
from ._texts import hypotheses_by_system, references_by_segment, texts
from .scores import Scores, read_scores
from .segments import Segment, segment_to_json

Hypotheses = Sequence[str | None] | Mapping[str, Sequence[str | None]]
References = Sequence[Sequence[str | None]] | Sequence[str | None]


class Scorer:
    """Metrics and aggregators, and a process of its own that scores with them.

    metrics and aggregate are as for score(). missing says what becomes of a reference that
    is missing, and system how a system's score comes about ("auto", "corpus" or "average"),
    as the flags of `refract score`. flags are further ones of `refract serve`, such as
    ["--base-url", "http://localhost:8000/v1"]; timeout is in seconds for a call.

    The process starts with the first call, and ends with close(), with the context or when
    Python ends. Threads and event loops may share a Scorer. A child that was forked starts
    a process of its own, and so do a pickled copy and the call after the process died.

        with Scorer(metrics=["chrf"], aggregate="max") as scorer:
            for hypotheses, references in batches:
                scorer.score(hypotheses, references)
    """

    def __init__(
        self,
        metrics: Sequence[str] | str = ("bleu", "chrf"),
        aggregate: Sequence[str] | str | None = "max",
        *,
        missing: str | None = None,
        system: str | None = None,
        flags: Sequence[str] = (),
        timeout: float | None = None,
    ) -> None:
        """Take the settings; nothing is started yet."""
        self._client = Client(flags, timeout)
        self._settings = (metrics, aggregate, missing, system)
        self._process = (tuple(flags), timeout)

    def score(
        self,
        hypotheses: Hypotheses,
        references: References,
        sources: Sequence[str | None] | None = None,
        *,
        ids: Sequence[str] | None = None,
        layout: str | None = None,
        cells: bool = False,
    ) -> Scores:
        """Score as refract_eval.score() does."""
        params, named = request(hypotheses, references, sources, ids, layout, *self._settings, cells)
        return read_scores(self._client.call("score", params), named)

    async def ascore(
        self,
        hypotheses: Hypotheses,
        references: References,
        sources: Sequence[str | None] | None = None,
        *,
        ids: Sequence[str] | None = None,
        layout: str | None = None,
        cells: bool = False,
    ) -> Scores:
        """Score without blocking the event loop. Cancelling the task cancels the request."""
        params, named = request(hypotheses, references, sources, ids, layout, *self._settings, cells)
        return read_scores(await self._client.acall("score", params), named)

    def score_segments(self, segments: Sequence[Segment], *, cells: bool = False) -> Scores:
        """Score the hypotheses of a set, as read() gives it, against its references and variants."""
        params, named = segments_request(segments, *self._settings, cells)
        return read_scores(self._client.call("score", params), named)

    def metrics(self) -> list[dict[str, Any]]:
        """List the metrics that there are, as `refract metrics -f json` does."""
        found = self._client.call("metrics", {})
        return list(found)

    def close(self) -> None:
        """End the process; a later call is an error."""
        self._client.close()

    @property
    def pid(self) -> int | None:
        """The id of the process; None where there is none now."""
        return self._client.pid

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the settings: a copy has a process of its own."""
        return _restored, (*self._settings, *self._process)

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


def _restored(
    metrics: Sequence[str] | str,
    aggregate: Sequence[str] | str | None,
    missing: str | None,
    system: str | None,
    flags: Sequence[str],
    timeout: float | None,
) -> Scorer:
    return Scorer(metrics, aggregate, missing=missing, system=system, flags=flags, timeout=timeout)


def request(
    hypotheses: Any,
    references: Any,
    sources: Any,
    ids: Any,
    layout: str | None,
    metrics: Sequence[str] | str,
    aggregate: Sequence[str] | str | None,
    missing: str | None,
    system: str | None,
    cells: bool,
) -> tuple[dict[str, Any], list[str]]:
    """Return the parameters of the method score, and the ids of the segments."""
    segments, named = _segments(hypotheses, references, sources, ids, layout)
    return {"segments": segments, **_settings(metrics, aggregate, missing, system, cells)}, named


def segments_request(
    segments: Sequence[Segment],
    metrics: Sequence[str] | str,
    aggregate: Sequence[str] | str | None,
    missing: str | None,
    system: str | None,
    cells: bool,
) -> tuple[dict[str, Any], list[str]]:
    """Return the parameters for a set that was read, and its ids."""
    lines = [{k: v for k, v in segment_to_json(s).items() if k not in _UNSCORED} for s in segments]
    return {"segments": lines, **_settings(metrics, aggregate, missing, system, cells)}, [s.id for s in segments]


_UNSCORED = ("rejected", "human")


def _settings(
    metrics: Sequence[str] | str,
    aggregate: Sequence[str] | str | None,
    missing: str | None,
    system: str | None,
    cells: bool,
) -> dict[str, Any]:
    settings: dict[str, Any] = {"metrics": specs(metrics)}
    if aggregate is not None:
        settings["aggregate"] = specs(aggregate)
    settings.update((k, v) for k, v in (("missing", missing), ("system", system)) if v is not None)
    if cells:
        settings["per"] = ["system", "segment", "cell"]
    return settings


def specs(of: Sequence[str] | str) -> list[str]:
    """Read one or several specifications of metrics or aggregators."""
    return [of] if isinstance(of, str) else list(of)


def _segments(
    hypotheses: Any, references: Any, sources: Any, ids: Any, layout: str | None
) -> tuple[list[dict[str, Any]], list[str]]:
    systems = hypotheses_by_system(hypotheses)
    refs = references_by_segment(references, systems, layout)
    n = len(refs)
    segments: list[dict[str, Any]] = [
        {"hypotheses": {name: v[i] for name, v in systems.items()}, "references": r} for i, r in enumerate(refs)
    ]
    if sources is not None:
        for segment, source in zip(segments, _of_length(sources, "sources", n), strict=True):
            segment["source"] = source
    if ids is None:
        return segments, [str(i + 1) for i in range(n)]
    named = [str(id) for id in _of_length(ids, "ids", n)]
    for segment, id in zip(segments, named, strict=True):
        segment["id"] = id
    return segments, named


def _of_length(value: Any, name: str, n: int) -> list[str | None]:
    read = texts(value, name)
    if len(read) != n:
        raise ValueError(f"{name} has {len(read)} elements, and there are {n} hypotheses")
    return read
