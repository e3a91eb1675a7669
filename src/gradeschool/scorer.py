"""A scorer: a pure function from a completion's text and a problem to a verdict."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gradeschool.problem import Problem
from gradeschool.verdict import Answer, Outcome, Verdict

DEFAULT_SCORER = "gradeschool/reader"  # where neither the user nor a protocol names one
MARKED_READER = f"{DEFAULT_SCORER} with thinking marks "  # and then pairs of marks as JSON
LONGEST_SHOWN = 60  # characters of a text in a message
# String comparison: saves a Python call for each completion.
verbatim: Callable[[str, str], bool] = operator.eq


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
