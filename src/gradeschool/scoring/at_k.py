"""Several samples of a problem: maj@k by a vote over answers, pass@k without bias."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any, NamedTuple

from gradeschool.errors import InputError
from gradeschool.scorer import Scorer, ScorerFailure
from gradeschool.scoring.collect import Run
from gradeschool.scoring.statistics import Interval, clustered_wilson, wilson

INVALID = "[invalid]"


class Ballot(NamedTuple):
    """One sample's vote: the answer as the scorer compares it, None where it read none."""

    answer: str | None
    correct: bool


class Majority(NamedTuple):
    """The outcome of one vote; `answer` is None where nobody voted.

    tied: another answer had as many votes; the one that was seen first won.
    """

    answer: str | None
    correct: bool
    tied: bool


@dataclass(frozen=True, slots=True)
class AtK:
    """What k samples of a problem are worth, over the problems that have at least k.

    maj: share of votes of k won by a right answer; each problem's samples are split into groups of
    k, in order, and each group votes. pass_any: chance that one of k samples is right. ties,
    silent: shares of the votes that were tied, and in which no sample had an answer. Intervals are
    clustered by problem.
    """

    k: int
    problems: int
    maj: float
    maj_ci95: Interval
    pass_any: float
    pass_ci95: Interval
    ties: float
    silent: float

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {
            "k": self.k,
            "problems": self.problems,
            "maj": self.maj,
            "maj_ci95": list(self.maj_ci95),
            "pass": self.pass_any,
            "pass_ci95": list(self.pass_ci95),
            "ties": self.ties,
            "silent": self.silent,
        }


def pass_at_k(n: int, correct: int, k: int) -> Fraction:
    """Return the chance that k of n samples, drawn without replacement, hold a right one.

    1 - C(n - correct, k) / C(n, k), in exact integers: the unbiased estimator of Chen et al. 2021
    (arXiv:2107.03374, section 2.1). Raises InputError unless 0 <= correct <= n and 1 <= k <= n.
    """
    if not (0 <= correct <= n and 1 <= k <= n):
        raise InputError(f"pass@{k!r} of {correct!r} right among {n!r} is not defined; 1 <= k <= n")
    return 1 - Fraction(comb(n - correct, k), comb(n, k))


def vote(ballots: Sequence[Ballot], invalid_votes: bool = False) -> Majority:
    """Return the most frequent answer; of several, the one whose first vote came first.

    A sample without an answer does not vote, unless `invalid_votes`: then "[invalid]" is an answer
    like another, as lm-eval's majority_vote counts it, and wrong where it wins.
    """
    cast = [
        ballot if ballot.answer is not None else Ballot(INVALID, False)
        for ballot in ballots
        if invalid_votes or ballot.answer is not None
    ]
    if not cast:
        return Majority(None, False, False)
    counts = Counter(ballot.answer for ballot in cast)
    winner, most = counts.most_common(1)[0]  # equal counts stay in the order of first votes
    tied = sum(count == most for count in counts.values()) > 1
    right = next(ballot.correct for ballot in cast if ballot.answer == winner)
    return Majority(winner, right, tied)


def ballots_of(run: Run, scorer: Scorer) -> dict[str, list[Ballot]]:
    """Return the ballots of each problem in the order of its samples.

    Samples that failed, and texts on which the published scorer itself fails, cast none.
    """
    found: defaultdict[str, list[tuple[int, Ballot]]] = defaultdict(list)
    for sample in run.samples:
        if sample.problem is None or sample.error:
            continue
        try:
            reference = scorer.reference(sample.problem)
            answer = scorer.read(sample.text, reference)
            right = answer is not None and scorer.same(answer.value, reference)
        except ScorerFailure:
            continue
        value = None if answer is None else answer.value
        found[sample.problem.id].append((sample.sample, Ballot(value, right)))
    return {
        problem: [ballot for _, ballot in sorted(numbered, key=lambda pair: pair[0])]
        for problem, numbered in found.items()
    }


def steps(most: int) -> list[int]:
    """Return the ks of a curve: 1, 2, 4, ... and the largest number of samples."""
    powers = [2**power for power in range(most.bit_length()) if 2**power <= most]
    return sorted({*powers, most}) if most > 0 else []


def curve(
    ballots: Mapping[str, Sequence[Ballot]],
    ks: Sequence[int] | None = None,
    invalid_votes: bool = False,
) -> list[AtK]:
    """Return maj@k and pass@k for each k (by default `steps`) that some problem has samples for."""
    most = max(map(len, ballots.values()), default=0)
    chosen = steps(most) if ks is None else ks
    return [_at(k, list(ballots.values()), invalid_votes) for k in chosen if 1 <= k <= most]


def _at(k: int, ballots: Sequence[Sequence[Ballot]], invalid_votes: bool) -> AtK:
    enough = [cast for cast in ballots if len(cast) >= k]
    elections = [[vote(group, invalid_votes) for group in _groups(cast, k)] for cast in enough]
    clusters = [(sum(won.correct for won in held), len(held)) for held in elections]
    votes = sum(size for _, size in clusters)
    chances = [pass_at_k(len(cast), sum(b.correct for b in cast), k) for cast in enough]
    return AtK(
        k=k,
        problems=len(enough),
        maj=_mean([Fraction(right, size) for right, size in clusters]),
        maj_ci95=clustered_wilson(clusters),
        pass_any=_mean(chances),
        pass_ci95=_interval_of_mean(chances, votes),
        ties=sum(won.tied for held in elections for won in held) / votes,
        silent=sum(won.answer is None for held in elections for won in held) / votes,
    )


def _groups(cast: Sequence[Ballot], k: int) -> Iterator[Sequence[Ballot]]:
    for start in range(0, len(cast) - k + 1, k):
        yield cast[start : start + k]


def _mean(shares: Sequence[Fraction]) -> float:
    return float(sum(shares) / len(shares))


def _interval_of_mean(shares: Sequence[Fraction], most: int) -> Interval:
    """Return the Wilson interval of a mean of shares, one for each problem.

    As many trials are counted as a proportion of the same mean would need for the same standard
    error: at least one for each problem, at most `most`, the disjoint groups of k that there are.
    """
    count, mean = len(shares), _mean(shares)
    if count < 2 or mean in (0.0, 1.0):
        return wilson(mean * count, count)
    spread = sum((float(share) - mean) ** 2 for share in shares) / (count - 1)
    equal = mean * (1 - mean) * count / spread if spread else float(most)
    trials = max(float(count), min(equal, float(most)))
    return wilson(mean * trials, trials)
