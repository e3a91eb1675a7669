"""The result of a scorer on a completion: the extracted answer and a verdict."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import NamedTuple


class Outcome(StrEnum):
    """The four outcomes. A system error is never a wrong answer."""

    CORRECT = "correct"
    WRONG = "wrong"
    NO_ANSWER = "no_answer"
    ERROR = "error"


class Answer(NamedTuple):
    """The answer that a scorer extracted from a completion.

    text: the extracted characters of the completion. value: what is compared with the gold, after
    the scorer's own clean-up. span: (start, end) of `text` in the completion, in characters; None
    if the scorer extracts something that is not literally there. how: a description ("the last
    number").
    """

    text: str
    value: str
    span: tuple[int, int] | None
    how: str


# Makes an `Answer` from a tuple, in half the time of the class: a row needs about thirty.
make_answer: Callable[[tuple[str, str, tuple[int, int] | None, str]], Answer] = partial(
    tuple.__new__, Answer
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One scorer's verdict on one completion; `reason` is one readable sentence."""

    scorer: str
    outcome: Outcome
    answer: Answer | None
    reason: str

    @property
    def correct(self) -> bool:
        """True if the outcome is `correct`."""
        return self.outcome is Outcome.CORRECT
