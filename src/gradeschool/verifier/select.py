"""Select one answer from many completions of a problem: by rank, by vote, or both.

For fewer completions than a problem has, a result is the mean over subsets: over all of them for
the best by a score, which has a closed form, over random ones for votes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb, exp
from random import Random
from statistics import NormalDist
from typing import NamedTuple

from gradeschool.errors import InputError
from gradeschool.scoring.at_k import pass_at_k, steps
from gradeschool.scoring.statistics import Interval, interval_of_mean, wilson_of_mean

NO_ANSWER = -1
LEAST_WEIGHT = 1e-300  # for a vote whose score is not above 0, below every other vote's
LEAST_ODDS = 1e-3  # a probability is at least this far from 0 and 1
SHARE_WEIGHTS = (0.0, 0.1, 0.2, 0.5, 1.0)
VOTERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 64, 80, 100, 128, 200, 256, 400)
MEAN, MAJORITY, COVERAGE, BEST = "mean", "majority", "coverage", "best"
# name -> its title in tables
STRATEGIES = {
    MEAN: "one completion (mean test@1)",
    MAJORITY: "majority vote",
    BEST: "best by verifier",
    "top": "vote of the verifier's top {voters}",
    "weighted": "verifier-weighted vote",
    "odds": "odds-weighted vote, p/(1-p)",
    "frequency": "score + {share_weight} x answer's share",
    "logprob": "best by mean logprob",
    "sum": "best by summed logprob",
    "probable": "vote weighted by exp(mean logprob)",
    COVERAGE: "any right (coverage)",
}


class Option(NamedTuple):
    """One completion of a problem.

    answer: as the scorer compares it; None if there is none, in which case the completion does not
    vote. score: of the verifier. logprob: the mean over `tokens` tokens under the generator.
    """

    answer: str | None
    right: bool
    score: float = 0.0
    logprob: float = 0.0
    tokens: int = 0


def _odds(option: Option) -> float:
    share = min(max(option.score, LEAST_ODDS), 1 - LEAST_ODDS)
    return share / (1 - share)


SCORES: dict[str, Callable[[Option], float]] = {
    "verifier": lambda option: option.score,
    "logprob": lambda option: option.logprob,
    "sum": lambda option: option.logprob * option.tokens,
}
# The weight of a completion's vote.
WEIGHTS: dict[str, Callable[[Option], float]] = {
    MAJORITY: lambda option: 1.0,
    "weighted": lambda option: option.score if option.score > 0 else LEAST_WEIGHT,
    "odds": _odds,
    "probable": lambda option: exp(option.logprob),
}
BY_LOGPROB = frozenset({"logprob", "sum", "probable"})  # need log-probabilities


@dataclass(frozen=True, slots=True)
class SelectionSettings:
    """How answers are selected.

    voters: k of the headline's vote among the top k. share_weight: of an answer's share beside the
    score. draws: random subsets per problem, for votes among fewer than all.
    """

    voters: int = 5
    share_weight: float = 0.2
    draws: int = 20
    seed: int = 0


class RankedProblem(NamedTuple):
    """A problem with its completions, in the order of their numbers, and its family.

    unique: number of distinct texts. question: "" if unknown.
    """

    problem: str
    family: str
    options: Sequence[Option]
    unique: int = 0
    question: str = ""


class ProblemResult(NamedTuple):
    """One problem: by strategy, the probability of a right answer for each number of completions.

    ns: those numbers; the last is all of its completions. top: for each n, for each number of
    `voters` up to n.
    """

    case: RankedProblem
    ns: Sequence[int]
    by_strategy: Mapping[str, Sequence[float]]
    top: Sequence[Sequence[float]]
    voters: Sequence[int]


def strategy_title(name: str, voters: int, share_weight: float) -> str:
    """Return the title of a selection strategy with these settings."""
    return STRATEGIES[name].format(voters=voters, share_weight=f"{share_weight:g}")


def pick(
    case: RankedProblem, has_logprob: bool, settings: SelectionSettings, ns: Sequence[int]
) -> ProblemResult:
    """Return the results of every strategy on one problem.

    A vote goes to the answer with the largest sum of weights; a tie to the answer seen first, among
    the verifier's best k to the one with the highest score. Votes of all subsets are over the same
    random subsets.
    """
    options, count = case.options, len(case.options)
    sizes = sorted({n for n in ns if n < count} | {count})
    voters = sorted({k for k in (*VOTERS, settings.voters) if k < count} | {count})
    source = Random(f"{settings.seed} {case.problem}")  # noqa: S311  (statistics, no secret)
    numbers: dict[str, int] = {}
    for option in options:
        if option.answer is not None:
            numbers.setdefault(option.answer, len(numbers))
    answers = [NO_ANSWER if option.answer is None else numbers[option.answer]
               for option in options]  # fmt: skip
    right = {number: option.right for number, option in zip(answers, options, strict=True)}
    right[NO_ANSWER] = False
    votes = {name: [weigh(option) for option in options] for name, weigh in WEIGHTS.items()
             if has_logprob or name not in BY_LOGPROB}  # fmt: skip
    by_rank = sorted(range(count), key=lambda index: -options[index].score)
    ranks = {index: rank for rank, index in enumerate(by_rank)}
    everyone = list(range(count))
    orders = [source.sample(everyone, count) for _ in range(settings.draws)]
    by_strategy: dict[str, list[float]] = {name: [] for name in (*votes, "frequency", "top")}
    top: list[list[float]] = []
    for n in sizes:
        drawn = [order[:n] for order in orders]
        if n in (1, count):
            drawn = [everyone] if n == count else [[index] for index in everyone]
        for name, weights in votes.items():
            won = [right[_winner(answers, weights, chosen)] for chosen in drawn]
            by_strategy[name].append(sum(won) / len(won))
        won = [right[_frequent(answers, options, chosen, settings.share_weight)]
               for chosen in drawn]  # fmt: skip
        by_strategy["frequency"].append(sum(won) / len(won))
        seats = [k for k in voters if k <= n]
        ranked = [[by_rank[rank] for rank in sorted(ranks[index] for index in chosen)]
                  for chosen in drawn]  # fmt: skip
        top.append([
            sum(right[_winner(answers, votes[MAJORITY], best[:k])] for best in ranked) / len(ranked)
            for k in seats
        ])  # fmt: skip
        by_strategy["top"].append(top[-1][sum(k <= min(settings.voters, n) for k in voters) - 1])
    correct = sum(option.right for option in options)
    by_strategy[MEAN] = [correct / count] * len(sizes)
    for name, score in SCORES.items():
        if has_logprob or name not in BY_LOGPROB:
            scores = [score(option) for option in options]
            named = BEST if name == "verifier" else name
            by_strategy[named] = [best_of(options, scores, n) for n in sizes]
    by_strategy[COVERAGE] = [float(pass_at_k(count, correct, n)) for n in sizes]
    ordered = {name: by_strategy[name] for name in STRATEGIES if name in by_strategy}
    return ProblemResult(case, sizes, ordered, top, voters)


def _winner(answers: Sequence[int], weights: Sequence[float], chosen: Sequence[int]) -> int:
    sums: dict[int, float] = {}
    for index in chosen:
        if answers[index] != NO_ANSWER:
            sums[answers[index]] = sums.get(answers[index], 0.0) + weights[index]
    return max(sums, key=sums.__getitem__, default=NO_ANSWER)  # the first of equals


def _frequent(
    answers: Sequence[int], options: Sequence[Option], chosen: Sequence[int], share_weight: float
) -> int:
    """Return the answer with the highest score + `share_weight` x its share of the votes."""
    counts: dict[int, int] = {}
    best: dict[int, float] = {}
    for index in chosen:
        answer, score = answers[index], options[index].score
        counts[answer] = counts.get(answer, 0) + (answer != NO_ANSWER)
        best[answer] = max(best.get(answer, score), score)
    return max(best, key=lambda answer: best[answer] + share_weight * counts[answer] / len(chosen))


@lru_cache(256)
def rank_weights(count: int, n: int) -> tuple[float, ...]:
    """Return the probability of each rank of `count` to be the best of n, drawn without repeats."""
    return tuple(comb(count - 1 - rank, n - 1) / comb(count, n) for rank in range(count))


def best_of(options: Sequence[Option], scores: Sequence[float], n: int) -> float:
    """Return the probability that the best by these scores is right, over all subsets of n.

    For equal scores, the earlier completion is the better one.
    """
    order = sorted(range(len(options)), key=lambda index: -scores[index])
    weights = rank_weights(len(options), n)
    return sum(weights[rank] for rank, index in enumerate(order) if options[index].right)


# AUC


class WithinAuc(NamedTuple):
    """The mean AUC of the problems with right and wrong completions, and their number."""

    auc: float | None
    ci95: Interval | None
    problems: int


def auc(scores: Sequence[float], right: Sequence[bool]) -> float | None:
    """Return the probability that a right completion scores above a wrong one; ties count half.

    The Mann-Whitney statistic over the number of pairs; None if there are no pairs.
    """
    positives = sum(right)
    negatives = len(right) - positives
    if not positives or not negatives:
        return None
    order = sorted(range(len(scores)), key=scores.__getitem__)
    ranks = 0.0  # of right completions; ties share the mean rank
    start = 0
    while start < len(order):
        end = start + 1
        while end < len(order) and scores[order[end]] == scores[order[start]]:
            end += 1
        ranks += sum(right[index] for index in order[start:end]) * (start + 1 + end) / 2
        start = end
    return (ranks - positives * (positives + 1) / 2) / (positives * negatives)


def within(problems: Sequence[tuple[Sequence[float], Sequence[bool]]]) -> WithinAuc:
    """Return the mean AUC of problems, each (scores, right), without problems that have no AUC."""
    aucs = [value for scores, right in problems if (value := auc(scores, right)) is not None]
    if not aucs:
        return WithinAuc(None, None, 0)
    mean = sum(aucs) / len(aucs)
    if len(aucs) == 1:
        return WithinAuc(mean, Interval(0.0, 1.0), 1)
    return WithinAuc(mean, interval_of_mean(aucs, 0.0), len(aucs))


def break_even_auc(cases: Sequence[RankedProblem]) -> float | None:
    """Return the AUC within problems at which the best of all completions equals the majority vote.

    Of a selector whose scores are normal, with one distance between right and wrong completions in
    all problems. None if the majority is right more often than any selector can be.
    """
    plain = SelectionSettings(draws=1)
    majority = 0.0
    counts: dict[tuple[int, int], int] = {}
    for case in cases:
        size = len(case.options)
        majority += pick(case, False, plain, [size]).by_strategy[MAJORITY][-1]
        right = sum(option.right for option in case.options)
        counts[right, size] = counts.get((right, size), 0) + 1
    normal = NormalDist()
    step = 0.1
    places = [step * place for place in range(-50, 130)]
    below = [normal.cdf(place) for place in places]

    def best(distance: float) -> float:
        shifted = [(normal.pdf(place - distance), normal.cdf(place - distance)) for place in places]
        total = 0.0
        for (right, size), problems in counts.items():
            if right == size:
                total += problems
            elif right:
                total += problems * sum(
                    right * density * share ** (right - 1) * low ** (size - right) * step
                    for (density, share), low in zip(shifted, below, strict=True)
                )
        return total

    low, high = 0.0, 6.0
    if best(high) <= majority:
        return None
    if best(low) >= majority:
        return 0.5
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if best(middle) >= majority else (middle, high)
    return normal.cdf(high / 2**0.5)


# Curves


class CurvePoint(NamedTuple):
    """One point of a curve.

    n: number of completions, or of voters. gain: accuracy minus that of the majority vote of as
    many completions, problem by problem.
    """

    n: int
    problems: int
    accuracy: float
    ci95: Interval
    gain: float
    gain_ci95: Interval


def point(n: int, values: Sequence[float], base: Sequence[float], groups: int) -> CurvePoint:
    """Return the point for one value per problem, each an expectation in 0..1.

    base: values to compare with, problem by problem. groups: number of disjoint sets of completions
    over which a problem's value is a mean.
    """
    count = len(values)
    gains = [value - other for value, other in zip(values, base, strict=True)]
    return CurvePoint(
        n=n,
        problems=count,
        accuracy=sum(values) / count,
        ci95=wilson_of_mean(values, count * groups),
        gain=sum(gains) / count,
        gain_ci95=interval_of_mean(gains, -1.0),
    )


def measure_curves(picked: Sequence[ProblemResult], most: int) -> dict[str, list[CurvePoint]]:
    """Return the points of every strategy; a problem counts up to its number of completions."""
    points: dict[str, list[CurvePoint]] = {}
    for name in picked[0].by_strategy:
        for n in steps(most):
            enough = [(outcome, outcome.ns.index(n)) for outcome in picked if n in outcome.ns]
            values = [outcome.by_strategy[name][place] for outcome, place in enough]
            base = [outcome.by_strategy[MAJORITY][place] for outcome, place in enough]
            groups = most if name == MEAN else max(1, most // n)  # MEAN is over all at every n
            points.setdefault(name, []).append(point(n, values, base, groups))
    return points


def measure_voter_curves(picked: Sequence[ProblemResult], most: int) -> dict[int, list[CurvePoint]]:
    """Return the points over the numbers of voters for each number of completions."""
    points: dict[int, list[CurvePoint]] = {}
    for n in steps(most):
        enough = [(outcome, outcome.ns.index(n)) for outcome in picked if n in outcome.ns]
        tops = [outcome.top[place] for outcome, place in enough]
        base = [outcome.by_strategy[MAJORITY][place] for outcome, place in enough]
        ks = min(([k for k in outcome.voters if k <= n] for outcome, _ in enough), key=len)
        points[n] = [
            point(k, [top[index] for top in tops], base, max(1, most // n))
            for index, k in enumerate(ks)
        ]
    return points


# The choice on a development run


class ChosenStrategy(NamedTuple):
    """A strategy with its settings, and its accuracy on the development and the reported run.

    n: completions per problem. voters: 0 for no vote among the top.
    """

    strategy: str
    n: int
    voters: int
    share_weight: float
    development: CurvePoint
    reported: CurvePoint


def choose_strategy(
    development: Sequence[RankedProblem],
    reported: Sequence[RankedProblem],
    *,
    has_logprob: bool,
    settings: SelectionSettings,
) -> ChosenStrategy:
    """Choose strategy, completions, voters and share weight on one run, and measure on another.

    The highest accuracy wins; among equals, the one with fewer completions. Only numbers of
    completions that all development problems have are compared, and outcomes of the reported run
    are not used. Raises InputError if the runs share a problem.
    """
    questions = {case.question for case in development} - {""}
    if shared := [case for case in reported if case.question in questions]:
        raise InputError(
            f"{len(shared)} problems of the reported run are also in the development run "
            f"(such as {shared[0].problem!r}); give a run on other problems with --dev"
        )
    most = min(max(len(case.options) for case in each) for each in (development, reported))

    def measure(
        cases: Sequence[RankedProblem], share_weight: float, voters: int
    ) -> dict[tuple[str, int, int], CurvePoint]:
        """Return the points of every strategy by (strategy, completions, voters)."""
        changed = replace(settings, share_weight=share_weight, voters=voters or settings.voters)
        picked = [pick(case, has_logprob, changed, steps(most)) for case in cases if case.options]
        found = {(name, each.n, 0): each for name, points in measure_curves(picked, most).items()
                 for each in points if name not in (MEAN, COVERAGE, "top")}  # fmt: skip
        return found | {("top", n, each.n): each
                        for n, points in measure_voter_curves(picked, most).items()
                        for each in points}  # fmt: skip

    all_cases = sum(bool(case.options) for case in development)
    best: tuple[tuple[float, int], tuple[str, int, int], float, CurvePoint] | None = None
    for weight in sorted({settings.share_weight, *SHARE_WEIGHTS}):
        for key, each in measure(development, weight, 0).items():
            rank = (each.accuracy, -each.n)
            if each.problems == all_cases and (best is None or rank > best[0]):
                best = (rank, key, weight if key[0] == "frequency" else 0.0, each)
    if best is None:
        raise InputError("the development run has no completions; give another with --dev")
    _, (name, n, voters), weight, found = best
    measured = measure(reported, weight, voters)[name, n, voters]
    return ChosenStrategy(name, n, voters, weight, found, measured)
