"""A page with a verifier's values token by token, as in appendix F of Cobbe et al. 2021.

It shows correct and wrong solutions that the verifier scores high, and correct and wrong ones that
it scores low. The report's explorer has every completion with values.
"""

from __future__ import annotations

from collections.abc import Sequence
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
        """Return each token, the value after it, and its colour: 0 for low to BINS for high.

        Values outside of these have the last colours.
        """
        width = max(high - low, 1e-9)
        return [
            (token, value, round(BINS * min(max((value - low) / width, 0.0), 1.0)))
            for token, value in zip(self.valued.tokens, self.valued.values, strict=True)
        ]

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
    shown = [
        ValuedSolution(judged.name, each.problem, each.sample, each.outcome == CORRECT, each.valued)
        for judged in runs
        for each in judged.completions
        if each.valued is not None and each.outcome != ERROR
    ]
    if not shown:
        names = ", ".join(repr(judged.name) for judged in runs)
        raise InputError(
            f"no completion of {names} has a verifier's values; write them with "
            "`gradeschool verifier score --tokens`"
        )
    values = sorted(value for item in shown for value in item.valued.values)
    edge = len(values) // OUTSIDE
    middle = median(item.valued.score for item in shown)
    medians, kinds = [], []
    for words, target in (("correct", True), ("not correct", False)):
        some = [item for item in shown if item.correct is target]
        if some:
            score = median(item.valued.score for item in some)
            medians.append(f"{score:.2f} of {len(some):,} {words}")
        high = [item for item in some if item.valued.score >= middle]
        low = [item for item in some if item.valued.score < middle]
        kinds.append((f"{words.capitalize()}, scored high", _clearest(high, -1)))
        kinds.append((f"{words.capitalize()}, scored low", _clearest(low, 1)))
    return render(
        "heatmap.html",
        runs[0].name if len(runs) == 1 else f"{len(runs)} runs",
        "A verifier’s value, token by token",
        several=len(runs) > 1,
        total=len(shown),
        verifiers=list(dict.fromkeys(item.valued.verifier for item in shown)),
        medians=medians,
        low=values[edge],
        high=values[-1 - edge],
        kinds=kinds,
    )


def _clearest(shown: Sequence[ValuedSolution], sign: int) -> list[ValuedSolution]:
    """Return the EACH solutions with the clearest scores, of different problems if possible."""
    texts: dict[str, set[str]] = {}  # by problem
    turns: list[tuple[int, ValuedSolution]] = []
    for item in sorted(shown, key=lambda item: sign * item.valued.score):
        known = texts.setdefault(item.problem.id, set())
        if item.sample.text not in known:
            turns.append((len(known), item))
            known.add(item.sample.text)
    return [item for _, item in sorted(turns, key=lambda turn: turn[0])[:EACH]]
