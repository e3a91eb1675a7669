"""Scorers that are a library: read and compared in a child process, for an optional extra."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

from gradeschool.problem import Problem
from gradeschool.scorer import Scorer, ScorerFailure
from gradeschool.verdict import Answer
from gradeschool.worker import WorkerFailure, answers

MATH_VERIFY = "math-verify"
BATCH = 256  # rows asked about at once
KEPT = 4 * BATCH  # answers remembered

Row = tuple[str, str]


class Judged(str):
    """The string that a library read, with its own verdict against the reference it was given."""

    equal: bool

    def __new__(cls, text: str, equal: bool = False) -> Judged:
        """Make the string; `equal` is the verdict."""
        judged = super().__new__(cls, text)
        judged.equal = equal
        return judged


class Asked:
    """A function of a child process, and the rows that it will be asked about, for batches."""

    def __init__(self, function: str) -> None:
        self.function = function
        self._lock = threading.Lock()
        self._expected: dict[Row, None] = {}
        self._answers: dict[Row, Any] = {}

    def expect(self, rows: Iterable[Row]) -> None:
        """Note what will be asked about, in about that order."""
        with self._lock:
            self._expected = dict.fromkeys(rows)

    def answer(self, row: Row) -> Any:
        """Return the answer for a row. Raises ScorerFailure: none in time, or it raises."""
        answer = self._answers.get(row)
        if answer is None:
            answer = self._ask(row)
        if isinstance(answer, WorkerFailure):
            raise ScorerFailure(str(answer))
        return answer

    def _ask(self, row: Row) -> Any:
        """Ask about a row and, if it was expected, the next ones with it."""
        with self._lock:
            batch = [row]
            if row in self._expected:
                del self._expected[row]
                batch += islice(self._expected, BATCH - 1)
                for next_row in batch[1:]:
                    del self._expected[next_row]
        given = answers(self.function, batch)
        with self._lock:
            if len(self._answers) >= KEPT:
                self._answers = {}
            self._answers.update(zip(batch, given, strict=True))
        return given[0]


class Library:
    """A function of a child process, `(text, reference) -> [string read or null, equal]`."""

    def __init__(self, function: str, how: str) -> None:
        self.asked = Asked(function)
        self.how = how

    def read(self, text: str, reference: str) -> Answer | None:
        """Return what the library reads. Raises ScorerFailure: no answer in time, or it raises."""
        shown, equal = self.asked.answer((text, reference))
        if shown is None and not equal:
            return None
        value = Judged(shown or "", equal)
        start = text.rfind(value) if value else -1
        span = None if start < 0 else (start, start + len(value))
        return Answer(str(value), value, span, self.how)

    def same(self, value: str, reference: str) -> bool:
        """Return the library's verdict on a value that `read` gave; others are read as texts."""
        if isinstance(value, Judged):
            return value.equal
        again = self.read(value, reference)
        return again is not None and isinstance(again.value, Judged) and again.value.equal

    def ahead(self, pairs: Sequence[Row]) -> None:
        """Note the (text, reference) pairs that `read` will be asked about."""
        self.asked.expect(pairs)


def library_scorer(
    name: str,
    *,
    summary: str,
    source: str,
    function: str,
    how: str,
    reference: Callable[[Problem], str] = lambda problem: problem.gold,
) -> Scorer:
    """Return a scorer that is a library's; `function` is "package.module:function" in the child."""
    library = Library(function, how)
    return Scorer(
        name=name,
        summary=summary,
        source=source,
        reference=reference,
        read=library.read,
        same=library.same,
        extra=MATH_VERIFY,
        ahead=library.ahead,
    )
