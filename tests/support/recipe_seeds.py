"""A seed of a recipe whose verifier is right everywhere or nowhere."""

from __future__ import annotations

from gradeschool.verifier.reproduce.findings import SELECTION, Seed
from gradeschool.verifier.selection import Option, RankedProblem, pick

PROBLEMS = 60


def seed(good: bool, solved: int) -> Seed:
    """One seed: of four completions the last is right; the verifier knows it, or prefers another.

    solved: how many problems the baseline's greedy answer solves; the control solves all.
    """
    cases = []
    for number in range(PROBLEMS):
        scores = (0.1, 0.2, 0.3, 0.9) if good else (0.9, 0.2, 0.3, 0.1)
        options = [
            Option(str(index if index == 3 else 0), index == 3, score, -score, 5)
            for index, score in enumerate(scores)
        ]
        cases.append(RankedProblem(str(number), "ages" if number % 2 else "trips", options, 4))
    greedy = {
        "generator": {str(number): (int(number < solved), 1) for number in range(PROBLEMS)},
        "control": {str(number): (1, 1) for number in range(PROBLEMS)},
    }
    return Seed([pick(case, True, SELECTION, (1, 2, 4)) for case in cases], greedy, True)
