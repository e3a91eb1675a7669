"""What a scorer says of a completion: the answer that it read, and a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Outcome(StrEnum):
    """The four outcomes. An error of the system is never a wrong answer."""

    CORRECT = "correct"
    WRONG = "wrong"
    NO_ANSWER = "no_answer"
    ERROR = "error"


class Answer(NamedTuple):
    """What a scorer read in a completion.

    text: the characters of the completion that were read. value: what is compared with the gold,
    after the scorer's own clean-up. span: (start, end) of `text` in the completion, in characters;
    None where the scorer reads something that does not stand there literally. how: in words, for
    people ("the last number").
    """

    text: str
    value: str
    span: tuple[int, int] | None
    how: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """One scorer's verdict on one completion; `reason` is one sentence for people."""

    scorer: str
    outcome: Outcome
    answer: Answer | None
    reason: str

    @property
    def correct(self) -> bool:
        """Whether the outcome is `correct`."""
        return self.outcome is Outcome.CORRECT
