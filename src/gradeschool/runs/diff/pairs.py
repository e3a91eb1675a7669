"""The completions of two results, paired: the same sample of the same problem."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gradeschool.completion import Finish
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import prompt_bytes
from gradeschool.runs.diff.side import Asked, Side
from gradeschool.scoring.collect import Sample

NOTHING = Asked()


@dataclass(frozen=True, slots=True)
class Pair:
    """Two completions of one sample of one problem, with what is recorded of asking for them."""

    problem_a: Problem
    problem_b: Problem
    a: Sample
    b: Sample
    asked_a: Asked
    asked_b: Asked

    @property
    def texts_equal(self) -> bool:
        """Whether both say the same to the letter."""
        return self.a.text == self.b.text

    @property
    def prompts_equal(self) -> bool | None:
        """Whether both were asked with the same bytes; None where one prompt is not recorded."""
        one, other = self.asked_a.prompt, self.asked_b.prompt
        if one is None or other is None:
            return None
        return one == other or prompt_bytes(one) == prompt_bytes(other)

    @property
    def more_tokens(self) -> int | None:
        """Return by how many tokens b's prompt is longer where the prompts are equal, else None."""
        one, other = self.asked_a.prompt_tokens, self.asked_b.prompt_tokens
        if one is None or other is None or self.prompts_equal is False:
            return None
        return other - one

    @property
    def cut(self) -> str:
        """Return "a" or "b" where the limit alone ended that text early, else ""."""
        if self.texts_equal:
            return ""
        if _is_start(self.a, self.b):
            return "a"
        return "b" if _is_start(self.b, self.a) else ""


def _is_start(short: Sample, long: Sample) -> bool:
    """Tell whether a text is the start of a longer one, and was not ended by the model itself."""
    begun = short.text.rstrip()
    longer = len(begun) < len(long.text.rstrip())
    ended = short.finish in (Finish.STOP, Finish.FILTER)
    return longer and not ended and bool(begun) and long.text.startswith(begun)


@dataclass(frozen=True, slots=True)
class Paired:
    """The pairs, and what has no partner: problems that one holds alone, other lone samples.

    A sample without a completion (an error) has none.
    """

    pairs: tuple[Pair, ...]
    problems_a: int
    problems_b: int
    samples_a: int
    samples_b: int


def paired(a: Side, b: Side) -> Paired:
    """Pair the completions of two sides by the problem's question (its id where it has none)."""
    ours, theirs = dict(_keyed(a)), dict(_keyed(b))
    asked = [{key for key, _ in side} for side in (ours, theirs)]
    both = [key for key in ours if key in theirs]
    lone = [
        sum(key not in other and key[0] in asked_there for key in one)
        for one, other, asked_there in ((ours, theirs, asked[1]), (theirs, ours, asked[0]))
    ]
    pairs = tuple(_pair(a, b, ours[key], theirs[key]) for key in both)
    return Paired(pairs, len(asked[0] - asked[1]), len(asked[1] - asked[0]), *lone)


def _pair(a: Side, b: Side, one: Sample, other: Sample) -> Pair:
    assert one.problem is not None  # noqa: S101  (for the type checker)
    assert other.problem is not None  # noqa: S101
    return Pair(
        one.problem,
        other.problem,
        one,
        other,
        a.asked.get(one.row, NOTHING),
        b.asked.get(other.row, NOTHING),
    )


def _keyed(side: Side) -> Iterator[tuple[tuple[str, int], Sample]]:
    for sample in side.run.samples:
        if sample.problem is not None and not sample.error:
            question = " ".join(sample.problem.question.split())
            yield (question or f"id {sample.problem.id}", sample.sample), sample
