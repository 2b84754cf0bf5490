"""Metrics that lm-evaluation-harness finds by name, such as refract_chrf_max, in versions with entry points for them.

Their targets are texts, or what doc_to_target: !function refract_eval.integrations.lm_eval.references makes of lists.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from lm_eval.api.registry import register_aggregation, register_metric

from ._corpus import Corpus, SegmentScore
from ._given import higher_is_better, name_of, row

SETTINGS = (("bleu", "native"), ("bleu", "max"), ("chrf", "native"), ("chrf", "max"), ("ter", "native"))


def _register(metric: str, aggregate: str) -> None:
    name = name_of(metric, aggregate)

    def corpus(items: Sequence[SegmentScore]) -> float:
        if not all(isinstance(s, SegmentScore) for s in items):
            raise ValueError(
                f"{name}: the targets are lists, of whose scores the harness keeps only whether one is not 0: give "
                "doc_to_target: !function refract_eval.integrations.lm_eval.references"
            )
        return Corpus(metric, aggregate).total(items)

    def score(references: Sequence[str], predictions: Sequence[str], **_: Any) -> SegmentScore:
        (target,), (said,) = references, predictions
        given = json.loads(target) if str(target).startswith('{"references": ') else target
        return Corpus(metric, aggregate).segment(said, row(given, "target"))

    score.__name__, corpus.__name__ = name, f"{name}_corpus"
    register_aggregation(name)(corpus)
    register_metric(metric=name, higher_is_better=higher_is_better(metric), aggregation=name)(score)
    globals().update({score.__name__: score, corpus.__name__: corpus})


for _setting in SETTINGS:
    _register(*_setting)
