"""Metrics that are Python functions."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import os
import pickle
import threading
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from test_process import wait_until

import refract_eval
from refract_eval import MetricError, Scorer, Segment, UsageError, _metric, compare, score

HYPOTHESES = ["the cat sat", "a dog ran", "the cat sat", None]
REFERENCES = [["the cat sat down", "a cat"], ["dogs run", None], ["the cat sat down", "a cat"], ["rain"]]


def common(hypotheses: Sequence[str], references: Sequence[str]) -> list[float]:
    """Count the words that are in both."""
    return [float(len(set(h.split()) & set(r.split()))) for h, r in zip(hypotheses, references, strict=True)]


class Counting:
    """A metric with all attributes, which notes the calls."""

    name, needs_source, lower_is_better, batch_size = "errors of length", True, True, 2

    def __init__(self) -> None:
        self.signature = {"unit": "characters", "of": os.urandom(8).hex()}  # whose scores nobody has stored
        self.calls: list[list[tuple[str, str, str]]] = []

    def __call__(self, hypotheses: list[str], references: list[str], sources: list[str]) -> list[float]:
        self.calls.append(list(zip(sources, hypotheses, references, strict=True)))
        return [float(abs(len(h) - len(r))) for h, r in zip(hypotheses, references, strict=True)]


def test_a_function_is_a_metric_like_others() -> None:
    scores = score(HYPOTHESES, REFERENCES, ["chrf", common], ["max", "mean"], cells=True)
    assert scores["common", "max"].per_segment == [3, 0, 3, None]
    assert scores["exec:common", "mean"].per_segment == [2, 0, 2, None]
    assert scores["common", "max"].status["system"][3] == "missing-hypothesis"
    assert [c.scores["system"][:2] for c in scores.cells if c.metric == "exec:common"] == [[[3, 1], [0, None]]]
    assert score(HYPOTHESES, REFERENCES, common, "max")["common"].per_segment == [3, 0, 3, None]


def test_attributes() -> None:
    metric = Counting()
    scores = score(HYPOTHESES, REFERENCES, metric, "best", sources=["x", "y", "x", "z"])
    setting = scores["errors_of_length"]
    assert (setting.direction, setting.per_segment) == ("lower", [5, 1, 5, None])
    assert "unit:characters" in setting.signature
    asked = [pair for call in metric.calls for pair in call]
    assert len(asked) == len(set(asked)) == 3  # equal pairs are asked for once
    assert max(map(len, metric.calls)) == 2
    with pytest.raises(UsageError, match="no segment has a source, which exec:errors_of_length needs"):
        score(["a"], ["b"], metric)


def test_compare_and_asynchronous() -> None:
    human = [{"a": 3.0, "b": 1.0}, {"a": 2.0, "b": 2.5}, {"a": 1.0, "b": 0.0}]
    segments = [
        Segment(str(i), ["a b c d"], hypotheses={"a": "a b c"[: i + 1], "b": "d"}, human={"h": h})
        for i, h in enumerate(human)
    ]
    agreement = compare(segments, [common, "chrf"], "max", statistic="kendall")
    assert [(a.metric, a.n) for a in agreement] == [("exec:common", 6), ("chrf", 6)]

    async def both() -> list[float | None]:
        made = await asyncio.gather(*(refract_eval.ascore(["a b"], ["a b"], f) for f in (common, lambda h, r: [1])))
        return [s.score for s in made]

    assert asyncio.run(both()) == [2.0, 1.0]


def test_systems() -> None:
    segments = [Segment(str(i), ["a b c"], hypotheses={"x": "a b", "y": "c" * i}) for i in range(1, 4)]
    rows = refract_eval.systems(segments, metric=["chrf", common], aggregate="max")
    assert {(r["metric"], r["system"]): r["score"] for r in rows}["exec:common", "x"] == 2

    def fails(hypotheses: list[str], references: list[str]) -> list[float]:
        raise KeyError("dog")

    with pytest.raises(MetricError, match="the metric fails raised KeyError: 'dog'"):
        refract_eval.systems(segments, metric=fails)


def test_exceptions() -> None:
    def fails(hypotheses: list[str], references: list[str]) -> list[float]:
        if "a dog ran" in hypotheses:
            raise KeyError("dog")
        return [1.0] * len(hypotheses)

    for metrics in (fails, ["chrf", fails]):
        with pytest.raises(
            MetricError,
            match="the metric fails raised KeyError: 'dog', for hypothesis 'a dog ran', reference 'dogs run'",
        ) as e:
            score(HYPOTHESES, REFERENCES, metrics)
        assert isinstance(e.value.__cause__, KeyError)
        assert e.value.__cause__.__traceback__ is not None
    assert score(["a cat"], ["a cat"], fails).score == 1  # and works again

    def leaves(hypotheses: list[str], references: list[str]) -> list[float]:
        raise SystemExit(3)

    with pytest.raises(MetricError, match="the metric leaves raised SystemExit: 3, for hypothesis 'a cat'"):
        score(["a cat"], ["a cat"], leaves)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        ([1.0], "ValueError: it returned 1 scores for 2 pairs, for 2 pairs at once, the first with hypothesis 'a'"),
        (None, "TypeError: it returned NoneType, not a list of"),
        ("ab", "TypeError: it returned str, not a list of"),
        (["1.0", "b"], "TypeError: it returned '1.0', not a number"),
    ],
    ids=["short", "none", "text", "texts"],
)
def test_results_that_are_no_scores(made: object, why: str) -> None:
    with pytest.raises(MetricError, match=why):
        score(["a", "b"], ["r", "s"], lambda h, r: made[: len(h)] if isinstance(made, list) and len(made) > 1 else made)


def test_missing_scores() -> None:
    missing = score(["a", "b", "c"], ["r", "s", "t"], lambda h, r: [None, float("nan"), 2], "max")
    assert missing.per_segment == [None, None, 2]
    assert missing["lambda"].systems["system"].scored == 1


def test_wrong_arguments() -> None:
    for wrong in ([], [3], None):
        with pytest.raises(ValueError, match=r"give one or several names, .*, or functions"):
            score(["a"], ["b"], wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="two metrics are called 'lambda'"):
        score(["a"], ["b"], [lambda h, r: [1], lambda h, r: [2]])


def test_threads_pickles_and_forks() -> None:
    with Scorer(common, "max") as scorer, ThreadPoolExecutor(8) as pool:
        scores = list(pool.map(lambda n: scorer.score(["a " * n], ["a " * n]).score, range(1, 33)))
        assert scores == [1.0] * 32
        with pickle.loads(pickle.dumps(scorer)) as copy:
            assert copy.score(["a b"], ["b a"]).score == 2
    if not hasattr(os, "fork"):
        return
    child = os.fork()
    if child == 0:
        os._exit(0 if score(["a b"], ["b a"], common).score == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert score(["a b"], ["b a"], common).score == 2


def test_a_function_is_not_kept() -> None:
    def made(hypotheses: list[str], references: list[str]) -> list[float]:
        return [1.0] * len(hypotheses)

    with Scorer(made) as scorer:
        assert scorer.score(["a"], ["a"]).score == 1
        seen, before = weakref.ref(made), asking()
    del made, scorer
    gc.collect()
    assert seen() is None
    wait_until(lambda: asking() < before)


def asking() -> int:
    """Count the threads that answer for functions."""
    return sum(t.name == "refract-metric" for t in threading.enumerate())


def test_nobody_else_can_ask() -> None:
    score(["a"], ["a"], common)
    host = _metric._host
    assert host is not None
    folder = Path(host.key_file).parent
    assert folder.stat().st_mode & 0o077 == 0


def test_neural_metrics_are_in_the_wheel() -> None:
    if "site-packages" not in refract_eval.__file__:
        pytest.skip("this is a source tree")
    assert importlib.util.find_spec("refract_eval._models.comet") is not None
    if importlib.util.find_spec("torch") is None:
        with pytest.raises(refract_eval.RefractError, match=r"neural metrics need the Python package \w+: pip install"):
            refract_eval.metrics.bertscore()
