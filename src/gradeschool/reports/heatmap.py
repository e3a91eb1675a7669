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
from gradeschool.reports.report import Judged, TokenValues
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
        """Return each token, the value after it, and its colour: 0 for low to BINS for high."""
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
    edge, middle = len(values) // OUTSIDE, median(item.valued.score for item in shown)
    medians, kinds = [], []
    for words, target in (("correct", True), ("not correct", False)):
        some = sorted((item for item in shown if item.correct is target),
                      key=lambda item: item.valued.score)  # fmt: skip
        if some:
            medians.append(f"{median(item.valued.score for item in some):.2f} of {len(some):,} "
                           f"{words}")  # fmt: skip
        falling = sorted(some, key=lambda item: -item.valued.score)
        high = [item for item in falling if item.valued.score >= middle]
        low = [item for item in some if item.valued.score < middle]
        for level, clearest in (("high", high), ("low", low)):
            texts: dict[str, dict[str, ValuedSolution]] = {}  # by problem
            for item in clearest:
                texts.setdefault(item.problem.id, {}).setdefault(item.sample.text, item)
            turns = sorted(
                (turn, place, item) for place, of in enumerate(texts.values())
                for turn, item in enumerate(of.values())
            )  # fmt: skip
            kinds.append((f"{words.capitalize()}, scored {level}",
                          [item for *_, item in turns[:EACH]]))  # fmt: skip
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
