"""Scores hypotheses with a process that stays open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from ._client import Client
from ._pending import Request, variants
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
        self._settings = Settings(metrics, aggregate, missing, system)
        self._process = (tuple(flags), timeout)

    def _score(
        self,
        hypotheses: Hypotheses,
        references: References,
        sources: Sequence[str | None] | None = None,
        *,
        ids: Sequence[str] | None = None,
        layout: str | None = None,
        cells: bool = False,
    ) -> Request[Scores]:
        """Score as refract_eval.score() does."""
        return self._settings.of_texts(self._client, hypotheses, references, sources, ids, layout, cells)

    score, ascore = variants(_score)

    def score_segments(self, segments: Sequence[Segment], *, cells: bool = False) -> Scores:
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
        """The id of the process; None where there is none now."""
        return self._client.pid

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the settings: a copy has a process of its own."""
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
    """What scores come about by, whatever is scored; see score()."""

    metrics: Sequence[str] | str
    aggregate: Sequence[str] | str | None
    missing: str | None
    system: str | None

    def of_texts(
        self, client: Client, hypotheses: Any, references: Any, sources: Any, ids: Any, layout: str | None, cells: bool
    ) -> Request[Scores]:
        """Ask for the scores of texts."""
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

    def of_segments(self, client: Client, segments: Sequence[Segment], cells: bool) -> Request[Scores]:
        """Ask for the scores of a set that was read."""
        lines = [{k: v for k, v in segment_to_json(s).items() if k not in ("rejected", "human")} for s in segments]
        return self._request(client, lines, [s.id for s in segments], cells)

    def _request(self, client: Client, segments: list[dict[str, Any]], ids: list[str], cells: bool) -> Request[Scores]:
        params: dict[str, Any] = {"segments": segments, "metrics": specs(self.metrics)}
        if self.aggregate is not None:
            params["aggregate"] = specs(self.aggregate)
        params.update((k, v) for k, v in (("missing", self.missing), ("system", self.system)) if v is not None)
        if cells:
            params["per"] = ["system", "segment", "cell"]
        return Request(client, "score", params, lambda result: read_scores(result, ids))


def specs(of: Sequence[str] | str) -> list[str]:
    """Read one or several specifications of metrics or aggregators."""
    return [of] if isinstance(of, str) else list(of)


def _of_length(value: Any, name: str, n: int) -> list[str | None]:
    read = texts(value, name)
    if len(read) != n:
        raise ValueError(f"{name} has {len(read)} elements, and there are {n} hypotheses")
    return read
