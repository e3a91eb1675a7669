"""A page with a verifier's values token by token, as in appendix F of Cobbe et al. 2021.

It shows correct and wrong solutions that the verifier scores high, and correct and wrong ones that
it scores low. The report's explorer has every completion with values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

from gradeschool.errors import InputError
from gradeschool.formats.samples import Sample
from gradeschool.problem import Problem
from gradeschool.reports.pages import render
from gradeschool.reports.report_data import Judged, TokenValues
from gradeschool.scoring.table import CORRECT, ERROR

BINS = 10
OUTSIDE = 20  # one value in so many is below the first colour's, and one above the last's
EACH = 4  # solutions of each kind, of different problems if possible


class ValuedSolution(NamedTuple):
    """One solution with its values; correct under the headline scorer."""

    run: str
    problem: Problem
    sample: Sample
    correct: bool
    valued: TokenValues

    def parts(self, low: float, high: float) -> list[tuple[str, float, int]]:
        """Return the text of each token, the value after it, and its colour: 0 for low to BINS.

        Values outside of these have the last colours.
        """
        width = max(high - low, 1e-9)
        bins = [round(BINS * min(max((value - low) / width, 0.0), 1.0))
                for value in self.valued.values]  # fmt: skip
        return list(zip(self.valued.tokens, self.valued.values, bins, strict=True))

    def value_sentence(self) -> str:
        """Return the first, the lowest and the last value in a sentence."""
        values = self.valued.values
        lowest = min(range(len(values)), key=values.__getitem__)
        token = self.valued.tokens[lowest]
        after = token.strip() or ("↵" if "\n" in token else "a space")
        return (
            f"Value {values[0]:.2f} at first, lowest {values[lowest]:.2f} after “{after}” (token "
            f"{lowest + 1} of {len(values)}), {values[-1]:.2f} at last."
        )


def heatmap(runs: Sequence[Judged]) -> str:
    """Return the page; raises InputError if no completion has values."""
    shown = list(_all(runs))
    if not shown:
        names = ", ".join(repr(judged.name) for judged in runs)
        raise InputError(
            f"no completion of {names} has a verifier's values; write them with "
            "`gradeschool verifier score --tokens`"
        )
    several = len(runs) > 1
    values = sorted(value for item in shown for value in item.valued.values)
    edge = len(values) // OUTSIDE
    return render(
        "heatmap.html",
        runs[0].name if not several else f"{len(runs)} runs",
        "A verifier’s value, token by token",
        several=several,
        total=len(shown),
        verifiers=list(dict.fromkeys(item.valued.verifier for item in shown)),
        medians=_medians(shown),
        low=values[edge],
        high=values[-1 - edge],
        kinds=list(_kinds(shown)),
    )


def _all(runs: Sequence[Judged]) -> Iterator[ValuedSolution]:
    for judged in runs:
        for each in judged.completions:
            if each.valued is not None and each.outcome != ERROR:
                correct = each.outcome == CORRECT
                yield ValuedSolution(judged.name, each.problem, each.sample, correct, each.valued)


def _kinds(shown: Sequence[ValuedSolution]) -> Iterator[tuple[str, list[ValuedSolution]]]:
    """Yield the four kinds with their clearest solutions; the median score divides them."""
    middle = median(item.valued.score for item in shown)
    high = [item for item in shown if item.valued.score >= middle]
    low = [item for item in shown if item.valued.score < middle]
    yield "Correct, scored high", _clearest(high, True, -1)
    yield "Not correct, scored high", _clearest(high, False, -1)
    yield "Correct, scored low", _clearest(low, True, 1)
    yield "Not correct, scored low", _clearest(low, False, 1)


def _clearest(shown: Sequence[ValuedSolution], correct: bool, sign: int) -> list[ValuedSolution]:
    """Return the EACH clearest solutions, preferring different problems."""
    ordered = sorted(
        (item for item in shown if item.correct is correct),
        key=lambda item: sign * item.valued.score,
    )
    shown_texts: defaultdict[str, set[str]] = defaultdict(set)
    turns: list[tuple[int, ValuedSolution]] = []
    for item in ordered:
        texts = shown_texts[item.problem.id]
        if item.sample.text not in texts:
            turns.append((len(texts), item))
            texts.add(item.sample.text)
    return [item for _, item in sorted(turns, key=lambda turn: turn[0])[:EACH]]


def _medians(shown: Sequence[ValuedSolution]) -> list[str]:
    parts = []
    for words, target in (("correct", True), ("not correct", False)):
        scores = [item.valued.score for item in shown if item.correct is target]
        if scores:
            parts.append(f"{median(scores):.2f} of {len(scores):,} {words}")
    return parts
