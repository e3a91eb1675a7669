"""verl: `reward.custom_reward_function.path=pkg://gradeschool.integrations.verl`.

Its `name` is compute_score. The signatures are those of verl 0.9.1: `compute_score` for
NaiveRewardManager (experimental/reward_loop/reward_manager/naive.py), which calls it by keyword in
a thread, and `compute_scores` for BatchRewardManager. Options come from `reward_kwargs`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from gradeschool.integrations.rewards import Grader, Reward, extras


def compute_score(
    data_source: object,
    solution_str: object,
    ground_truth: object,
    extra_info: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Return {"score", "acc", "pred", "outcome", "reason"} for one response.

    options: the fields of `Grader`; others, which verl adds, are ignored. An unreadable gold scores
    0, with the outcome "error" to filter by.
    """
    return _row(_grader(options).grade(solution_str, ground_truth))


def compute_scores(
    data_sources: Sequence[object],
    solution_strs: Sequence[object],
    ground_truths: Sequence[object],
    extra_infos: Sequence[object] | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    """Return the results of `compute_score` for a batch."""
    return [_row(reward) for reward in _grader(options).grade_all(solution_strs, ground_truths)]


def _row(reward: Reward) -> dict[str, Any]:
    facts = extras(reward)
    return {
        "score": reward.value or 0.0,
        "acc": reward.correct,
        "pred": facts["answer"],
        "outcome": facts["outcome"],
        "reason": facts["reason"],
    }


def _grader(options: Mapping[str, Any]) -> Grader:
    fields = Grader.__dataclass_fields__
    return _cached_grader(
        tuple(sorted((key, value) for key, value in options.items() if key in fields))
    )


@lru_cache(64)
def _cached_grader(options: tuple[tuple[str, Any], ...]) -> Grader:
    return Grader(**dict(options))
