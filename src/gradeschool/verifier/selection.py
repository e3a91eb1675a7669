"""Select one answer from many completions of a problem: by rank, by vote, or both.

Every function takes the completions of one problem and returns the probability that the selected
answer is right. For fewer completions, it is the mean over subsets: over all of them if there is a
closed form (the best by a score), over random ones for votes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from random import Random
from typing import NamedTuple

from gradeschool.scoring.at_k import pass_at_k

NO_ANSWER = -1
LEAST_WEIGHT = 1e-300  # for a vote whose score is not above 0, below every other vote's


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


class Votes(NamedTuple):
    """The probabilities that votes among n completions are right; lists are over the requested ns.

    top: for each n, over the numbers of voters up to n.
    """

    majority: list[float]
    weighted: list[float]
    frequency: list[float]
    top: list[list[float]]


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


def votes(
    options: Sequence[Option],
    ns: Sequence[int],
    voters: Sequence[int],
    *,
    share_weight: float,
    draws: int,
    source: Random,
) -> Votes:
    """Return the votes among n of the completions.

    majority: the most frequent answer. weighted: the answer with the highest sum of scores.
    frequency: the answer with the highest score + `share_weight` x its share of the votes.
    top: the majority among the best k by score, for each k of `voters`. Ties go to the first answer
    in the order of the samples, among the best k in the order of scores. All completions give one
    vote; for fewer, the mean over `draws` random subsets is taken, the same ones for every kind of
    vote.
    """
    table = _vote_table(options)
    everyone = list(range(len(options)))
    result = Votes([], [], [], [])
    orders = [source.sample(everyone, len(everyone)) for _ in range(draws)]
    for n in ns:
        drawn = _subsets(everyone, orders, n)
        counts = [k for k in voters if k <= n]
        tops = [_top(table, chosen, counts) for chosen in drawn]
        result.majority.append(_mean([table.right[_majority(table, chosen)] for chosen in drawn]))
        result.weighted.append(_mean([table.right[_weighted(table, chosen)] for chosen in drawn]))
        result.frequency.append(
            _mean([table.right[_frequent(table, chosen, share_weight)] for chosen in drawn])
        )
        result.top.append([_mean([top[index] for top in tops]) for index in range(len(counts))])
    return result


class _VoteTable(NamedTuple):
    """Arrays by completion: index of its answer, score, rank; and whether each answer is right."""

    answers: list[int]
    scores: list[float]
    ranks: list[int]
    by_rank: list[int]
    right: list[bool]  # by answer index; the last is for no answer


def _vote_table(options: Sequence[Option]) -> _VoteTable:
    numbers: dict[str, int] = {}
    right: list[bool] = []
    answers = []
    for option in options:
        if option.answer is None:
            answers.append(NO_ANSWER)
            continue
        if option.answer not in numbers:
            numbers[option.answer] = len(numbers)
            right.append(option.right)
        answers.append(numbers[option.answer])
    by_rank = sorted(range(len(options)), key=lambda index: -options[index].score)
    ranks = [0] * len(options)
    for rank, index in enumerate(by_rank):
        ranks[index] = rank
    return _VoteTable(
        answers, [option.score for option in options], ranks, by_rank, [*right, False]
    )


def _majority(table: _VoteTable, chosen: Sequence[int]) -> int:
    counts: dict[int, int] = {}
    for index in chosen:
        answer = table.answers[index]
        if answer != NO_ANSWER:
            counts[answer] = counts.get(answer, 0) + 1
    return max(counts, key=counts.__getitem__, default=NO_ANSWER)  # the first of equals


def _weighted(table: _VoteTable, chosen: Sequence[int]) -> int:
    sums: dict[int, float] = {}
    for index in chosen:
        answer = table.answers[index]
        if answer != NO_ANSWER:
            score = table.scores[index]
            sums[answer] = sums.get(answer, 0.0) + (score if score > 0 else LEAST_WEIGHT)
    return max(sums, key=sums.__getitem__, default=NO_ANSWER)


def _frequent(table: _VoteTable, chosen: Sequence[int], share_weight: float) -> int:
    counts: dict[int, int] = {}
    best: dict[int, float] = {}
    for index in chosen:
        answer, score = table.answers[index], table.scores[index]
        counts[answer] = counts.get(answer, 0) + (answer != NO_ANSWER)
        if answer not in best or score > best[answer]:
            best[answer] = score
    return max(best, key=lambda answer: best[answer] + share_weight * counts[answer] / len(chosen))


def _top(table: _VoteTable, chosen: Sequence[int], voters: Sequence[int]) -> list[bool]:
    """Return whether the majority among the best k of the chosen is right, for each k."""
    counts: dict[int, int] = {}
    outcomes = []
    sizes = iter(sorted(voters))
    k = next(sizes, 0)
    for seat, rank in enumerate(sorted([table.ranks[index] for index in chosen]), start=1):
        answer = table.answers[table.by_rank[rank]]
        if answer != NO_ANSWER:
            counts[answer] = counts.get(answer, 0) + 1
        if seat == k:
            outcomes.append(table.right[max(counts, key=counts.__getitem__, default=NO_ANSWER)])
            k = next(sizes, 0)
            if not k:
                break
    return outcomes


def _subsets(everyone: list[int], orders: Sequence[list[int]], n: int) -> list[list[int]]:
    """Return random subsets of n, or all subsets if there are few."""
    if n >= len(everyone):
        return [everyone]
    if n == 1:
        return [[index] for index in everyone]
    return [order[:n] for order in orders]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


VOTERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 64, 80, 100, 128, 200, 256, 400)
MEAN, MAJORITY, COVERAGE, BEST = "mean", "majority", "coverage", "best"
# name -> its title in tables
STRATEGIES = {
    MEAN: "one completion (mean test@1)",
    MAJORITY: "majority vote",
    BEST: "best by verifier",
    "top": "vote of the verifier's top {voters}",
    "weighted": "verifier-weighted vote",
    "frequency": "score + {share_weight} x answer's share",
    "logprob": "best by mean logprob",
    "sum": "best by summed logprob",
    COVERAGE: "any right (coverage)",
}


def strategy_title(name: str, voters: int, share_weight: float) -> str:
    """Return the title of a selection strategy with these settings."""
    return STRATEGIES[name].format(voters=voters, share_weight=f"{share_weight:g}")


SCORES: dict[str, Callable[[Option], float]] = {
    "verifier": lambda option: option.score,
    "logprob": lambda option: option.logprob,
    "sum": lambda option: option.logprob * option.tokens,
}
WITHOUT_SCORES = frozenset({MEAN, MAJORITY, COVERAGE})


def passes(strategy: str, stored: Collection[str] = ()) -> int:
    """Return how many times a model of the generator's size computes each completion.

    1 to write it, and 1 more for a scorer that reads it. stored: the names of the scores (see
    SCORES) that sampling stored, which cost nothing more.
    """
    name = strategy if strategy in SCORES else "verifier"
    return 1 if strategy in WITHOUT_SCORES or name in stored else 2


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


def pick(
    case: RankedProblem, has_logprob: bool, settings: SelectionSettings, ns: Sequence[int]
) -> ProblemResult:
    """Return the results of every strategy on one problem."""
    options = case.options
    count = len(options)
    sizes = sorted({n for n in ns if n < count} | {count})
    voters = _voters(count, settings)
    source = Random(f"{settings.seed} {case.problem}")  # noqa: S311  (statistics, no secret)
    cast = votes(
        options,
        sizes,
        voters,
        share_weight=settings.share_weight,
        draws=settings.draws,
        source=source,
    )
    right = sum(option.right for option in options)
    by_strategy: dict[str, Sequence[float]] = {
        MEAN: [right / count] * len(sizes),
        MAJORITY: cast.majority,
        BEST: [best_of(options, [option.score for option in options], n) for n in sizes],
        "top": [
            shares[sum(k <= min(settings.voters, n) for k in voters) - 1]
            for n, shares in zip(sizes, cast.top, strict=True)
        ],
        "weighted": cast.weighted,
        "frequency": cast.frequency,
    }
    if has_logprob:
        for name in ("logprob", "sum"):
            scores = [SCORES[name](option) for option in options]
            by_strategy[name] = [best_of(options, scores, n) for n in sizes]
    by_strategy[COVERAGE] = [float(pass_at_k(count, right, n)) for n in sizes]
    return ProblemResult(case, sizes, by_strategy, cast.top, voters)


def _voters(count: int, settings: SelectionSettings) -> list[int]:
    return sorted({k for k in (*VOTERS, settings.voters) if k < count} | {count})
