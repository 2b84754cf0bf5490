"""Rewards for TRL's trainers: GRPOTrainer(reward_funcs=make_reward("chrf"), …)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._given import NAMES, name_of, row
from ._rewards import Rewards, rewards


@dataclass(frozen=True)
class Reward:
    """The reward function that make_reward() returns. It can be pickled and forked."""

    rewards: Rewards
    column: str | None = None
    source: str | None = None
    extract: Callable[[str], str | None] | None = None

    @property
    def __name__(self) -> str:
        """Name the reward in the trainer's logs."""
        return name_of(self.rewards.metric, self.rewards.aggregate)

    def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], completion_ids: Any = None, **columns: Any
    ) -> list[float | None]:
        """Return a reward from 0 to 1 for each completion, None if there is no score.

        completions are texts or lists of messages, of which the assistant's last one counts.
        """
        names = NAMES if self.column is None else (self.column,)
        name = next((n for n in names if n in columns), None)
        if name is None:
            raise ValueError(f"the dataset has no column {' or '.join(names)}: give make_reward(column=…)")
        said = [_text(c) for c in completions]
        if self.extract is not None:
            said = [None if s is None else self.extract(s) for s in said]
        references = [row(r, f"{name}[{i}]") for i, r in enumerate(columns[name])]
        return self.rewards.of(said, references, None if self.source is None else columns[self.source])


def make_reward(
    metric: str = "chrf",
    aggregate: str = "max",
    *,
    bounds: tuple[float, float] | None = None,
    column: str | None = None,
    source: str | None = None,
    extract: Callable[[str], str | None] | None = None,
) -> Reward:
    """Make a reward function that compares completions with the references of their rows.

    References are in the dataset's column `references` (lists of texts) or `reference` (texts), or in the one
    that column names; sources, for metrics that need them, in the one that source names. metric and aggregate
    are as for score(). bounds are the scores with rewards 0 and 1, by default the metric's bounds; TER has no
    upper bound and needs them. extract returns the part of a completion to score, or None if there is none.

    Raises ValueError for an unknown metric, or one without bounds.
    """
    return Reward(rewards(metric, aggregate, bounds), column, source, extract)


def _text(completion: Any) -> str | None:
    if completion is None or isinstance(completion, str):
        return completion
    for message in reversed(list(completion)):
        if message.get("role") == "assistant":
            content = message.get("content")
            if content is None or isinstance(content, str):
                return content
            return "".join(part.get("text") or "" for part in content if isinstance(part, Mapping))
    return None
