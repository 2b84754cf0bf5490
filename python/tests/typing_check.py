"""Argument types that score() is called with; mypy reads this, nothing runs it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy
import pandas

import refract_eval
from refract_eval import Scorer, Segment


def texts() -> Iterator[str]:
    yield "a"


frame = pandas.DataFrame({"output": ["a"], "ref1": ["a"], "ref2": [None]})
column: pandas.Series[str] = frame["output"].astype(str)
array = numpy.array(["a"])

refract_eval.score(texts(), [texts()])
refract_eval.score(column, frame[["ref1", "ref2"]])
refract_eval.score(array, numpy.array([["a", "b"]]), sources=array, ids=column)
refract_eval.score({"mine": column, "theirs": ("a",)}, [["a", None], None])
refract_eval.score_segments(Segment(t) for t in texts())
Scorer(flags={"max-text": 64}).score(column, column)
Scorer(flags=["--max-text=64"]).score_segments([Segment("1")])
refract_eval.score(frame, ["a"])  # type: ignore[arg-type]
