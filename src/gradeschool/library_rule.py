"""Rules that are a library: read and compared in a child process, for an optional extra."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradeschool.problem import Problem
from gradeschool.rule import Rule, RuleFailure
from gradeschool.verdict import Answer
from gradeschool.worker import WorkerFailure, answers

MATH_VERIFY = "math-verify"
MOST_AHEAD = 512  # answers kept for a `read` to come


class Judged(str):
    """The string that a library read, with its own verdict against the reference it was given."""

    equal: bool

    def __new__(cls, text: str, equal: bool = False) -> Judged:
        """Make the string; `equal` is the verdict."""
        judged = super().__new__(cls, text)
        judged.equal = equal
        return judged


class Library:
    """A function of a child process, `(text, reference) -> [string read or null, equal]`."""

    def __init__(self, function: str, how: str) -> None:
        self.function = function
        self.how = how
        self._ahead: dict[tuple[str, str], Any] = {}

    def ahead(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Ask about (text, reference) pairs in one batch, at most MOST_AHEAD, for `read` to come."""
        wanted = list(dict.fromkeys(pairs))[:MOST_AHEAD]
        given = answers(self.function, wanted)
        self._ahead = dict(zip(wanted, given, strict=True))

    def read(self, text: str, reference: str) -> Answer | None:
        """Return what the library reads. Raises RuleFailure: no answer in time, or it raises."""
        given = self._ahead.get((text, reference))
        if given is None:
            (given,) = answers(self.function, [(text, reference)])
        if isinstance(given, WorkerFailure):
            raise RuleFailure(str(given))
        shown, equal = given
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


def library_rule(
    name: str,
    *,
    summary: str,
    source: str,
    function: str,
    how: str,
    reference: Callable[[Problem], str] = lambda problem: problem.gold,
) -> Rule:
    """Return a rule that is a library's; `function` is "package.module:function" in the child."""
    library = Library(function, how)
    return Rule(
        name=name,
        summary=summary,
        source=source,
        reference=reference,
        read=library.read,
        same=library.same,
        extra=MATH_VERIFY,
        ahead=library.ahead,
    )
