"""Adapters in their packages, if these are installed: scores equal the command's."""

from __future__ import annotations

import gc
import math
import os
import pickle
import subprocess
from collections.abc import Iterator
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest
from conftest import SETTINGS, Task

import refract_eval
from refract_eval.integrations._corpus import Corpus

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("offline")]
TRANSPOSED = (
    ["the cat sat on the mat", "a dog barked at the moon"],
    [
        ["a cat sat on a mat", "a dog barked at a full moon"],
        ["the cat was on the mat", "the dog was barking at the moon"],
    ],
)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.chdir(tmp_path)
    yield
    gc.collect()  # what inspect_ai leaves open is not an error here, but would be in the next test


def lm_eval_run(hypotheses: list[str], references: list[list[str | None]], **other: Any) -> dict[str, Any]:
    lm_eval = pytest.importorskip("lm_eval")
    datasets = pytest.importorskip("datasets")
    from lm_eval.api.model import LM
    from lm_eval.api.task import ConfigurableTask

    from refract_eval.integrations.lm_eval import Metric, task_config

    class Outputs(LM):  # type: ignore[misc]
        def generate_until(self, requests: list[Any]) -> list[str]:
            return [hypotheses[int(r.args[0])] for r in requests]

        loglikelihood = loglikelihood_rolling = None

    def rows(**_: Any) -> dict[str, Any]:
        made = [{"id": str(i), "references": r} for i, r in enumerate(references)]
        return {"test": datasets.Dataset.from_list(made)}

    config = {
        "task": "many",
        "custom_dataset": rows,
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": lambda doc: doc["id"],
        "doc_to_target": other.pop("doc_to_target", ""),
        "generation_kwargs": {"until": ["\n"]},
        **(other or task_config(*(Metric(metric, aggregate) for metric, aggregate in SETTINGS))),
    }
    found = lm_eval.evaluate(lm=Outputs(), task_dict={"many": ConfigurableTask(config=config)}, bootstrap_iters=100)
    return dict(found)


def test_lm_eval(task: Task) -> None:
    found = lm_eval_run(task.hypotheses, task.references)
    samples = sorted(found["samples"]["many"], key=lambda s: int(s["doc"]["id"]))
    for metric, aggregate in SETTINGS:
        name = f"refract_{metric}_{aggregate}"
        assert found["results"]["many"][f"{name},none"] == task.totals[metric, aggregate]
        assert [s[name] for s in samples] == task.segments[metric, aggregate]
        assert f"agg:{aggregate}" in found["configs"]["many"]["metadata"]["signatures"][name]
        assert found["higher_is_better"]["many"][name]
    errors = [found["results"]["many"][f"refract_{m}_{a}_se,none"] for m, a in SETTINGS]
    alone = task.segments["chrf", "max"]
    assert errors[0] == pytest.approx(stdev(alone) / len(alone) ** 0.5)
    assert 0 < errors[1] < 25


def test_lm_eval_s_metrics_by_name(task: Task) -> None:
    pytest.importorskip("lm_eval")
    from refract_eval.integrations import _lm_eval_plugin as plugin
    from refract_eval.integrations.lm_eval import references

    names = [f"refract_{metric}_{aggregate}" for metric, aggregate in SETTINGS]
    config = {"metric_list": [{"metric": name} for name in names]}
    found = lm_eval_run(task.hypotheses, task.references, doc_to_target=references, **config)
    assert [found["results"]["many"][f"{name},none"] for name in names] == [task.totals[s] for s in SETTINGS]
    with pytest.raises(ValueError, match=r"refract_chrf_max: the targets are lists.* doc_to_target: !function"):
        lm_eval_run(*TRANSPOSED, doc_to_target="references", **config)
    project = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    for metric, aggregate in plugin.SETTINGS:
        name = f"refract_{metric}_{aggregate}"
        for function in (name, f"{name}_corpus"):
            assert callable(getattr(plugin, function))
            assert f'{name} = "{plugin.__name__}:{function}"' in project


def test_lists_of_samples_are_not_taken_for_transposed() -> None:
    want = refract_eval.score(*TRANSPOSED, "chrf", "max", layout="segment").score
    assert lm_eval_run(*TRANSPOSED)["results"]["many"]["refract_chrf_max,none"] == want


