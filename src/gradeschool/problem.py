"""A problem: a question, its gold answer and the reference solution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gradeschool.errors import InputError

MARKER = "####"


@dataclass(frozen=True, slots=True)
class Problem:
    """One math word problem.

    id: unique within its dataset; GSM8K rows are "0", "1", ... in the order of the official file.
    gold: the final answer as the data writes it: sign and thousands commas kept ("-10", "2,125").
    solution: the whole reference solution, the line "#### gold" included.
    meta: facts about the problem (such as its dataset); never read by a scorer.
    """

    id: str
    question: str
    gold: str
    solution: str
    meta: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __getitem__(self, key: str) -> str:
        """Return the fields of a GSM8K row: `problem["question"]`, `problem["answer"]`."""
        if key == "question":
            return self.question
        if key == "answer":
            return self.solution
        raise KeyError(key)

    @classmethod
    def from_row(
        cls, id: str, question: str, answer: str, meta: Mapping[str, str] | None = None
    ) -> Problem:
        """Build a problem from a GSM8K row (`answer` ends in "#### gold").

        Raises InputError if the answer has no "####" marker or nothing after it.
        """
        _, marker, tail = answer.rpartition(MARKER)
        gold = tail.strip()
        if not marker or not gold:
            raise InputError(
                f"the answer of problem {id!r} has no '#### N': {answer[-60:]!r}; "
                "write the final answer on a last line of that form"
            )
        return cls(id, question, gold, answer, meta or {})

    @classmethod
    def from_gold(cls, gold: str | int) -> Problem:
        """Build a problem that scorers can score against, from a number or a reference solution."""
        text = str(gold)
        number = text.rpartition(MARKER)[2].strip()
        if not number:
            raise InputError(f"the gold answer is empty: {text!r}; give a number or a solution")
        return cls("?", "", number, text if MARKER in text else f"{MARKER} {number}")
