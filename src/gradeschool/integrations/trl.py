"""TRL: `GRPOTrainer(reward_funcs=gradeschool.integrations.trl.reward, ...)`.

The signature is that of trl 1.16 (trl/trainer/grpo_trainer.py, `_calculate_rewards`): it takes
completions as texts or chats and every dataset column as a keyword, and returns a list of floats,
with None for a completion to skip.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gradeschool.errors import InputError
from gradeschool.integrations.rewards import Grader, check_list

# Columns that may contain the gold; in each row the first that is not empty (None) is used.
GOLD_COLUMNS = ("gold", "answer", "solution", "ground_truth")
GRADER = Grader()


@dataclass(frozen=True)
class RewardFunction:
    """A reward function for TRL; `__name__` is its name in TRL's logs.

    grader: gives the rewards. name: for the logs. column: the dataset column with the gold, "" for
    the first of gold, answer, solution and ground_truth that a row fills. A column `question` helps
    to tell units apart.
    """

    grader: Grader = GRADER
    name: str = "gradeschool"
    column: str = ""

    @property
    def __name__(self) -> str:
        """Return the name of the reward in TRL's logs."""
        return self.name

    def __call__(
        self,
        completions: Sequence[object],
        *,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Return a reward for each completion; the reasons go into TRL's completions table.

        A reward is None, which TRL skips, if the gold cannot be read. Raises InputError, already in
        the first step, if the dataset has no column with golds, or a text in its place.
        """
        names = (self.column,) if self.column else GOLD_COLUMNS
        filled = [name for name in names if columns.get(name) is not None]
        if not filled:
            raise InputError(
                f"the dataset has no column {' or '.join(map(repr, names))} with the gold answers, "
                f"only {sorted(columns)}; add one, or name yours: RewardFunction(column=...)"
            )
        for name in filled:
            check_list(f"values in the column {name!r}", columns[name], len(completions))
        rows = zip(*(columns[name] for name in filled), strict=True)
        golds = [next((gold for gold in row if gold is not None), None) for row in rows]
        rewards = self.grader.grade_all(completions, golds, columns.get("question"))
        if log_extra is not None:
            log_extra(f"{self.name}_outcome", [reward.outcome.value for reward in rewards])
            log_extra(f"{self.name}_reason", [reward.reason for reward in rewards])
        return [reward.value for reward in rewards]


reward = RewardFunction()
