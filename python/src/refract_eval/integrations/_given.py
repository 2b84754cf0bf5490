"""Reads what libraries pass: rows with references, and names of metrics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

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


def known(metric: str) -> Mapping[str, Any] | None:
    """Return what the program says about a metric; None if it does not list it."""
    name = metric.partition(":")[0]
    return next((m for m in metrics() if m["name"] == name and m["option"] is None), None)


def higher_is_better(metric: str) -> bool:
    """Say whether higher scores of a metric are better."""
    found = known(metric)
    return found is None or found["direction"] != "lower"


def name_of(metric: str, aggregate: str) -> str:
    """Name a metric in the tables of a library, which split names at commas and bars."""
    return re.sub(r"[^\w.+=-]+", "_", f"refract_{metric}_{aggregate}")