def test_samples_that_a_metric_cannot_score_alone() -> None:
    made = Corpus("cider")
    samples = [made.segment(h, r) for h, r in zip(["a cat", "dogs run"], [["a cat"], ["dogs ran"]], strict=True)]
    with pytest.raises(ValueError, match="cider learns from the whole set"):
        made.total(samples)
    transposed = [Corpus("chrf").segment(h, r) for h, r in zip(*TRANSPOSED, strict=True)]
    want = refract_eval.score(*TRANSPOSED, "chrf", "max", layout="segment").score
    assert Corpus("chrf").total(transposed) == want
    nothing = Corpus("chrf").segment(None, ["a"])
    assert math.isnan(nothing)
    assert "missing" in nothing.status
    with pytest.raises(ValueError, match="none of 1 samples has a score of chrf: missing"):
        Corpus("chrf").total([nothing])
    with pytest.warns(UserWarning, match="1 of 2 samples have no score: missing"):
        assert Corpus("chrf").total([pickle.loads(pickle.dumps(nothing)), Corpus("chrf").segment("a", ["a"])]) == 100.0


def inspect_ai_run(hypotheses: list[str], references: list[list[str | None]], same: bool = False, **more: Any) -> Any:
    inspect_ai = pytest.importorskip("inspect_ai")
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from refract_eval.integrations.inspect_ai import refract

    asked: list[int] = []

    def output(messages: list[Any], *_: Any) -> ModelOutput:
        asked.append(int(messages[-1].text))
        said = hypotheses[asked[-1]] + " again" * (0 if same else asked.count(asked[-1]) - 1)
        made = ModelOutput.from_content("mockllm/model", said)
        made.usage = ModelUsage()  # else it downloads a file to count tokens
        return made

    samples = [
        Sample(id=i + 1, input=str(i), target=[t for t in r if t is not None], metadata={"all": r})
        for i, r in enumerate(references)
    ]
    scorers = [refract(metric, aggregate, references="all") for metric, aggregate in SETTINGS]
    scorers.append(refract())
    made = inspect_ai.Task(dataset=samples, scorer=scorers)
    model = get_model("mockllm/model", custom_outputs=output)
    (log,) = inspect_ai.eval(made, model=model, display="none", log_dir="logs", fail_on_error=True, **more)
    return log


def test_inspect_ai(task: Task) -> None:
    log = inspect_ai_run(task.hypotheses, task.references)
    assert log.status == "success", log.error
    for scored, setting in zip(log.results.scores, [*SETTINGS, SETTINGS[0]], strict=True):
        totals = {name.split("/")[-1]: metric.value for name, metric in scored.metrics.items()}
        assert totals["corpus"] == task.totals[setting]
        assert set(totals) == {"corpus", "mean", "stderr"}
        found = [sample.scores[scored.name] for sample in log.samples]
        assert [s.value for s in found] == task.segments[setting]
        assert f"agg:{setting[1]}" in found[0].metadata["signature"]


@pytest.mark.parametrize("reducer", ["mean", "median", "at_least_1"])
def test_inspect_ai_has_no_corpus_of_several_epochs(reducer: str) -> None:
    inspect_ai = pytest.importorskip("inspect_ai")
    from refract_eval.integrations.inspect_ai import refract

    given = [["a cat"], ["dogs ran", None], ["a"]]
    log = inspect_ai_run(["a cat", "dogs run", ""], given, epochs=inspect_ai.Epochs(3, reducer))
    assert log.samples  # read now: within its loop inspect_ai would patch asyncio, for all tests to come
    again = inspect_ai.score(log, refract("bleu", "native"), display="none", action="overwrite", epochs_reducer=reducer)
    for scored in (log, again):
        assert scored.error is None
        found = scored.results.scores[0].metrics
        assert math.isnan(found["corpus"].value)
        assert 0 < found["mean"].value < 100
        assert found["stderr"].value >= 0
    same = inspect_ai_run(["a cat", "dogs"], given[:2], epochs=inspect_ai.Epochs(3, reducer), same=True)
    want = refract_eval.score(["a cat", "dogs"], given[:2], "chrf", "max").score
    assert [s.metrics["corpus"].value for s in same.results.scores[::2]] == [want, want]


