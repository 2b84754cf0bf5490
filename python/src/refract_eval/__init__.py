"""Evaluates generated text against many references.

    import refract_eval

    scores = refract_eval.score(["the cat sat"], [["the cat sat down", "a cat was sitting"]])

score() and the other functions share one process of the program refract, which starts with the first call; a
Scorer has its own. Each has an async variant that begins with a: ascore, acompare, aexpand, Scorer.ascore.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from ._neural import NeuralMetric, metrics
from ._program import find_program
from .commands import check, experiment, report, select, systems
from .compare import Agreement, Comparison, Pair
from .errors import MetricError, ProcessDiedError, ProgramNotFoundError, RefractError, UsageError
from .expand import Expansion, Progress, aexpand, expand
from .functions import acompare, ascore, compare, score, score_segments
from .hub import from_datasets, to_datasets
from .scorer import Scorer
from .scores import Cells, Scores, Setting, SystemScore
from .segments import Segment, Variant
from .sets import read, write

try:
    __version__ = version("refract-eval")
except PackageNotFoundError:  # a source tree on the path
    __version__ = "0"

__all__ = [
    "Agreement",
    "Cells",
    "Comparison",
    "Expansion",
    "MetricError",
    "NeuralMetric",
    "Pair",
    "ProcessDiedError",
    "ProgramNotFoundError",
    "Progress",
    "RefractError",
    "Scorer",
    "Scores",
    "Segment",
    "Setting",
    "SystemScore",
    "UsageError",
    "Variant",
    "acompare",
    "aexpand",
    "ascore",
    "check",
    "compare",
    "expand",
    "experiment",
    "find_program",
    "from_datasets",
    "metrics",
    "read",
    "report",
    "score",
    "score_segments",
    "select",
    "systems",
    "to_datasets",
    "write",
]
