"""Reads hypotheses, references and sources in the forms that callers have, and refuses doubtful input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from statistics import fmean
from typing import Any

Text = str | None
SYSTEM = "system"  # the name of unnamed hypotheses

_SAMPLE = 64  # segments used to recognise the layout
_MARGIN = 0.1  # how much more similar columns than rows must be, from 0 to 1


def hypotheses_by_system(hypotheses: Any) -> dict[str, list[Text]]:
    """Read n texts, or n texts by system."""
    if isinstance(hypotheses, Mapping):
        if not hypotheses:
            raise ValueError("hypotheses is empty: give a list of texts, or such lists by system")
        systems = {_name(k): texts(v, f"hypotheses[{k!r}]") for k, v in hypotheses.items()}
    else:
        systems = {SYSTEM: texts(hypotheses, "hypotheses")}
    lengths = {name: len(v) for name, v in systems.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"systems differ in their numbers of hypotheses: {lengths}")
    if not next(iter(lengths.values())):
        raise ValueError("there are no hypotheses")
    return systems


def references_by_segment(references: Any, systems: Mapping[str, list[Text]], layout: str | None) -> list[list[Text]]:
    """Read the references of n segments; see score() for the layouts."""
    if layout not in (None, "segment", "reference"):
        raise ValueError(f"layout is 'segment', 'reference' or None, not {layout!r}")
    hypotheses = next(iter(systems.values()))
    outer = _rows(references) if _is_frame(references) else sequence(references, "references")
    texts_alone = [isinstance(r, str) for r in outer]
    if any(texts_alone):
        return _one_each(outer, len(hypotheses))
    lists = [[] if _missing(r) else texts(r, f"references[{i}]") for i, r in enumerate(outer)]
    if layout == "reference":
        return _transposed(lists, len(hypotheses))
    if len(lists) != len(hypotheses):
        if lists and layout is None and all(len(r) == len(hypotheses) for r in lists):
            raise ValueError(_both_readings(lists, len(hypotheses)))
        raise ValueError(
            f"references has {len(lists)} elements, and there are {len(hypotheses)} hypotheses: "
            "references[i] is the list of the references of hypothesis i"
        )
    if layout is None and _seems_transposed(lists, list(systems.values())):
        raise ValueError(_both_readings(lists, len(hypotheses)))
    return lists


def texts(value: Any, where: str) -> list[Text]:
    """Read a sequence of texts, None or NaN for a missing one."""
    read: list[Text] = []
    for i, v in enumerate(sequence(value, where)):
        if type(v).__module__.startswith("pyarrow."):  # a scalar
            v = v.as_py()
        if isinstance(v, str):
            read.append(str(v))
        elif _missing(v):
            read.append(None)
        else:
            raise TypeError(f"{where}[{i}] is a {type(v).__name__}, not a text: {_snipped(repr(v))}")
    return read


def sequence(value: Any, where: str) -> Sequence[Any]:
    """Read anything with an order: lists, tuples, arrays, columns, generators."""
    if _is_frame(value):
        raise TypeError(f"{where} is a table; give a column: {where}=df['column']")
    if type(value).__module__.startswith("pyarrow.") and hasattr(value, "to_pylist"):  # an array or chunks of it
        return list(value.to_pylist())
    if isinstance(value, (str, bytes, Mapping, Set)) or not isinstance(value, Iterable):
        raise TypeError(f"{where} is a {type(value).__name__}, not a list: {_snipped(repr(value))}")
    return list(value)


def _is_frame(value: Any) -> bool:
    """Recognise pandas and polars tables, whose iteration yields names or columns."""
    return hasattr(value, "columns") and hasattr(value, "to_numpy") and len(getattr(value, "shape", ())) == 2


def _rows(frame: Any) -> list[Any]:
    return list(frame.to_numpy().tolist())


def _missing(v: Any) -> bool:
    """Recognise None, NaN and pandas' NA."""
    return v is None or (isinstance(v, float) and v != v) or type(v).__name__ == "NAType"


