"""Scorers that call an optional library, in a child process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from gradeschool.problem import Problem
from gradeschool.scorer import Scorer, ScorerFailure
from gradeschool.verdict import Answer

MATH_VERIFY = "math-verify"
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
    from gradeschool.worker import WorkerFailure, call

    try:
        return call(function, row)
    except WorkerFailure as failure:
        if failure.timed_out:
            return None
        raise ScorerFailure(str(failure)) from None


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
    extra: str = MATH_VERIFY,
) -> Scorer:
    """Return a scorer that calls a library.

    function: "package.module:function" in the child, `(text, reference) -> [extracted string or
    null, equal]`. how: a description of what it extracts. extra: what the library needs. The
    libraries stop a call that takes too long and give False for it; a call that they cannot stop is
    wrong too, never an error.
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

    return Scorer(name, summary, source, reference, extract, compare, extra=extra)
