"""verl: `reward.custom_reward_function.path=pkg://gradeschool.integrations.verl`.

Its `name` is compute_score. The signatures are those of verl 0.9.1: `compute_score` for
NaiveRewardManager (experimental/reward_loop/reward_manager/naive.py), which calls it by keyword in
a thread, and `compute_scores` for BatchRewardManager. Options come from `reward_kwargs`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gradeschool.errors import UnknownNameError
from gradeschool.integrations.rewards import Grader, check_list
from gradeschool.scorer import clip

OF_VERL = "reward_"  # how the names of the options begin that verl itself adds


def compute_score(
    data_source: object,
    solution_str: object,
    ground_truth: object,
    extra_info: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Return {"score", "acc", "pred", "outcome", "reason"} for one response.

    extra_info: its "question" helps to tell units apart. options: the fields of `Grader`; those
    that verl adds are ignored, others raise UnknownNameError. An unreadable gold scores 0, with the
    outcome "error" to filter by.
    """
    return compute_scores([""], [solution_str], [ground_truth], [extra_info], **options)[0]


def compute_scores(
    data_sources: Sequence[object],
    solution_strs: Sequence[object],
    ground_truths: Sequence[object],
    extra_infos: Sequence[object] | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    """Return the results of `compute_score` for a batch."""
    fields = Grader.__dataclass_fields__
    for name in options:
        if name not in fields and not name.startswith(OF_VERL):
            raise UnknownNameError("option of the reward", name, fields)
    grader = Grader(**{name: value for name, value in options.items() if name in fields})
    infos = [None] * len(solution_strs) if extra_infos is None else extra_infos
    check_list("extra_infos", infos, len(solution_strs))
    questions = [info.get("question") if isinstance(info, Mapping) else None for info in infos]
    return [
        {
            "score": reward.value or 0.0,
            "acc": reward.correct,
            "pred": clip(reward.answer),
            "outcome": reward.outcome.value,
            "reason": reward.reason,
        }
        for reward in grader.grade_all(solution_strs, ground_truths, questions)
    ]
