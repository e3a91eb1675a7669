"""Which problem a recorded completion belongs to."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from gradeschool.errors import InputError
from gradeschool.formats.samples import Reference
from gradeschool.problem import MARKER, Problem
from gradeschool.scorer import clip

ADVICE = "correct it, or give its dataset with -d"
TELLING = 40  # characters of a question
NUMBER_AT_END = re.compile(r"(?:^|[-_:/# ])0*(\d{1,15})\Z")


class Matcher:
    """Finds problems of one dataset by index, id or question."""

    def __init__(self, problems: Sequence[Problem], name: str) -> None:
        self.problems = problems
        self.name = name
        self.by_id = {problem.id: problem for problem in problems}
        # Of the rows of another dataset some are kept: an index means one of those rows.
        self.by_row = {
            problem.meta["row"]: problem for problem in problems if "row" in problem.meta
        }
        self.by_question = {_squeeze(problem.question): problem for problem in problems}

    def find(self, reference: Reference) -> Problem:
        """Return the problem that a row means; InputError says why there is none."""
        by_question = None
        if reference.question is not None:
            by_question = self.by_question.get(_squeeze(reference.question))
        if by_question is None and reference.question is not None and reference.answer is not None:
            return _own_problem(reference, reference.question, reference.answer)
        if by_question is not None and reference.answer is not None:
            return by_question  # another harness numbers its documents in its own way
        named = self._by_name(reference)
        if named is not None and by_question is not None and named is not by_question:
            raise InputError(
                f"names problem {named.id!r}, but its question is that of {by_question.id!r}"
            )
        if named is not None and by_question is None and _is_another(named, reference.question):
            raise InputError(
                f"names problem {named.id!r}, but asks another question: "
                f"{clip(reference.question or '')!r}; {ADVICE}"
            )
        found = named if reference.position is not None else named or by_question
        if found is None:
            raise InputError(self._missing(reference))
        return found

    def _by_name(self, reference: Reference) -> Problem | None:
        if reference.position is not None:
            return self._at(reference.position)
        if reference.id is None:
            return None
        found = self.by_id.get(reference.id)
        number = NUMBER_AT_END.search(reference.id)
        if found is None and reference.question is None and number is not None:
            found = self._at(int(number.group(1)))
        return found

    def _at(self, index: int) -> Problem | None:
        """Return the problem of that row."""
        if self.by_row:
            return self.by_row.get(str(index))
        return self.problems[index] if 0 <= index < len(self.problems) else None

    def _missing(self, reference: Reference) -> str:
        last = len(self.problems) - 1
        if reference.position is not None:
            index = clip(str(reference.position))
            if self.by_row:
                return f"has the index {index}, a row that {self.name!r} does not hold; {ADVICE}"
            return f"has the index {index}, but {self.name!r} has rows 0 to {last}; {ADVICE}"
        if reference.question is not None:
            question = clip(reference.question)
            return f"has a question that is not in {self.name!r}: {question!r}; {ADVICE}"
        id = clip(reference.id or "")
        return f"has the id {id!r}, which is not in {self.name!r} (rows 0 to {last}); {ADVICE}"


def _is_another(problem: Problem, question: str | None) -> bool:
    """Tell whether a row's question is neither a part of the problem's nor a prompt around it.

    A short one tells nothing: some files cut questions off.
    """
    asked, known = _squeeze(question or ""), _squeeze(problem.question)
    return len(asked) >= TELLING and asked not in known and known not in asked


def _own_problem(reference: Reference, question: str, answer: str) -> Problem:
    """Build the problem that a log carries with it, of a dataset that we do not hold."""
    text = answer if MARKER in answer else f"{MARKER} {answer}"
    id = hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return Problem.from_row(id, question, text)


def _squeeze(question: str) -> str:
    return " ".join(question.split())
