"""Several samples of a problem: votes, pass@k, and the candidates that a verifier ranks.

`curve` gives maj@k by a vote over answers, and pass@k; `votes_on` applies published votes. The
candidates of a run are its completions by problem with their labels, which verifiers learn from.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import comb
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Finish
from gradeschool.errors import InputError
from gradeschool.formats.values import ReadOptions, Sample
from gradeschool.printable import percent
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_vote
from gradeschool.scorer import Outcome, Vote
from gradeschool.scoring import statistics
from gradeschool.scoring.sources import Run, Warn, choose_run, choose_runs, load_runs
from gradeschool.scoring.table import ScoredTable, scorer_for


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
        for file, file_options in options.for_each(files)
        for run in load_runs(file, file_options, lambda _: None)
        for vote in votes
    ]


# Candidates: completions with their labels


class Candidate(NamedTuple):
    """One completion: its key, its number among the problem's completions, and its verdict.

    finished: it ended before the token limit; True if a file does not say. score: of the file's own
    column, if it is named.
    """

    key: str
    sample: int
    text: str
    finished: bool
    answer: str | None
    right: bool
    score: float | None = None


class ProblemCandidates(NamedTuple):
    """A problem with its completions, in the order of their numbers."""

    problem: Problem
    candidates: list[Candidate]

    @property
    def outcome(self) -> tuple[int, int]:
        """Return the number of right completions, and of all."""
        return sum(candidate.right for candidate in self.candidates), len(self.candidates)


class CandidateRun(NamedTuple):
    """The completions of a run, by problem, in the order of the dataset or of the sample file.

    failed: number of samples without a text or with a scorer error.
    """

    run: str
    path: Path
    manifest: Mapping[str, Any]
    scorer: str
    answered: Sequence[ProblemCandidates]
    failed: int

    @property
    def total(self) -> int:
        """Return the number of completions."""
        return sum(len(problem.candidates) for problem in self.answered)


def read_candidates(spec: str, options: ReadOptions, warn: Warn) -> list[CandidateRun]:
    """Return the runs of a run folder or file (FILE#RUN: one of several), ready for ranking.

    They are judged by the first scorer of their protocol, else by the answer extractor. Raises
    InputError, DataError.
    """
    return _label(choose_runs([spec], options, warn), None)


def one_run(spec: str, options: ReadOptions, warn: Warn, scorer: str | None = None) -> CandidateRun:
    """Return the run of an argument, judged by the named scorer; InputError for several runs."""
    return _label([choose_run(spec, options, warn)], scorer)[0]


def _label(chosen: Sequence[Run], scorer: str | None) -> list[CandidateRun]:
    rule, runs = scorer_for([each.manifest for each in chosen], scorer), []
    for run in chosen:
        table = ScoredTable(run, [rule])
        problems: dict[str, ProblemCandidates] = {}
        for sample, problem, (verdict,) in zip(
            table.samples, table.problems, table.verdicts, strict=True
        ):
            if verdict.outcome is not Outcome.ERROR:
                problems.setdefault(problem.id, ProblemCandidates(problem, [])).candidates.append(
                    Candidate(
                        sample_key(sample, problem)
                        if sample.score is None
                        else f"row-{sample.row}-{sample.sample}",  # equal texts may differ in it
                        sample.sample,
                        sample.text,
                        finished=sample.finish != Finish.LENGTH,
                        answer=verdict.answer.value if verdict.answer else None,
                        right=verdict.correct,
                        score=sample.score,
                    )
                )
        if not problems:
            raise InputError(f"{str(run.path)!r} has no readable completion of {run.name!r}")
        for each in problems.values():
            each.candidates.sort(key=lambda candidate: candidate.sample)
        failed = len(run.samples) - sum(len(each.candidates) for each in problems.values())
        answered = list(problems.values())
        runs.append(CandidateRun(run.name, run.path, run.manifest, rule.name, answered, failed))
    return runs


def sample_key(sample: Sample, problem: Problem) -> str:
    """Return the key of a sample: the stored one, else the digest of its texts."""
    stored = sample.stored.key if sample.stored else ""
    return stored or text_key(problem.question, sample.text)


def text_key(question: str, text: str) -> str:
    """Return the key for a completion without one: a digest of question and completion."""
    facts = json.dumps([question, text]).encode()
    return f"text-{hashlib.sha256(facts).hexdigest()[:32]}"


def count_labels(answered: Sequence[ProblemCandidates]) -> dict[str, float]:
    """Count the labels of completions.

    solved: problems with a right completion. mixed: problems with right and wrong ones. different:
    distinct texts, by problem. right_share: of the completions.
    """
    outcomes = [each.outcome for each in answered]
    right, total = sum(right for right, _ in outcomes), sum(size for _, size in outcomes)
    return {
        "problems": len(answered),
        "completions": total,
        "right": right,
        "solved": sum(right > 0 for right, _ in outcomes),
        "mixed": sum(0 < right < size for right, size in outcomes),
        "different": sum(len({one.text for one in each.candidates}) for each in answered),
        "right_share": right / max(1, total),
    }


def describe_labels(labels: dict[str, float]) -> str:
    """Return the counts of `count_labels` in one line."""
    share = percent(labels["right_share"], 1)
    return (
        "{completions:,} completions of {problems:,} problems, {different:,} of them different, "
        "{share} right; {solved:,} problems solved at least once, {mixed:,} mixed"
    ).format(**labels, share=share)
