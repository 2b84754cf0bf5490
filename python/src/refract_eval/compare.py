"""Agreement with human judgements, as `refract compare` measures it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import fields as fields_of
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Agreement:
    """One statistic of one setting with one kind of human judgement.

    value ranges as its statistic does: Kendall's tau and correlations from -1 to 1, accuracies from 0 to 1;
    None if it cannot be computed. ci is its 95 % interval, if one was requested or resampled. n counts the
    scores (or pairs) used, and missing the missing ones. other has the other columns of `refract compare -f
    json`, such as "rank".
    """

    metric: str
    references: int | str
    aggregate: str
    human: str
    level: str
    group: str
    statistic: str
    value: float | None
    n: int
    signature: str
    ci: tuple[float, float] | None
    missing: int
    systems: int
    other: Mapping[str, Any]


@dataclass(frozen=True, repr=False)
class Comparison:
    """The agreements of all settings, in the order of metrics, aggregators and statistics."""

    agreements: tuple[Agreement, ...]
    warnings: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Agreement]:
        """Iterate over the agreements."""
        return iter(self.agreements)

    def __len__(self) -> int:
        """Count the agreements."""
        return len(self.agreements)

    def best(self, statistic: str) -> Agreement:
        """Return the agreement with the highest value of a statistic."""
        found = [a for a in self.agreements if a.statistic == statistic and a.value is not None]
        if not found:
            raise ValueError(f"no {statistic!r} has a value: there are {sorted({a.statistic for a in self})}")
        return max(found, key=lambda a: a.value or 0.0)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a row for each agreement. Needs pandas: pip install refract-eval[pandas]."""
        import pandas

        rows = [{f.name: getattr(a, f.name) for f in fields_of(a) if f.name != "other"} | dict(a.other) for a in self]
        return pandas.DataFrame(rows)

    def __repr__(self) -> str:
        """Show a line for each agreement."""
        return "\n".join(
            f"{a.metric} {a.aggregate}: {a.statistic} with {a.human} "
            f"{'–' if a.value is None else format(a.value, '.3f')} (n = {a.n})"
            for a in self
        )


def read_comparison(result: Any) -> Comparison:
    """Make a Comparison from the result of the method compare."""
    rows: Sequence[Mapping[str, Any]] = result
    warnings: Sequence[str] = ()
    if isinstance(result, Mapping):
        rows, warnings = result["rows"], result.get("warnings") or ()
    return Comparison(tuple(_agreement(r) for r in rows), tuple(warnings))


_NAMED = {f.name for f in fields_of(Agreement)}


def _agreement(row: Mapping[str, Any]) -> Agreement:
    ci = row.get("ci")
    return Agreement(
        metric=row["metric"],
        references=row["references"],
        aggregate=row["aggregate"],
        human=row["human"],
        level=row["level"],
        group=row["group"],
        statistic=row["statistic"],
        value=row["value"],
        n=row["n"],
        signature=row.get("signature", ""),
        ci=(ci[0], ci[1]) if ci else None,
        missing=row.get("missing", 0),
        systems=row.get("systems", 0),
        other={k: v for k, v in row.items() if k not in _NAMED},
    )
