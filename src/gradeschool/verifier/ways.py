"""The ways to pick one answer out of a problem's completions, and what each makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from gradeschool.scoring.at_k import pass_at_k
from gradeschool.verifier.picking import Option, best_of, votes

VOTERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 64, 80, 100, 128, 200, 256, 400)
MEAN, MAJORITY, COVERAGE, BEST = "mean", "majority", "coverage", "best"
# name -> the words that tables print, and what it needs.
STRATEGIES = {
    MEAN: "one completion (mean test@1)",
    MAJORITY: "majority vote",
    BEST: "best by verifier",
    "top": "vote of the verifier's top {voters}",
    "weighted": "verifier-weighted vote",
    "frequency": "score + {favour} x answer's share",
    "logprob": "best by mean logprob",
    "sum": "best by summed logprob",
    COVERAGE: "any right (coverage)",
}
SCORES: dict[str, Callable[[Option], float]] = {
    "verifier": lambda option: option.score,
    "logprob": lambda option: option.logprob,
    "sum": lambda option: option.logprob * option.tokens,
}


@dataclass(frozen=True, slots=True)
class Ways:
    """How completions are picked: the choices that are the user's.

    voters: k of the headline's vote among the top k. favour: what the share of an answer counts
    beside the score. draws: random subsets a problem, for votes among fewer than all.
    """

    voters: int = 5
    favour: float = 0.2
    draws: int = 20
    seed: int = 0


class Case(NamedTuple):
    """A problem with its completions, in the order of their numbers, and its family.

    unique: how many different texts its completions are.
    """

    problem: str
    family: str
    options: Sequence[Option]
    unique: int = 0


class Picked(NamedTuple):
    """One problem: by way, how likely it is right for each number of completions it has.

    ns: those numbers, all of its completions last. top: for each n, for each number of voters.
    """

    case: Case
    ns: Sequence[int]
    by_way: Mapping[str, Sequence[float]]
    top: Sequence[Sequence[float]]


def pick(case: Case, has_logprob: bool, ways: Ways, ns: Sequence[int]) -> Picked:
    """Return what every way makes of one problem."""
    options = case.options
    count = len(options)
    asked = sorted({n for n in ns if n < count} | {count})
    voters = _voters(count, ways)
    source = Random(f"{ways.seed} {case.problem}")  # noqa: S311  (statistics, no secret)
    cast = votes(options, asked, voters, favour=ways.favour, draws=ways.draws, source=source)
    right = sum(one.right for one in options)
    by_way: dict[str, Sequence[float]] = {
        MEAN: [right / count] * len(asked),
        MAJORITY: cast.majority,
        BEST: [best_of(options, [one.score for one in options], n) for n in asked],
        "top": [
            held[sum(k <= min(ways.voters, n) for k in voters) - 1]
            for n, held in zip(asked, cast.top, strict=True)
        ],
        "weighted": cast.weighted,
        "frequency": cast.frequency,
    }
    if has_logprob:
        for name in ("logprob", "sum"):
            scores = [SCORES[name](one) for one in options]
            by_way[name] = [best_of(options, scores, n) for n in asked]
    by_way[COVERAGE] = [float(pass_at_k(count, right, n)) for n in asked]
    return Picked(case, asked, by_way, cast.top)


def _voters(count: int, ways: Ways) -> list[int]:
    return sorted({k for k in (*VOTERS, ways.voters) if k < count} | {count})
