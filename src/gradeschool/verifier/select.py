"""Select one answer from many completions of a problem: by rank, by vote, or both.

For fewer completions than a problem has, a result is the mean over subsets: over all of them for
the best by a score, which has a closed form, over random ones for votes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
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

LEAST_WEIGHT = 1e-300  # for a vote whose score is not above 0, below every other vote's
LEAST_ODDS = 1e-3  # a probability is at least this far from 0 and 1
SHARE_WEIGHTS = (0.0, 0.1, 0.2, 0.5, 1.0)
VOTERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 64, 80, 100, 128, 200, 256, 400)
MEAN, MAJORITY, COVERAGE, BEST = "mean", "majority", "coverage", "best"
TOP, SHARE, LOGPROB, VERIFIER = "top", "frequency", "logprob", "verifier"
# name -> its title, and its heading in narrow columns
STRATEGIES = {
    MEAN: ("one completion (mean test@1)", "one"),
    MAJORITY: ("majority vote", "majority"),
    BEST: ("best by verifier", "best"),
    TOP: ("vote of the verifier's top {voters}", "top {voters}"),
    "weighted": ("verifier-weighted vote", "weighted"),
    "odds": ("odds-weighted vote, p/(1-p)", "odds"),
    SHARE: ("score + {share_weight} x answer's share", "+ share"),
    LOGPROB: ("best by mean logprob", "logprob"),
    "probable": ("vote weighted by exp(mean logprob)", "p vote"),
    COVERAGE: ("any right (coverage)", "any"),
}


class Option(NamedTuple):
    """One completion of a problem.

    answer: as the scorer compares it; None if there is none, in which case the completion does not
    vote. score: of the verifier. logprob: the mean over its tokens under the generator.
    """

    answer: str | None
    right: bool
    score: float = 0.0
    logprob: float = 0.0


def _odds(option: Option) -> float:
    share = min(max(option.score, LEAST_ODDS), 1 - LEAST_ODDS)
    return share / (1 - share)


# What completions are ordered by.
SCORES: dict[str, Callable[[Option], float]] = {
    VERIFIER: lambda option: option.score,
    LOGPROB: lambda option: option.logprob,
}
# The weight of a completion's vote.
WEIGHTS: dict[str, Callable[[Option], float]] = {
    MAJORITY: lambda option: 1.0,
    "weighted": lambda option: option.score if option.score > 0 else LEAST_WEIGHT,
    "odds": _odds,
    "probable": lambda option: exp(option.logprob),
}
BY_LOGPROB = (LOGPROB, "probable")  # need log-probabilities


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

    def title(self, strategy: str, short: bool = False) -> str:
        """Return the title of a strategy with these settings; short: for narrow columns."""
        share_weight = f"{self.share_weight:g}"
        return STRATEGIES[strategy][short].format(voters=self.voters, share_weight=share_weight)


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
    everyone = list(range(count))
    orders = [source.sample(everyone, count) for _ in range(settings.draws)]
    answers = [option.answer for option in options]
    right = {option.answer: option.right for option in options} | {None: False}
    votes = {name: [weigh(option) for option in options] for name, weigh in WEIGHTS.items()
             if has_logprob or name not in BY_LOGPROB}  # fmt: skip
    by_rank = sorted(everyone, key=lambda index: -options[index].score)
    ranks = {index: rank for rank, index in enumerate(by_rank)}

    def share(chosen: Sequence[str | None]) -> float:
        return sum(right[answer] for answer in chosen) / len(chosen)

    found: dict[str, list[float]] = {name: [] for name in (*votes, SHARE, TOP)}
    top: list[list[float]] = []
    for n in sizes:
        drawn = [order[:n] for order in orders]
        if n in (1, count):
            drawn = [everyone] if n == count else [[index] for index in everyone]
        for name, weights in votes.items():
            found[name].append(share([_elect(answers, weights, chosen) for chosen in drawn]))
        found[SHARE].append(share([_find_frequent(options, chosen, settings.share_weight)
                                   for chosen in drawn]))  # fmt: skip
        ranked = [sorted(chosen, key=ranks.__getitem__) for chosen in drawn]
        top.append([
            share([_elect(answers, votes[MAJORITY], best[:k]) for best in ranked])
            for k in voters if k <= n
        ])  # fmt: skip
        found[TOP].append(top[-1][bisect_right(voters, min(settings.voters, n)) - 1])
    correct = sum(option.right for option in options)
    found[MEAN] = [correct / count] * len(sizes)
    found[COVERAGE] = [float(pass_at_k(count, correct, n)) for n in sizes]
    for name, score in SCORES.items():
        if has_logprob or name not in BY_LOGPROB:
            scores = [score(option) for option in options]
            by_score = BEST if name == VERIFIER else name
            found[by_score] = [best_of(options, scores, n) for n in sizes]
    ordered = {name: found[name] for name in STRATEGIES if name in found}
    return ProblemResult(case, sizes, ordered, top, voters)


def _elect(
    answers: Sequence[str | None], weights: Sequence[float], chosen: Sequence[int]
) -> str | None:
    """Return the answer with the largest sum of weights, the first of equals; None without any."""
    sums: dict[str, float] = {}
    for index in chosen:
        if (answer := answers[index]) is not None:
            sums[answer] = sums.get(answer, 0.0) + weights[index]
    return max(sums, key=sums.__getitem__, default=None)


def _find_frequent(
    options: Sequence[Option], chosen: Sequence[int], share_weight: float
) -> str | None:
    """Return the answer with the highest score + `share_weight` x its share of the votes."""
    counts = Counter(options[index].answer for index in chosen)
    counts[None] = 0
    best: dict[str | None, float] = {}
    for index in chosen:
        answer, score = options[index].answer, options[index].score
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


class ScoreAuc(NamedTuple):
    """The AUC of a score: over all completions, and the mean within `problems` that have one."""

    overall: float | None
    within: float | None
    within_ci95: Interval | None
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


def measure_auc(problems: Sequence[tuple[Sequence[float], Sequence[bool]]]) -> ScoreAuc:
    """Return the AUC of the scores of problems, each (scores, right)."""
    overall = auc([score for scores, _ in problems for score in scores],
                  [label for _, labels in problems for label in labels])  # fmt: skip
    aucs = [value for scores, right in problems if (value := auc(scores, right)) is not None]
    if not aucs:
        return ScoreAuc(overall, None, None, 0)
    interval = Interval(0.0, 1.0) if len(aucs) == 1 else interval_of_mean(aucs, 0.0)
    return ScoreAuc(overall, sum(aucs) / len(aucs), interval, len(aucs))


def auc_of_cases(name: str, cases: Sequence[RankedProblem]) -> ScoreAuc:
    """Return the AUC of a score in SCORES."""
    score = SCORES[name]
    return measure_auc([([score(option) for option in case.options],
                         [option.right for option in case.options]) for case in cases])  # fmt: skip


def break_even_auc(cases: Sequence[RankedProblem]) -> float | None:
    """Return the AUC within problems at which the best of all completions equals the majority vote.

    Of a selector whose scores are normal, with one distance between right and wrong completions in
    all problems. None if the majority is right more often than any selector can be.
    """
    majority = 0.0
    counts: Counter[tuple[int, int]] = Counter()  # problems by right and all completions
    for case in cases:
        answers, every = [option.answer for option in case.options], range(len(case.options))
        winner = _elect(answers, [1.0] * len(answers), every)
        majority += any(option.right for option in case.options
                        if option.answer == winner is not None)  # fmt: skip
        counts[sum(option.right for option in case.options), len(answers)] += 1
    normal, step = NormalDist(), 0.1
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


def _point(n: int, values: Sequence[float], base: Sequence[float], groups: int) -> CurvePoint:
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


def measure_curves(
    picked: Sequence[ProblemResult], most: int
) -> tuple[dict[str, list[CurvePoint]], dict[int, list[CurvePoint]]]:
    """Return the points of every strategy, and by numbers of completions those over the voters.

    A problem counts up to its number of completions.
    """
    curves: dict[str, list[CurvePoint]] = {name: [] for name in picked[0].by_strategy}
    by_voters: dict[int, list[CurvePoint]] = {}
    for n in steps(most):
        enough = [(outcome, outcome.ns.index(n)) for outcome in picked if n in outcome.ns]
        base = [outcome.by_strategy[MAJORITY][place] for outcome, place in enough]
        groups = max(1, most // n)
        for name, points in curves.items():
            values = [outcome.by_strategy[name][place] for outcome, place in enough]
            points.append(_point(n, values, base, most if name == MEAN else groups))
        tops = [outcome.top[place] for outcome, place in enough]
        seats = min(([k for k in outcome.voters if k <= n] for outcome, _ in enough), key=len)
        by_voters[n] = [_point(k, [top[index] for top in tops], base, groups)
                        for index, k in enumerate(seats)]  # fmt: skip
    return curves, by_voters


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
        curves, by_voters = measure_curves(picked, most)
        found = {(name, each.n, 0): each for name, points in curves.items() for each in points
                 if name not in (MEAN, COVERAGE, TOP)}  # fmt: skip
        return found | {(TOP, n, each.n): each for n, points in by_voters.items()
                        for each in points}  # fmt: skip

    all_cases = sum(bool(case.options) for case in development)
    best: tuple[tuple[float, int], tuple[str, int, int], float, CurvePoint] | None = None
    for weight in sorted({settings.share_weight, *SHARE_WEIGHTS}):
        for key, each in measure(development, weight, 0).items():
            rank = (each.accuracy, -each.n)
            if each.problems == all_cases and (best is None or rank > best[0]):
                best = (rank, key, weight if key[0] == SHARE else 0.0, each)
    if best is None:
        raise InputError("the development run has no completions; give another with --dev")
    _, (name, n, voters), weight, found = best
    measured = measure(reported, weight, voters)[name, n, voters]
    return ChosenStrategy(name, n, voters, weight, found, measured)
