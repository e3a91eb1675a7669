"""A scorer: a pure function from a completion's text and a problem to a verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gradeschool import scan
from gradeschool.problem import Problem
from gradeschool.scan import Scan
from gradeschool.verdict import Answer, Outcome, Verdict


class ScorerFailure(Exception):
    """The published scorer itself fails on this text (raises, in its own code): outcome `error`."""


class Claim(NamedTuple):
    """On which part of a text a scorer has the same outcome as on the whole.

    It is so for texts that hold all of `needs` and nothing of `unless` (bits of `scan.Scan.holds`),
    where `part(scan)` is not None and `settles(part, what the scorer reads in it)` is true. A test
    holds every scorer to its claims; scoring reads equal parts of many completions once.
    """

    part: Callable[[Scan], str | None]
    settles: Callable[[str, Answer | None], bool]
    needs: int = 0
    unless: int = 0

    def holds(self, bits: int) -> bool:
        """Tell whether the claim is about texts that hold these."""
        return bits & self.needs == self.needs and not bits & self.unless


def found(part: str, answer: Answer | None) -> bool:
    """Settle a scorer that takes the last of something: it is settled where there is one."""
    return answer is not None


def always(part: str, answer: Answer | None) -> bool:
    """Settle a scorer that reads nothing but what stands in the part."""
    return True


# A scorer that reads what stands behind "####", wherever, and one whose pattern matches no white
# space and takes the last match.
HASHES_DECIDE = (
    Claim(scan.nothing, always, unless=scan.HAS_HASHES),
    Claim(scan.hashes, always, needs=scan.HAS_HASHES),
)
LAST_NUMBER_DECIDES = (Claim(scan.number, found),)


def nothing(reference: str) -> object:
    """Say that a scorer reads a text without looking at the reference."""
    return None


@dataclass(frozen=True, slots=True)
class Scorer:
    """How one published protocol reads and compares an answer.

    name: `harness/task[/filter]`, with a version range where upstream changed; frozen for ever.
    summary: one line for people. source: repository, commit and file that define it.
    reference: what the scorer compares with, from a problem; computed once a problem. May raise
    `ScorerFailure` on a gold that the published code cannot read.
    read: (completion text, reference) -> the answer it finds, or None. Linear in the text's length;
    raises `ScorerFailure` alone, where the published code raises.
    same: (answer value, reference) -> equal under the scorer.
    claims: which part of a text decides; the first that is about a text counts.
    depends: what of the reference `read` looks at; equal for references on which it reads alike.
    at_once: the outcome of (text, reference) without an answer to show, where that is cheaper; None
    says nothing.
    extra: the optional dependency that the scorer calls, "" for none (`registry.available`).
    ahead: takes the (text, reference) pairs that `read` will be asked about next, for a scorer that
    is faster in batches; None where it makes no difference.
    """

    name: str
    summary: str
    source: str
    reference: Callable[[Problem], str]
    read: Callable[[str, str], Answer | None]
    same: Callable[[str, str], bool]
    claims: tuple[Claim, ...] = ()
    depends: Callable[[str], object] = nothing
    at_once: Callable[[str, str], Outcome | None] | None = None
    extra: str = ""
    ahead: Callable[[Sequence[tuple[str, str]]], None] | None = None

    def judge(self, text: str, problem: Problem) -> Verdict:
        """Return this scorer's verdict on a completion's text. Never raises on any text."""
        try:
            reference = self.reference(problem)
        except ScorerFailure as failure:
            return Verdict(self.name, Outcome.ERROR, None, f"the gold cannot be read: {failure}")
        return self.judge_against(text, reference)

    def outcome(self, text: str, reference: str) -> Outcome:
        """Return the outcome alone: what a score needs of thousands of completions."""
        if self.at_once is not None and (seen := self.at_once(text, reference)) is not None:
            return seen
        try:
            answer = self.read(text, reference)
            if answer is None:
                return Outcome.NO_ANSWER
            return Outcome.CORRECT if self.same(answer.value, reference) else Outcome.WRONG
        except ScorerFailure:
            return Outcome.ERROR

    def judge_against(self, text: str, reference: str) -> Verdict:
        """Return the verdict against a reference that `reference(problem)` returned before."""
        try:
            answer = self.read(text, reference)
            if answer is None:
                return Verdict(self.name, Outcome.NO_ANSWER, None, f"nothing read: {self.summary}")
            right = self.same(answer.value, reference)
        except ScorerFailure as failure:
            return Verdict(self.name, Outcome.ERROR, None, f"the published code fails: {failure}")
        outcome = Outcome.CORRECT if right else Outcome.WRONG
        read, gold = clip(answer.value), clip(reference)
        relation = "matches" if right else "is not"
        return Verdict(self.name, outcome, answer, f"{answer.how}: {read!r} {relation} {gold!r}")


def clip(text: str, limit: int = 60) -> str:
    """Shorten a text for a message; the middle goes."""
    if len(text) <= limit:
        return text
    half = (limit - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def verbatim(value: str, reference: str) -> bool:
    """Compare as strings."""
    return value == reference