def _name(k: Any) -> str:
    if not isinstance(k, str):
        raise TypeError(f"a system's name is a {type(k).__name__}, not a text: {k!r}")
    return k


def _one_each(outer: Sequence[Any], n: int) -> list[list[Text]]:
    for i, r in enumerate(outer):
        if not isinstance(r, str) and not _missing(r):
            raise TypeError(
                f"references has texts, and references[{i}] is a {type(r).__name__}: give n texts, or n lists of texts"
            )
    if len(outer) != n:
        several = f"; for {len(outer)} references of one hypothesis give [[…]]" if n == 1 else ""
        raise ValueError(f"references has {len(outer)} texts, one a hypothesis, and there are {n} hypotheses{several}")
    return [[] if _missing(r) else [str(r)] for r in outer]


def _transposed(lists: list[list[Text]], n: int) -> list[list[Text]]:
    for k, r in enumerate(lists):
        if len(r) != n:
            raise ValueError(
                f"with layout='reference', references[{k}] has a text for each of the {n} hypotheses, not {len(r)}: "
                "None stands for a missing one"
            )
    return [list(of) for of in zip(*lists, strict=True)] if lists else [[] for _ in range(n)]


def _both_readings(lists: list[list[Text]], n: int) -> str:
    first = [repr(_snipped(r[0])) for r in lists[:3]]
    second = [repr(_snipped(t)) for t in lists[0][:3]]
    more = ["…"] if len(lists) > 3 else []
    more_second = ["…"] if len(lists[0]) > 3 else []
    return (
        f"references seems to be transposed: {len(lists)} lists of {len(lists[0])} texts, for {n} hypotheses.\n"
        f"  As a list for each reference, hypotheses[0] has the references [{', '.join(first + more)}]\n"
        f"  As a list for each hypothesis, hypotheses[0] has the references [{', '.join(second + more_second)}]\n"
        "If the first is meant, give layout='reference', or list(zip(*references)); "
        "if the second is, give layout='segment'."
        + ("" if len(lists) == n else f" The second lacks {n - len(lists)} lists." if len(lists) < n else "")
    )


def _seems_transposed(lists: list[list[Text]], systems: list[list[Text]]) -> bool:
    """Say whether a square of references makes more sense by columns than by rows.

    Both readings are possible only if there are as many references as hypotheses. The references of a
    hypothesis are similar to it and to each other. So a system that writes garbage, which is similar to
    nothing, is not mistaken for a transposed list.
    """
    n = len(lists)
    if n < 2 or any(len(r) != n for r in lists):
        return False
    some = range(min(n, _SAMPLE))
    grams = [[_bigrams(lists[i][k]) for k in some] for i in some]
    outputs = [[_bigrams(system[i]) for i in some] for system in systems]
    pairs = [(i, k) for i in some for k in some if i != k]
    columns = [_overlap(o[i], grams[k][i]) for o in outputs for i, k in pairs]
    rows = [_overlap(o[i], grams[i][k]) for o in outputs for i, k in pairs]
    # Compare the diagonal, which is the same in both readings, with the other elements.
    among_columns = [_overlap(grams[i][i], grams[k][i]) for i, k in pairs]
    among_rows = [_overlap(grams[i][i], grams[i][k]) for i, k in pairs]
    return fmean(columns) - fmean(rows) + fmean(among_columns) - fmean(among_rows) > 2 * _MARGIN


def _bigrams(text: Text) -> set[str]:
    return {text[i : i + 2] for i in range(len(text) - 1)} if text else set()


def _overlap(a: set[str], b: set[str]) -> float:
    """Return Dice's coefficient, from 0 to 1."""
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0


def printable(text: str) -> str:
    """Escape terminal control characters."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _snipped(text: Text, at: int = 40) -> str:
    if text is None:
        return "(missing)"
    return text if len(text) <= at else text[: at - 1] + "…"
