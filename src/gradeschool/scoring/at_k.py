"""Several samples of a problem: maj@k by a vote over answers, pass@k, and published votes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import comb
from operator import attrgetter
from typing import Any, NamedTuple

from gradeschool.errors import InputError
from gradeschool.formats.values import ReadOptions
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_vote
from gradeschool.scorer import Outcome, Vote
from gradeschool.scoring import statistics
from gradeschool.scoring.sources import Run, load_runs
from gradeschool.scoring.table import ScoredTable


class Ballot(NamedTuple):
    """A vote, or the winner of one; answer: as the scorer compares it, None for no answer.

    tied: another answer has as many votes as the winner; the one with the earliest vote won.
    """

    answer: str | None
    correct: bool
    tied: bool = False


@dataclass(frozen=True, slots=True)
class AtK:
    """The results of k samples per problem, over the problems that have at least k.

    maj: share of votes of k won by a right answer; each problem's samples are split into groups of
    k, in order, and each group votes; maj@1 is the accuracy. pass_any: probability that one of k
    samples is right, a mean over problems. ties: share of the votes that were tied. Intervals are
    clustered by problem.
    """

    k: int
    problems: int
    maj: float
    maj_ci95: statistics.Interval
    pass_any: float
    pass_ci95: statistics.Interval
    ties: float

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        fields = asdict(self)
        return {**fields, "pass": fields.pop("pass_any")}


def pass_at_k(n: int, correct: int, k: int) -> Fraction:
    """Return the probability that k of n samples, drawn without replacement, include a right one.

    1 - C(n - correct, k) / C(n, k), in exact integers: the unbiased estimator of Chen et al. 2021
    (arXiv:2107.03374, section 2.1). Raises InputError unless 0 <= correct <= n and 1 <= k <= n.
    """
    if not (0 <= correct <= n and 1 <= k <= n):
        raise InputError(f"pass@{k!r} of {correct!r} right among {n!r} is not defined; 1 <= k <= n")
    return 1 - Fraction(comb(n - correct, k), comb(n, k))


def vote(ballots: Sequence[Ballot]) -> Ballot:
    """Return the most frequent answer; in a tie, the one whose first vote came first.

    A sample without an answer does not vote.
    """
    cast = [ballot for ballot in ballots if ballot.answer is not None]
    if not cast:
        return Ballot(None, False)
    counts = Counter(ballot.answer for ballot in cast)
    winner, number = counts.most_common(1)[0]  # equal counts stay in the order of first votes
    tied = sum(count == number for count in counts.values()) > 1
    right = next(ballot.correct for ballot in cast if ballot.answer == winner)
    return Ballot(winner, right, tied)


def ballots_by_problem(table: ScoredTable) -> dict[str, list[Ballot]]:
    """Return the ballots of each problem under the first scorer, in the order of its samples.

    Failed samples, and texts on which the published scorer itself fails, cast no ballot.
    """
    ballots: dict[str, list[Ballot]] = {}
    rows = zip(table.samples, table.problems, table.verdicts, strict=True)
    for _, problem, (verdict, *_) in sorted(rows, key=lambda row: row[0].sample):
        if verdict.outcome is not Outcome.ERROR:
            value = None if verdict.answer is None else verdict.answer.value
            ballots.setdefault(problem.id, []).append(Ballot(value, verdict.correct))
    return ballots


def curve_sizes(most: int) -> list[int]:
    """Return the ks of a curve: 1, 2, 4, ... and the largest number of samples."""
    powers = [2**power for power in range(most.bit_length()) if 2**power <= most]
    return sorted({*powers, most}) if most > 0 else []


def curve(ballots: Mapping[str, Sequence[Ballot]]) -> list[AtK]:
    """Return maj@k and pass@k for each k of `curve_sizes` that some problem has samples for."""
    most, points = max(map(len, ballots.values()), default=0), []
    for k in curve_sizes(most):
        enough = [cast for cast in ballots.values() if len(cast) >= k]
        elections = [
            [vote(cast[at : at + k]) for at in range(0, len(cast) - k + 1, k)] for cast in enough
        ]
        every = [winner for votes in elections for winner in votes]
        clusters = [(sum(each.correct for each in votes), len(votes)) for votes in elections]
        chances = [pass_at_k(len(cast), sum(b.correct for b in cast), k) for cast in enough]
        points.append(AtK(
            k=k,
            problems=len(enough),
            maj=statistics.mean_share(clusters),
            maj_ci95=statistics.clustered_wilson(clusters),
            pass_any=float(sum(chances) / len(chances)),
            pass_ci95=statistics.wilson_of_mean(chances, len(every)),
            ties=sum(each.tied for each in every) / len(every),
        ))  # fmt: skip
    return points


@dataclass(frozen=True, slots=True)
class VoteScore:
    """The result of one vote on one run: one verdict per problem.

    no_answer: the number of problems whose winner was no answer; these count as wrong. accuracy:
    the share of problems whose winner is right. ci95: its Wilson interval.
    """

    run: str
    vote: str
    problems: int
    correct: int
    wrong: int
    no_answer: int
    ci95: statistics.Interval
    accuracy: float


def score_vote(run: Run, vote: Vote) -> VoteScore:
    """Return the score of a run under a vote: one verdict on the texts of each problem.

    A failed sample casts no ballot. Raises InputError if a problem has too few samples.
    """
    texts: dict[str, tuple[Problem, list[str]]] = {}
    for sample in sorted(run.samples, key=attrgetter("sample")):
        if sample.problem is not None and not sample.error:
            texts.setdefault(sample.problem.id, (sample.problem, []))[1].append(sample.text)
    counts = Counter(vote.judge(several, problem).outcome for problem, several in texts.values())
    correct, total = counts[Outcome.CORRECT], counts.total()
    return VoteScore(run.name, vote.name, total, correct, counts[Outcome.WRONG],
                     counts[Outcome.NO_ANSWER], statistics.wilson(correct, total),
                     correct / total if total else 0.0)  # fmt: skip


def votes_on(files: Sequence[str], names: Sequence[str], options: ReadOptions) -> list[VoteScore]:
    """Return the score of every run of the files under every one of the named votes.

    The texts of a file are in memory during its votes; what is to be said of it was said when it
    was scored. Raises UnknownNameError, InputError.
    """
    votes = [get_vote(name) for name in dict.fromkeys(names)]
    return [
        score_vote(run, vote)
        for file, own in options.for_each(files)
        for run in load_runs(file, own, lambda _: None)
        for vote in votes
    ]
