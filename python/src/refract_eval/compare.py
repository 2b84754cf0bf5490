"""Agreement with human judgements, as `refract compare` measures it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import fields as fields_of
from typing import TYPE_CHECKING, Any

from ._texts import printable

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


@dataclass(frozen=True)
class Pair:
    """A test of two settings under one statistic, as a row of `refract compare --table pairs`.

    better and worse are (metric, aggregator); better has the larger value. difference is how much larger, with the
    interval ci. p is the p-value, and p_holm the one corrected for the pairs of the metric. significant is "yes",
    "no", or "undecided" where p_holm is small but ci includes 0. other has the other columns.
    """

    better: tuple[str, str]
    worse: tuple[str, str]
    level: str
    group: str
    statistic: str
    difference: float | None
    ci: tuple[float, float] | None
    p: float | None
    p_holm: float | None
    significant: str
    other: Mapping[str, Any]


@dataclass(frozen=True, repr=False)
class Comparison:
    """The agreements of all settings, in the order of metrics, aggregators and statistics.

    pairs are the tests of settings against each other, if a test was asked for.
    """

    agreements: tuple[Agreement, ...]
    warnings: tuple[str, ...] = ()
    pairs: tuple[Pair, ...] = ()

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

    def to_pandas(self, of: str = "agreements") -> pandas.DataFrame:
        """Return a row for each agreement or, of="pairs", each pair.

        Needs pandas: pip install refract-eval[pandas].
        """
        import pandas

        if of not in ("agreements", "pairs"):
            raise ValueError(f"of is 'agreements' or 'pairs', not {of!r}")
        every: Sequence[Agreement | Pair] = self.pairs if of == "pairs" else self.agreements
        rows = [{f.name: getattr(a, f.name) for f in fields_of(a) if f.name != "other"} | dict(a.other) for a in every]
        return pandas.DataFrame(rows)

    def __repr__(self) -> str:
        """Show a line for each agreement and pair."""
        agreements = [
            f"{a.metric} {a.aggregate}: {_statistic(a)} with {a.human} {_shown(a.value, a.ci)} (n = {a.n})"
            for a in self
        ]
        pairs = [
            f"{' '.join(p.better)} − {' '.join(p.worse)}: {_statistic(p)} {_shown(p.difference, p.ci)}"
            f" (p = {_shown(p.p)}, Holm {_shown(p.p_holm)}; significant: {p.significant})"
            for p in self.pairs
        ]
        return "\n".join(printable(line) for line in [*agreements, *pairs])


def _statistic(of: Agreement | Pair) -> str:
    return of.statistic if of.group == "none" else f"{of.statistic} by {of.group}"


def _shown(value: float | None, ci: tuple[float, float] | None = None) -> str:
    text = "–" if value is None else f"{value:.3f}"
    return text if ci is None else f"{text} [{ci[0]:.3f}, {ci[1]:.3f}]"


def read_comparison(result: Any) -> Comparison:
    """Make a Comparison from the result of the method compare."""
    tables: Mapping[str, Any] = result if isinstance(result, Mapping) else {"rows": result}
    return Comparison(
        tuple(_agreement(r) for r in tables["rows"]),
        tuple(tables.get("warnings") or ()),
        tuple(_pair(r) for r in tables.get("pairs") or ()),
    )


_PAIR = ("better", "better_aggregate", "worse", "worse_aggregate", "level", "group", "statistic")
_TEST = ("delta", "delta_ci", "p", "p_holm", "significant")


def _pair(row: Mapping[str, Any]) -> Pair:
    ci = row["delta_ci"]
    return Pair(
        better=(row["better"], row["better_aggregate"] or ""),
        worse=(row["worse"], row["worse_aggregate"] or ""),
        level=row["level"],
        group=row["group"],
        statistic=row["statistic"],
        difference=row["delta"],
        ci=(ci[0], ci[1]) if ci else None,
        p=row["p"],
        p_holm=row["p_holm"],
        significant=row["significant"],
        other={k: v for k, v in row.items() if k not in (*_PAIR, *_TEST)},
    )


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
