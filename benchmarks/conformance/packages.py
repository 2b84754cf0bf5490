"""How a user of each package computes a case: a program that sets "score".

A program follows the package's documentation. If the package cannot express a case (a mean over references, a
sentence's BLEU), or says that its numbers follow another definition, the case is Inexpressible, which is not a
fault.
"""
import importlib.util
import os

from sacrebleu.metrics import BLEU, CHRF

CLASSES = {"bleu": "BLEU", "chrf": "CHRF", "chrf++": "CHRF", "ter": "TER"}


class Inexpressible(Exception):
    pass


class Package:
    name = distribution = api = ""
    module = None
    within = 1e-9

    def absent(self):
        """Why it cannot be run, or None."""
        return None if importlib.util.find_spec(self.module or self.name) else "not installed"

    def program(self, case):
        raise Inexpressible

    def expect(self, case):
        """The expected value, for a package that states a definition other than sacreBLEU's default."""
        return case["expect"]


def streams(case):
    """One list for each reference, with None if a segment has no such reference."""
    if "streams" in case:
        return case["streams"]
    width = max((len(r) for r in case["references"]), default=0)
    return [[r[i] if i < len(r) else None for r in case["references"]] for i in range(width)]


def by_segment(case):
    """References by segment, for a package that scores corpora in only one way."""
    if "streams" in case or case["aggregate"] not in ("native", "single"):
        raise Inexpressible
    if case["level"] == "sentence" and case["metric"] == "bleu":
        raise Inexpressible # for a sentence it is another BLEU, with fewer orders
    if case["aggregate"] == "single":
        return [r[:1] for r in case["references"]]
    return case["references"]


def unsmoothed(case, refs):
    """Refuses cases of BLEU in which smoothing matters."""
    if isinstance(case["expect"], str):
        return
    present = [[r for r in s if r is not None] for s in refs]
    padded = streams({"references": present})
    plain = BLEU(smooth_method="none", effective_order=case["level"] == "sentence")
    if abs(plain.corpus_score(case["hypotheses"], padded).score - case["expect"]) > 1e-9:
        raise Inexpressible


class SacreBLEU(Package):
    name = distribution = "sacrebleu"
    api = "`BLEU`, `CHRF`, `TER`: `corpus_score`, `sentence_score`"

    def program(self, case):
        if case["aggregate"] not in ("native", "single"):
            raise Inexpressible
        metric = CLASSES[case["metric"]]
        options = "word_order=2" if case["metric"] == "chrf++" else ""
        head = f"from sacrebleu.metrics import {metric}\n\n"
        if case["level"] == "sentence":
            refs = case["references"][0][:1] if case["aggregate"] == "single" else case["references"][0]
            options = "effective_order=True" if metric == "BLEU" else options
            return head + f"score = {metric}({options}).sentence_score({case['hypotheses'][0]!r}, {refs!r}).score\n"
        refs = streams(case)[:1] if case["aggregate"] == "single" else streams(case)
        return head + f"hyps = {case['hypotheses']!r}\nrefs = {refs!r}  # refs[reference][segment]\nscore = {metric}({options}).corpus_score(hyps, refs).score\n"


LM_EVAL = """\
from lm_eval import evaluate
from lm_eval.api.model import LM
from lm_eval.api.task import ConfigurableTask

hyps = {hyps!r}
refs = {refs!r}  # refs[segment][reference]


class Outputs(LM):
    def generate_until(self, requests):
        return [hyps[int(r.args[0])] for r in requests]

    loglikelihood = loglikelihood_rolling = None


def dataset(**_):
    import datasets

    return {{"test": datasets.Dataset.from_list([{{"id": str(i), "refs": r}} for i, r in enumerate(refs)])}}


task = ConfigurableTask(config={{
    "task": "case", "custom_dataset": dataset, "test_split": "test", "output_type": "generate_until",
    "doc_to_text": lambda doc: doc["id"], "doc_to_target": lambda doc: doc["refs"],
    "generation_kwargs": {{"until": ["\\n"]}}, {more}
    "metric_list": [{{"metric": {metric!r}, "aggregation": {metric!r}, "higher_is_better": {higher}}}],
}})
found = evaluate(lm=Outputs(), task_dict={{"case": task}}, bootstrap_iters=0, log_samples=False)
score = found["results"]["case"]["{metric},none"]
"""


class LMEvalTargets(Package):
    name = "lm-eval, targets"
    distribution = module = "lm_eval"
    api = "a task whose `doc_to_target` is a list of references, `metric: bleu`, `chrf`, `chrf++`, `ter`"

    def results(self, metric):
        return ""

    def program(self, case):
        refs, metric = by_segment(case), case["metric"]
        if case["aggregate"] == "single":
            refs = [r[0] for r in refs]
        return LM_EVAL.format(hyps=case["hypotheses"], refs=refs, metric=metric, more=self.results(metric), higher=metric != "ter")


class LMEvalLists(LMEvalTargets):
    name = "lm-eval, process_results"
    api = "a task whose `process_results` gives `(references, output)` to the aggregation `bleu`, `chrf`, `chrf++`, `ter`"

    def results(self, metric):
        return f'"process_results": lambda doc, results: {{{metric!r}: (doc["refs"], results[0])}},'


class LightEval(Package):
    name = distribution = "lighteval"
    api = "`Metrics.bleu`, `chrf`, `chrf_plus`, `ter`: `compute_sample` of each `Doc`, then the corpus aggregation"

    def program(self, case):
        refs = by_segment(case)
        member = {"chrf++": "chrf_plus"}.get(case["metric"], case["metric"])
        return f"""\
from lighteval.metrics.metrics import Metrics
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc

hyps = {case["hypotheses"]!r}
refs = {refs!r}  # refs[segment][reference]
metric = Metrics.{member}.value
samples = [
    metric.compute_sample(doc=Doc(query="", choices=r, gold_index=list(range(len(r)))), model_response=ModelResponse(text=[h]))
    for h, r in zip(hyps, refs)
]
score = metric.get_corpus_aggregations()["{case["metric"]}"]([s["{case["metric"]}"] for s in samples])
"""


