"""Reads what libraries pass: rows with references, and names of metrics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .._metric import Metric
from .._metric import name_of as name_of_function
from .._neural import metrics
from .._texts import texts

NAMES = ("references", "reference")


def row(value: Any, where: str) -> list[str | None]:
    """Read the references of one hypothesis: a text, a list, or an object with one of the two."""
    if isinstance(value, Mapping):
        for name in NAMES:
            if name in value:
                return row(value[name], f"{where}[{name!r}]")
        raise ValueError(f"{where} has neither {NAMES[0]!r} nor {NAMES[1]!r}: it has {', '.join(map(str, value))}")
    if value is None or isinstance(value, str):
        return [value]
    return texts(value, where)


def label(metric: str | Metric) -> str:
    """Return the name of a metric, or of a function that is one."""
    return metric if isinstance(metric, str) else name_of_function(metric)


def known(metric: str | Metric) -> Mapping[str, Any] | None:
    """Return what the program says about a metric; None if it does not list it."""
    if not isinstance(metric, str):
        return None
    name = metric.partition(":")[0]
    return next((m for m in metrics() if m["name"] == name and m["option"] is None), None)


def higher_is_better(metric: str | Metric) -> bool:
    """Say whether higher scores of a metric are better."""
    if not isinstance(metric, str):
        return not getattr(metric, "lower_is_better", False)
    found = known(metric)
    return found is None or found["direction"] != "lower"


def name_of(metric: str | Metric, aggregate: str) -> str:
    """Name a metric in the tables of a library, which split names at commas and bars."""
    return re.sub(r"[^\w.+=-]+", "_", f"refract_{label(metric)}_{aggregate}")


def untyped(base: Any) -> type[object]:
    """Return a class to derive from, of a package without types: checkers see what we add to it."""
    found: type[object] = base
    return found
