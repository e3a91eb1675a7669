"""A scorer: a pure function from a completion's text and a problem to a verdict; a vote of many."""

from __future__ import annotations

import json
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from gradeschool.errors import InputError
from gradeschool.problem import Problem

DEFAULT_SCORER = "gradeschool/reader"  # where neither the user nor a protocol names one
MARKED_READER = f"{DEFAULT_SCORER} with thinking marks "  # and then pairs of marks as JSON
LONGEST_SHOWN = 60  # characters of a text in a message
# String comparison: saves a Python call for each completion.
verbatim: Callable[[str, str], bool] = operator.eq


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


class ScorerFailure(Exception):
    """The published scorer itself fails on this text (raises, in its own code): outcome `error`."""


@dataclass(frozen=True, slots=True)
class Scorer:
    """How one published protocol extracts an answer and compares it.

    name: `harness/task[/filter]`, with a version range where upstream changed; frozen for ever.
    summary: one line for people. source: repository, commit and file that define it.
    reference: the value that answers are compared with; computed once for each problem. May raise
    `ScorerFailure` on a gold that the published code cannot read.
    extract: (completion text, reference) -> the answer, or None. Linear in the text's length;
    raises only `ScorerFailure`, where the published code raises.
    compare: (answer value, reference) -> equal under the scorer. May raise `ScorerFailure`.
    extra: the optional dependency that the scorer calls, "" for none (`registry.available`).
    dataset: the only dataset it applies to, or the first part of several names ("mgsm"); "" for
    any. Unless scorers are named, those of other datasets are left out. thinking_marks: pairs of
    marks of thinking that it knows besides the usual ones.
    """

    name: str
    summary: str
    source: str
    reference: Callable[[Problem], str]
    extract: Callable[[str, str], Answer | None]
    compare: Callable[[str, str], bool] = verbatim
    extra: str = ""
    dataset: str = ""
    thinking_marks: tuple[tuple[str, str], ...] = ()

    def judge(self, text: str, problem: Problem) -> Verdict:
        """Return this scorer's verdict on a completion's text. Never raises on any text."""
        try:
            reference = self.reference(problem)
        except ScorerFailure as failure:
            return Verdict(self.name, Outcome.ERROR, None, f"the gold cannot be read: {failure}")
        try:
            answer = self.extract(text, reference)
            if answer is None:
                reason = f"nothing extracted; the scorer reads: {self.summary}"
                return Verdict(self.name, Outcome.NO_ANSWER, None, reason)
            is_right = self.compare(answer.value, reference)
        except ScorerFailure as failure:
            return Verdict(self.name, Outcome.ERROR, None, f"the scorer fails: {failure}")
        value, gold = answer.value, reference
        if isinstance(value, ReturnedScore):
            reason = f"{answer.how} {value}: {'accepted' if is_right else 'rejected'}"
        else:
            if len(value) + len(gold) > LONGEST_SHOWN:
                value, gold = clip(value), clip(gold)
            relation = "matches" if is_right else "is not"
            reason = f"{answer.how}: {value!r} {relation} {gold!r}"
        return Verdict(self.name, Outcome.CORRECT if is_right else Outcome.WRONG, answer, reason)


def with_marks(names: Sequence[str], marks: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return scorers' names with the answer extractor knowing further marks of thinking.

    It takes the place of `gradeschool/reader`, or the last one: no other scorer takes marks.
    """
    if not marks:
        return tuple(names)
    reader = MARKED_READER + json.dumps([list(pair) for pair in marks], ensure_ascii=False)
    others = [name for name in names if not name.startswith(MARKED_READER)]
    at = others.index(DEFAULT_SCORER) if DEFAULT_SCORER in others else len(others)
    return (*others[:at], reader, *others[at + 1 :])


def clip(text: str, limit: int = LONGEST_SHOWN) -> str:
    """Shorten a text for a message by cutting out its middle."""
    if len(text) <= limit:
        return text
    half = (limit - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


# A vote: one verdict from all samples of a problem, counted as a harness counts them


@dataclass(frozen=True, slots=True)
class Vote:
    """The rule by which a published protocol combines the samples of a problem.

    name: `harness/task/filter`. voters: number of samples that vote, from the first. ballot: the
    string that a completion's text votes for. nothing: the ballot of a text without an answer, a
    candidate like any other. reference: the value that the winner is compared with. compare:
    (winner, reference) -> equal under the protocol. In a tie, the candidate that occurs first
    wins.
    """

    name: str
    summary: str
    source: str
    voters: int
    ballot: Callable[[str], str]
    nothing: str
    reference: Callable[[Problem], str]
    compare: Callable[[str, str], bool]

    def judge(self, texts: Sequence[str], problem: Problem) -> Verdict:
        """Return the verdict on a problem's samples, in order; those after `voters` are ignored.

        Raises InputError if there are fewer samples than voters, as the harnesses do.
        """
        if len(texts) < self.voters:
            raise InputError(
                f"{self.name!r} counts {self.voters} samples of a problem, but problem "
                f"{problem.id!r} has {len(texts)}; sample more, or use a vote over fewer"
            )
        counted = Counter(map(self.ballot, texts[: self.voters]))
        winner, ballots = counted.most_common(1)[0]
        how = f"{ballots} of {self.voters} votes"
        if winner == self.nothing:
            return Verdict(self.name, Outcome.NO_ANSWER, None, f"{how}: no answer was read")
        answer = Answer(winner, winner, None, how)
        scorer = Scorer(self.name, self.summary, self.source, self.reference, lambda *_: answer,
                        self.compare)  # fmt: skip
        return scorer.judge("", problem)


# Scorers that call an optional library, in a child process


Result = TypeVar("Result")


class LibraryAnswer(str):
    """The string that a library extracted, with the library's verdict against the reference."""

    is_equal: bool

    def __new__(cls, text: str, is_equal: bool = False) -> LibraryAnswer:
        """Create the string; `is_equal` is the verdict."""
        answer = super().__new__(cls, text)
        answer.is_equal = is_equal
        return answer


class ReturnedScore(LibraryAnswer):
    """A number or a bool, as printed, that a function of the user returned as its verdict."""


@lru_cache(1024)
def call_library(function: str, row: tuple[str, str]) -> Any:
    """Return the result of a child process's function for a row of strings, None if it timed out.

    Raises ScorerFailure, which is not remembered, if the function raises or its process is lost.
    """
    from gradeschool.worker import WorkerFailure, call

    try:
        return call(function, row)
    except WorkerFailure as failure:
        if failure.end == "time":
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
    summary: str,
    source: str,
    function: str,
    how: str,
    reference: Callable[[Problem], str],
    extra: str = "math-verify",
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
        """Return the verdict that came with the value."""
        return isinstance(value, LibraryAnswer) and value.is_equal

    return Scorer(name, summary, source, reference, extract, compare, extra)