def test_evaluate(task: Task, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    evaluate = pytest.importorskip("evaluate")
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    from refract_eval.integrations.evaluate import Refract

    space = Path(__file__).parents[2] / "deploy" / "space.sh"
    subprocess.run([space, "me/many_references", tmp_path / "many_references"], check=True)
    assert 'load("me/many_references", ' in (tmp_path / "many_references" / "README.md").read_text()
    path = Path(refract_eval.__file__).parent / "integrations" / "evaluate.py"
    for metric, aggregate in SETTINGS:
        loaded = (evaluate.load(str(p), metric) for p in (path, tmp_path / "many_references"))
        for made in (Refract(metric), *loaded):
            found = made.compute(predictions=task.hypotheses, references=task.references, aggregate=aggregate)
            assert found["score"] == task.totals[metric, aggregate]
            assert found["segments"] == task.segments[metric, aggregate]
            assert f"agg:{aggregate}" in found["signature"]
    with pytest.raises(ValueError, match="references seems to be transposed"):
        Refract().compute(predictions=TRANSPOSED[0], references=TRANSPOSED[1])
    assert Refract().compute(predictions=["a", "b"], references=["a", "c"])["segments"] == [100, 0]
    with pytest.raises(ValueError, match="Mismatch in the number"):
        Refract().compute(predictions=task.hypotheses, references=list(zip(*TRANSPOSED[1], strict=True)))


def test_sacrebleu(task: Task) -> None:
    pytest.importorskip("sacrebleu")
    from refract_eval.integrations.sacrebleu import Metric

    width = max(len(r) for r in task.references)
    streams = [[r[k] if k < len(r) else None for r in task.references] for k in range(width)]
    for metric, aggregate in SETTINGS:
        made = Metric(metric, aggregate)
        assert made.corpus_score(task.hypotheses, streams, n_bootstrap=20).score == task.totals[metric, aggregate]
        assert "bs:20|seed:12345|case:mixed|" in str(made.get_signature())
        assert f"|agg:{aggregate}|" in made.get_signature().format(short=True)
        pairs = zip(task.hypotheses[:50], task.references, strict=False)
        assert [made.sentence_score(h, r).score for h, r in pairs] == task.segments[metric, aggregate][:50]
        assert (
            Metric(metric, aggregate, streams).corpus_score(task.hypotheses, None).score
            == task.totals[metric, aggregate]
        )


def test_sacrebleu_s_resamples(task: Task) -> None:
    metrics = pytest.importorskip("sacrebleu.metrics")
    from sacrebleu.significance import PairedTest

    from refract_eval.integrations.sacrebleu import Metric

    hypotheses = task.hypotheses[:40]
    streams = [[[t for t in r * 2 if t is not None][k] for r in task.references[:40]] for k in range(2)]
    other = [" ".join(h.split()[:-1]) for h in hypotheses]
    kinds = {
        "bleu": metrics.BLEU(),
        "bleu:smooth=add-k,smooth-value=2,order=3,lowercase": metrics.BLEU(True, False, None, "add-k", 2, 3),
        "chrf:beta=3,eps": metrics.CHRF(beta=3, eps_smoothing=True),
        "chrf++": metrics.CHRF(word_order=2),
        "ter": metrics.TER(),
    }
    for references in (streams[:1], streams):
        for name, theirs in kinds.items():
            ours = Metric(name)
            statistics = ours._extract_corpus_statistics(hypotheses, references)
            assert statistics == theirs._extract_corpus_statistics(hypotheses, references)
            found, want = (m.corpus_score(hypotheses, references, n_bootstrap=100) for m in (ours, theirs))
            assert found.score == pytest.approx(want.score, rel=1e-14)
            assert found.format(score_only=True) == want.format(score_only=True)
            assert (found._mean, found._ci) == (want._mean, want._ci)
    systems = [("a", hypotheses), ("b", other)]
    for test in ("ar", "bs"):
        mean = Metric("chrf", "max", streams)
        signatures, found = PairedTest(systems, {"o": Metric("bleu"), "m": mean}, streams, test, 50)()
        _, want = PairedTest(systems, {"t": kinds["bleu"]}, streams, test, 50)()
        assert [vars(r) for r in found["bleu"]] == [vars(r) for r in want["BLEU"]]
        assert 0 < found["chrf max"][1].p_value <= 1
        assert f"|{test}:50|seed:12345|" in str(signatures["chrf max"])


def test_sacrebleu_and_what_is_missing() -> None:
    pytest.importorskip("sacrebleu")
    from refract_eval.integrations.sacrebleu import Metric

    hypotheses, streams = TRANSPOSED
    for setting in (("chrf", "native"), ("chrf", "mean")):
        assert Metric(*setting).corpus_score([None, "a b"], [["x", "a b"]], n_bootstrap=1).score == 100.0
    with pytest.raises(ValueError, match=r"references\[1\] has a text for each of the 2 hypotheses, not 1"):
        Metric("chrf").corpus_score(hypotheses, [streams[0], streams[1][:1]])
    with pytest.raises(TypeError, match="a list of streams"):
        Metric("chrf").corpus_score(hypotheses, hypotheses)
    with pytest.raises(TypeError, match="a list of texts, not a text"):
        Metric("chrf").sentence_score("a", "a")
    with pytest.raises(ValueError, match="has no reference, which chrf needs"):
        Metric("chrf").sentence_score("a", [None])
    with pytest.raises(ValueError, match="there are no references"):
        Metric("chrf").corpus_score(hypotheses, None)
    with pytest.raises(ValueError, match="references"):
        Metric().get_signature()
    assert os.listdir() == []