class Evaluate(Package):
    name = distribution = "evaluate"
    api = "`evaluate.load(\"sacrebleu\")`, `chrf`, `ter`: `compute(predictions, references)`"

    def absent(self):
        if not os.environ.get("EVALUATE_METRICS"):
            return "its metric scripts are on a hub: give --evaluate-metrics"
        return super().absent()

    def program(self, case):
        refs = by_segment(case)
        module = {"bleu": "sacrebleu", "chrf++": "chrf"}.get(case["metric"], case["metric"])
        options = ", word_order=2" if case["metric"] == "chrf++" else ", case_sensitive=False" if module == "ter" else ""
        return f"""\
import os

import evaluate

hyps = {case["hypotheses"]!r}
refs = {refs!r}  # refs[segment][reference]
metric = evaluate.load(os.path.join(os.environ.get("EVALUATE_METRICS", ""), {module!r}))
score = metric.compute(predictions=hyps, references=refs{options})["score"]
"""


class MBRS(Package):
    name = distribution = "mbrs"
    api = "`MetricBLEU`, `MetricChrF`, `MetricTER`: `corpus_score`, `score`, `expected_scores`"
    within = 1e-4  # its tensors have single precision

    def program(self, case):
        metric = {"bleu": "MetricBLEU", "ter": "MetricTER"}.get(case["metric"], "MetricChrF")
        options = "word_order=2, num_workers=1" if case["metric"] == "chrf++" else "num_workers=1"
        if metric == "MetricBLEU" and case["level"] == "corpus" and case["aggregate"] in ("native", "single"):
            options += ", effective_order=False"
        head = f"from mbrs.metrics import {metric}\n\nmetric = {metric}({metric}.Config({options}))\n"
        if case["aggregate"] == "mean" and case["level"] == "sentence":
            return head + f"score = metric.expected_scores([{case['hypotheses'][0]!r}], {case['references'][0]!r})[0]\n"
        if case["aggregate"] == "single" and case["level"] == "sentence":
            return head + f"score = metric.score({case['hypotheses'][0]!r}, {case['references'][0][0]!r})\n"
        if case["aggregate"] not in ("native", "single"):
            raise Inexpressible
        refs = streams(case)[:1] if case["aggregate"] == "single" else streams(case)
        return head + f"hyps = {case['hypotheses']!r}\nrefs = {refs!r}  # refs[reference][segment]\nscore = metric.corpus_score(hyps, refs)\n"


class NLTK(Package):
    name = distribution = "nltk"
    api = "`corpus_bleu` and `sentence_bleu` of sacreBLEU's tokens, where no smoothing has a say, times 100"

    def program(self, case):
        if case["metric"] != "bleu" or "streams" in case or case["aggregate"] not in ("native", "single"):
            raise Inexpressible
        refs = [r[:1] for r in case["references"]] if case["aggregate"] == "single" else case["references"]
        unsmoothed(case, refs)
        return f"""\
from nltk.translate.bleu_score import corpus_bleu
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

tokens = lambda s: Tokenizer13a()(s).split()
hyps = {case["hypotheses"]!r}
refs = {refs!r}  # refs[segment][reference]
score = 100 * corpus_bleu([[tokens(r) for r in rs] for rs in refs], [tokens(h) for h in hyps])
"""


class TorchMetrics(Package):
    name = distribution = "torchmetrics"
    api = "`SacreBLEUScore`, `CHRFScore`, `TranslationEditRate`, times 100; BLEU where no smoothing has a say"
    within = 1e-4  # its tensors have single precision

    def expect(self, case):
        """Its chrF is chrF++.py's, which sacreBLEU calls eps_smoothing: a mean of F by order."""
        if isinstance(case["expect"], str) or not case["metric"].startswith("chrf"):
            return case["expect"]
        refs = streams({"references": [[r for r in s if r is not None] for s in by_segment(case)]})
        return CHRF(word_order=2 * (case["metric"] == "chrf++"), eps_smoothing=True).corpus_score(case["hypotheses"], refs).score

    def program(self, case):
        refs = by_segment(case)
        if case["metric"] == "bleu":
            unsmoothed(case, refs)
        metric, options = {"bleu": ("SacreBLEUScore", ""), "ter": ("TranslationEditRate", ""),
                           "chrf": ("CHRFScore", "n_word_order=0"), "chrf++": ("CHRFScore", "")}[case["metric"]]
        return f"""\
from torchmetrics.text import {metric}

hyps = {case["hypotheses"]!r}
refs = {refs!r}  # refs[segment][reference]
score = 100 * {metric}({options})(hyps, refs)
"""


class Without(Package):
    """A package without BLEU, chrF or TER."""

    def __init__(self, name, distribution, api):
        self.name, self.distribution, self.module, self.api = name, distribution, distribution, api


PACKAGES = [
    SacreBLEU(), LMEvalTargets(), LMEvalLists(), LightEval(), Evaluate(), MBRS(), NLTK(), TorchMetrics(),
    Without("inspect_ai", "inspect_ai", "scorers `f1`, `exact`, `includes`, …: the best of several targets; none of these metrics"),
    Without("trl", "trl", "rewards by math equality, format and length: none of these metrics"),
    Without("verl", "verl", "rewards by answers that are equal: none of these metrics"),
]
