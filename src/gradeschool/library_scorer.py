"""Scorers whose code runs in a child process: those that call a library, and those of the user."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from gradeschool.answers.quantities import same_answer
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer, ScorerFailure
from gradeschool.verdict import Answer

MATH_VERIFY = "math-verify"
ENTRY_POINTS = "gradeschool.scorers"  # of installed packages that bring scorers
ACCEPTED = 0.5  # the smallest number by which a function of the user accepts an answer
MOST_HANGS = 3  # calls of a function of the user that hang, before it is called no more
Result = TypeVar("Result")


class LibraryAnswer(str):
    """The string that a library extracted, with the library's verdict against the reference."""

    is_equal: bool

    def __new__(cls, text: str, is_equal: bool = False) -> LibraryAnswer:
        """Create the string; `is_equal` is the verdict."""
        answer = super().__new__(cls, text)
        answer.is_equal = is_equal
        return answer


@lru_cache(1024)
def call_library(function: str, row: tuple[str, str]) -> Any:
    """Return the result of a child process's function for a row of strings, None if it timed out.

    Raises ScorerFailure, which is not remembered, if the function raises or its process is lost.
    """
    from gradeschool.worker import TIMED_OUT, WorkerFailure, answers

    answer = answers(function, [row])[0]
    if isinstance(answer, WorkerFailure):
        if str(answer).startswith(TIMED_OUT):
            return None
        raise ScorerFailure(str(answer))
    return answer


def call_at_once(function: Callable[..., Result], rows: Iterable[Sequence[Any]]) -> list[Result]:
    """Return the results of a function that calls a library, one for each row, in order.

    Libraries run in child processes: one thread for each keeps all of them busy.
    """
    from concurrent.futures import ThreadPoolExecutor

    from gradeschool.worker import CHILDREN

    with ThreadPoolExecutor(CHILDREN) as threads:
        return list(threads.map(lambda row: function(*row), rows))


def library_scorer(
    name: str,
    *,
    summary: str,
    source: str,
    function: str,
    how: str,
    reference: Callable[[Problem], str] = lambda problem: problem.gold,
) -> Scorer:
    """Return a scorer that calls a library.

    function: "package.module:function" in the child, `(text, reference) -> [extracted string or
    null, equal]`. how: a description of what it extracts. The libraries stop a call that takes too
    long and give False for it; a call that they cannot stop is wrong too, never an error.
    """

    def extract(text: str, reference: str) -> Answer | None:
        result = call_library(function, (text, reference))
        if result is None:
            return Answer("", LibraryAnswer(""), None, "out of time, which the library calls wrong")
        shown, is_equal = result
        if shown is None and not is_equal:
            return None
        value = LibraryAnswer(shown or "", is_equal)
        start = text.rfind(value) if value else -1
        span = None if start < 0 else (start, start + len(value))
        return Answer(str(value), value, span, how)

    def compare(value: str, reference: str) -> bool:
        """Return the verdict that came with the value; other values are extracted again."""
        if isinstance(value, LibraryAnswer):
            return value.is_equal
        result = call_library(function, (value, reference))
        return result is not None and bool(result[1])

    return Scorer(name, summary, source, reference, extract, compare, extra=MATH_VERIFY)


class _Gold(str):
    """A gold with its problem, which a function of the user may take."""

    problem: Problem


def _gold_of(problem: Problem) -> str:
    gold = _Gold(problem.gold)
    gold.problem = problem
    return gold


def find_own_scorer(name: str) -> Scorer | None:
    """Return the scorer for "FILE.py:FUNCTION", "MODULE:FUNCTION" or an entry point's name.

    None for another name. Raises InputError if the function cannot be imported or called.
    """
    from importlib.metadata import entry_points

    if ":" in name:
        return own_scorer(name)
    found = entry_points(group=ENTRY_POINTS, name=name)
    return next((own_scorer(point.value, name) for point in found), None)


def own_scorer(function: str | Callable[..., Any], name: str = "") -> Scorer:
    """Return a scorer that calls a function of the user in a child process, bounded in time.

    function: "FILE.py:FUNCTION", "MODULE:FUNCTION" or the function itself; takes the completion
    and the gold, the problem or both (`user_function`). True or a number from ACCEPTED on is
    correct, another number is wrong; a text is the extracted answer, which is compared with the
    gold as a number; None and an empty text are no answer. Whatever else happens is an error of
    this row. After MOST_HANGS calls that hang, the function is called no more.
    """
    from gradeschool.user_function import UserFunction

    called = UserFunction(function)
    called.calls()
    hung = 0

    def extract(text: str, reference: str) -> Answer | None:
        nonlocal hung
        if hung >= MOST_HANGS:
            raise ScorerFailure(f"it hung on {hung} completions and is called no more")
        problem = reference.problem if isinstance(reference, _Gold) else None
        [reply] = called.replies([(text, str(reference), problem)])
        hung += reply.hung
        if reply.raised:
            raise ScorerFailure(reply.raised)
        how = f"{called.name} returned"
        if reply.score is not None:
            value = LibraryAnswer(reply.shown, reply.score >= ACCEPTED)
            return Answer(reply.shown, value, None, how)
        if reply.text:
            start = text.rfind(reply.text)
            span = None if start < 0 else (start, start + len(reply.text))
            return Answer(reply.text, reply.text, span, how)
        if reply.text is None and reply.shown != "None":
            raise ScorerFailure(f"returned {reply.shown}; return a bool, a number or a text")
        return None

    def compare(value: str, reference: str) -> bool:
        if isinstance(value, LibraryAnswer):
            return value.is_equal
        return value.strip() == reference.strip() or same_answer(value, reference)

    summary = "a function of your own"
    return Scorer(name or called.name, summary, called.name, _gold_of, extract, compare)
