"""Functions that share one process of the module."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ._client import Client
from ._pending import Request, awaits, waits
from .compare import Comparison, read_comparison
from .scorer import Hypotheses, Metrics, References, Settings, Texts, metrics_of, specs
from .scores import Scores
from .segments import Segment, segment_to_json, segments_of

_shared = Client()


def _score(
    hypotheses: Hypotheses,
    references: References,
    metrics: Metrics = ("bleu", "chrf"),
    aggregate: Sequence[str] | str | None = None,
    sources: Texts | None = None,
    *,
    ids: Iterable[str] | None = None,
    layout: str | None = None,
    missing: str | None = None,
    system: str | None = None,
    language: str | None = None,
    cells: bool = False,
) -> Request[Scores]:
    """Score hypotheses against references.

    hypotheses are n texts, or n texts for each system by its name: {"a": [...], "b": [...]}. references[i] is
    the list of the references of hypothesis i: n lists, which may differ in length, or n texts if each has only
    one. None (or NaN) is a missing text, "" an empty one: they are not the same. sources are n texts, for
    metrics that need them, ids n names. Lists, tuples, arrays, pandas columns and generators are accepted;
    references may also be a table with a row for each hypothesis, df[["ref1", "ref2"]].

    Indexes in messages count from 0, as in Python: references[1] belongs to the second hypothesis. Without ids,
    segments are called "1", "2", …, and `segment "2"` is the second.

    metrics are as `refract score -m` takes them ("bleu:tokenize=intl"), or functions of yours: f(hypotheses,
    references), or f(hypotheses, references, sources), which returns a number for each pair, None or NaN where there
    is none. Attributes say more of them: name, needs_source, lower_is_better, batch_size (pairs of a call) and
    signature (a dict of all that changes the numbers; scores of a metric that has one are stored). A function is
    called in another thread, one call at a time, with each different pair of a request once; if it raises, so does
    score(), with a MetricError that has the texts. metrics.comet() and others of refract_eval.metrics make neural
    metrics.

    aggregate is as -a takes it ("max", "mean", "best:k=3", "single", "native"). None means what it does in `refract
    score`: the metric's own rule for several references, and "max" for a metric without one, so that BLEU, chrF and
    TER are corpus scores, as in sacreBLEU. missing says how missing references are treated, system how a system's
    score is computed: "auto", "corpus" or "average". language ("zh", or "en-zh") chooses the tokenizers, as -l does.
    cells adds the score of every pair.

    layout="reference" takes sacreBLEU's form: references[k][i] is the k-th reference of hypothesis i. Without
    it, this form is refused: if the lengths show it (k is not n), or if k is n and the hypotheses are more
    similar to it. layout="segment" omits that check.

    BLEU, chrF and chrF++ range from 0 to 100, ROUGE from 0 to 1, TER from 0 (best) upwards. A score that cannot
    be computed is None, and its status says why.

    Raises ValueError and TypeError for invalid arguments, UsageError (a ValueError) for unknown metrics and
    aggregators, ProcessDiedError if the process ended, and RefractError otherwise.
    """
    settings = Settings(metrics, aggregate, missing, system, language)
    return settings.of_texts(_shared, hypotheses, references, sources, ids, layout, cells)


@waits(_score)
def score() -> None:  # noqa: D103
    ...


@awaits(_score)
def ascore() -> None:
    """Await what score() returns, which does not block the event loop."""


def score_segments(
    segments: Iterable[Segment],
    metrics: Metrics = ("bleu", "chrf"),
    aggregate: Sequence[str] | str | None = None,
    *,
    missing: str | None = None,
    system: str | None = None,
    language: str | None = None,
    cells: bool = False,
) -> Scores:
    """Score the hypotheses of a set, as read() gives it, against its references and variants."""
    return Settings(metrics, aggregate, missing, system, language).of_segments(_shared, segments, cells).wait()


def _compare(
    segments: Iterable[Segment],
    metrics: Metrics = ("bleu", "chrf"),
    aggregate: Sequence[str] | str | None = None,
    *,
    statistic: Sequence[str] | str | None = None,
    per: str | None = None,
    group: str | None = None,
    human: str | None = None,
    human_lower_is_better: bool | None = None,
    test: str | None = None,
    pairs: str | None = None,
    against: str | None = None,
    one_sided: bool | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    missing: str | None = None,
    language: str | None = None,
) -> Request[Comparison]:
    """Measure how well settings agree with human judgements (Segment.human).

    The arguments are the flags of `refract compare`: statistic "kendall", "pearson", "accuracy", "acc23", …;
    per "segment", "document", "domain" or "system"; group "none", "segment" or "system"; human the name of the
    human scores, of which the lower are better if human_lower_is_better is set. None means the flag's default. The
    same seed gives the same numbers.

    With a test, the result has pairs: the settings of each metric against each other, pairs="all" for those of all
    metrics, against="max" for all against one. test is "auto", which suits the statistic, "randomization",
    "perm-both", "perm-pairs", "bootstrap" or "williams", with resamples draws, as intervals have. p-values are
    two-sided, or mt-metrics-eval's if one_sided is set.
    """
    return Request(_shared, "compare", _comparing(**locals()), read_comparison)


@waits(_compare)
def compare() -> None:  # noqa: D103
    ...


@awaits(_compare)
def acompare() -> None:
    """Await what compare() returns, which does not block the event loop."""


def _comparing(segments: Iterable[Segment], **given: Any) -> dict[str, Any]:
    params = {name: value for name, value in given.items() if value is not None}
    params["metrics"] = metrics_of(params["metrics"])
    for name in ("aggregate", "statistic"):
        if name in params:
            params[name] = specs(params[name], name)
    if params.get("test", "none") != "none":
        params["table"] = "all"
    return {"segments": [segment_to_json(s) for s in segments_of(segments)], **params}
