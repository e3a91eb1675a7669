"""Rewards for completions: pure, safe in threads and processes, bounded in time, never raising.

The adapters for TRL, verl and OpenRLHF use `Grader`, which works with other trainers too.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from gradeschool.answers.parse import answer_part
from gradeschool.answers.regions import unfinished_mark
from gradeschool.completion import completion_text
from gradeschool.errors import InputError
from gradeschool.printable import count
from gradeschool.problem import MARKER, Problem
from gradeschool.protocols.registry import get_usable_scorer
from gradeschool.scorer import DEFAULT_SCORER, Outcome, call_at_once, clip
from gradeschool.scoring.table import problem_of

LOGGER = logging.getLogger("gradeschool")
# Only the last characters of a longer completion are read: the answer is at the end.
LONGEST = 200_000
UNREADABLE = (
    "gradeschool: a gold cannot be read, so its reward is None, for verl and OpenRLHF 0 (%s); give "
    "the number or a solution that ends in '#### N'. Further golds of this kind are not reported; "
    "the outcome of their rewards is 'error'."
)
_unreadable: list[object] = []  # the first gold of this process that could not be read
LONGEST_TAG = 40  # characters of a mark of thinking, which the cut may split


class Reward(NamedTuple):
    """The reward of one completion, with the reason.

    value: None if the gold cannot be read or the scorer fails. outcome, answer, reason: those of
    the scorer's verdict; answer is "" if none was extracted.
    """

    value: float | None
    outcome: Outcome
    answer: str
    reason: str

    @property
    def correct(self) -> bool:
        """Whether the outcome is `correct`."""
        return self.outcome is Outcome.CORRECT


@dataclass(frozen=True)
class Grader:
    """Rewards completions: 1 for a correct answer, else 0; a call never raises.

    scorer: a name from `gradeschool protocols list`. format_credit: added if the last line of the
    text is "#### N". Raises UnknownNameError, MissingExtraError or InputError. Graders with the
    same settings compare equal, and can be pickled.
    """

    scorer: str = DEFAULT_SCORER
    format_credit: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.scorer, str) or ":" in self.scorer:
            raise InputError(
                f"the scorer is {self.scorer!r}; a Grader takes the name of a published scorer, "
                "and gradeschool.judge(scorer=...) takes a function too"
            )
        get_usable_scorer(self.scorer)
        credit: object = self.format_credit
        if not isinstance(credit, int | float) or not 0 <= credit < 1:
            raise InputError(f"format_credit is {credit!r}; give a number from 0 to under 1")

    def grade(self, completion: object, gold: object, question: object = None) -> Reward:
        """Return the reward of one completion against one gold.

        completion: a text, or the messages of a chat, of which the last is read; None is an empty
        text. gold: the number, the whole solution ("... #### 18") or a GSM8K row. question: helps
        to tell units apart; a row has its own.
        """
        text = completion_text(completion)
        if text is None:
            kind = type(completion).__name__
            reason = f"the completion is a {kind}, not a text or messages"
            return Reward(None, Outcome.ERROR, "", reason)
        row = gold if isinstance(gold, Mapping) else {"answer": gold, "question": question}
        answer, asked = row.get("answer"), row.get("question")
        is_text = isinstance(answer, str) and isinstance(asked, str | None)
        try:
            problem = _problem_of_text(answer, asked) if is_text else problem_of(row)
        except InputError as error:
            if not _unreadable:  # trainers skip its reward silently
                _unreadable.append(gold)
                LOGGER.warning(UNREADABLE, error)  # a huge integer cannot be shown itself
            return Reward(None, Outcome.ERROR, "", str(error))
        if (cut := len(text) - LONGEST) > 0:  # what is left is thinking if the whole text is
            text = unfinished_mark(text[: cut + LONGEST_TAG]) + text[cut:]
        verdict = get_usable_scorer(self.scorer).judge(text, problem)
        value = None
        if verdict.outcome is not Outcome.ERROR:
            value = float(verdict.correct)
            line = answer_part(text).strip().rpartition("\n")[2].strip()
            if self.format_credit and line.startswith(MARKER) and any(map(str.isdigit, line)):
                value += self.format_credit
        read = verdict.answer.value if verdict.answer else ""
        return Reward(value, verdict.outcome, read, verdict.reason)

    def grade_all(
        self,
        completions: Sequence[object],
        golds: Sequence[object],
        questions: Sequence[object] | None = None,
    ) -> list[Reward]:
        """Return the rewards of a batch; a scorer that calls a library gets the whole batch.

        Raises InputError as `check_list` for each of the lists.
        """
        size = len(completions)
        questions = [None] * size if questions is None else questions
        check_list("completions", completions, size)
        check_list("golds", golds, size)
        check_list("questions", questions, size)
        rows = zip(completions, golds, questions, strict=True)
        if get_usable_scorer(self.scorer).extra:
            return call_at_once(self.grade, rows)
        return [self.grade(*row) for row in rows]


def check_list(name: str, values: Sequence[object], size: int) -> None:
    """Raise InputError for a text in the place of a list, or one that is not of this size."""
    if isinstance(values, str):
        raise InputError(f"give a list of {name}, not the text {clip(values)!r}")
    if len(values) != size:
        raise InputError(f"{count(size, 'completion')} but {len(values)} {name}; give as many")


@lru_cache(4096)
def _problem_of_text(gold: str, question: str | None) -> Problem:
    return problem_of({"answer": gold, "question": question})
