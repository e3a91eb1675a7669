"""The votes that published protocols hold over the samples of a problem, on recorded runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_vote
from gradeschool.scoring.collect import Run
from gradeschool.scoring.load import load_runs
from gradeschool.scoring.statistics import Interval, wilson
from gradeschool.verdict import Outcome, Verdict
from gradeschool.vote import Vote


@dataclass(frozen=True, slots=True)
class VoteScore:
    """What one vote makes of one run: one verdict a problem.

    no_answer counts the problems whose winner was no answer; they are as wrong as the others.
    ci95: Wilson interval of the accuracy.
    """

    run: str
    vote: str
    problems: int
    correct: int
    wrong: int
    no_answer: int
    ci95: Interval

    @property
    def accuracy(self) -> float:
        """Return the share of problems whose winner is right."""
        return self.correct / self.problems if self.problems else 0.0

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {
            "run": self.run,
            "vote": self.vote,
            "problems": self.problems,
            "correct": self.correct,
            "wrong": self.wrong,
            "no_answer": self.no_answer,
            "accuracy": self.accuracy,
            "ci95": list(self.ci95),
        }


def elections(run: Run, vote: Vote) -> dict[str, Verdict]:
    """Return the verdict of every problem of a run, by id.

    A sample that failed casts no ballot. Raises InputError where a problem has too few samples.
    """
    texts: dict[str, list[tuple[int, str]]] = {}
    problems: dict[str, Problem] = {}
    for sample in run.samples:
        if sample.problem is not None and not sample.error:
            problems[sample.problem.id] = sample.problem
            texts.setdefault(sample.problem.id, []).append((sample.sample, sample.text))
    return {
        id: vote.judge([text for _, text in sorted(numbered, key=_number)], problems[id])
        for id, numbered in texts.items()
    }


def _number(numbered: tuple[int, str]) -> int:
    return numbered[0]


def score_vote(run: Run, vote: Vote) -> VoteScore:
    """Return the score of a run under a vote."""
    counts = Counter(verdict.outcome for verdict in elections(run, vote).values())
    correct, total = counts[Outcome.CORRECT], counts.total()
    return VoteScore(
        run=run.name,
        vote=vote.name,
        problems=total,
        correct=correct,
        wrong=counts[Outcome.WRONG],
        no_answer=counts[Outcome.NO_ANSWER],
        ci95=wilson(correct, total),
    )


def votes_on(
    paths: Sequence[Path], names: Sequence[str], dataset: str | None, warn: Callable[[str], None]
) -> list[VoteScore]:
    """Return the score of every run of the files under every vote of these names.

    The texts of a file are in memory while it votes. Raises UnknownNameError, InputError.
    """
    votes = [get_vote(name) for name in dict.fromkeys(names)]
    return [
        score_vote(run, vote)
        for path in paths
        for run in load_runs(path, dataset, warn)
        for vote in votes
    ]
