"""Rewards for verl: reward.custom_reward_function.path=pkg://refract_eval.integrations.verl."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ._given import row
from ._rewards import rewards


def compute_score(
    data_source: Any,
    solution_str: str,
    ground_truth: Any,
    extra_info: Any = None,
    *,
    reward_router_address: Any = None,
    reward_model_tokenizer: Any = None,
    **settings: Any,
) -> float:
    """Return a reward from 0 to 1 for one response.

    ground_truth is a text, a list of texts, or an object with `references` or `reference`. settings come from
    verl's custom_reward_function.reward_kwargs: metric ("chrf"), aggregate ("max"), bounds (the scores with
    rewards 0 and 1), and missing (the reward if there is no score, such as 0; by default an error).
    """
    return compute_scores([data_source], [solution_str], [ground_truth], [extra_info], **settings)[0]


def compute_scores(
    data_sources: Sequence[Any],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Any = None,
    *,
    metric: str = "chrf",
    aggregate: str = "max",
    bounds: Sequence[float] | None = None,
    missing: float | None = None,
) -> list[float]:
    """Return the rewards of a batch, in one request, for verl's BatchRewardManager."""
    references = [row(g, f"ground_truth {i}") for i, g in enumerate(ground_truths)]
    made = _rewards(metric, aggregate, None if bounds is None else tuple(bounds)).of(solution_strs, references)
    return [_reward(r, missing, data_sources[i], i) for i, r in enumerate(made)]


_rewards: Any = lru_cache(rewards)  # asks for the bounds once


def _reward(made: float | None, missing: float | None, source: Any, i: int) -> float:
    if made is not None:
        return made
    if missing is None:
        raise ValueError(
            f"response {i} of {source!r} has no score, mostly since its ground_truth has no text: "
            "mend it, or set reward_kwargs.missing to the reward of such a row"
        )
    return float(missing)
