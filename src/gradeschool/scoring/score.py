"""Scores: every rule over every run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradeschool.rule import Rule
from gradeschool.scoring.collect import Run
from gradeschool.scoring.matrix import CORRECT, ERROR, NO_ANSWER, OUTCOMES, WRONG, Matrix
from gradeschool.scoring.statistics import Interval, clustered_wilson


@dataclass(frozen=True, slots=True)
class RuleScore:
    """What one rule makes of one run.

    accuracy: correct / (correct + wrong + no_answer): errors are not in it, they stand beside it.
    ci95: Wilson interval, by problem where problems have several samples.
    """

    rule: str
    correct: int
    wrong: int
    no_answer: int
    error: int
    accuracy: float
    ci95: Interval

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {
            "correct": self.correct,
            "wrong": self.wrong,
            "no_answer": self.no_answer,
            "error": self.error,
            "accuracy": self.accuracy,
            "ci95": list(self.ci95),
        }


@dataclass(frozen=True, slots=True)
class RunScore:
    """The scores of one run; n counts its completions, errors included."""

    run: str
    n: int
    rules: tuple[RuleScore, ...]

    def as_json(self) -> dict[str, Any]:
        """Return {"run", "n", "rules": {name: ...}}."""
        return {
            "run": self.run,
            "n": self.n,
            "rules": {score.rule: score.as_json() for score in self.rules},
        }


def score_run(run: Run, rules: Sequence[Rule]) -> RunScore:
    """Apply every rule to every sample of a run."""
    return score_with(Matrix(rules), run)


def score_with(matrix: Matrix, run: Run) -> RunScore:
    """Apply a matrix of rules to every sample of a run; it remembers what it read for the next."""
    usable = [s for s in run.samples if s.problem is not None and not s.error]
    matrix.expect((sample.text, sample.problem) for sample in usable if sample.problem)
    tally: Counter[tuple[str, bytes]] = Counter()
    for sample in usable:
        assert sample.problem is not None  # noqa: S101  (for the type checker)
        tally[sample.problem.id, matrix.codes(sample.text, sample.problem)] += 1
    totals = [_Total() for _ in matrix.groups]
    for (problem, codes), count in tally.items():
        for total, code in zip(totals, codes, strict=True):
            total.add(problem, code, count)
    unusable = len(run.samples) - len(usable)
    scores = (
        totals[group].score(rule.name, unusable)
        for rule, group in zip(matrix.rules, matrix.group_of, strict=True)
    )
    return RunScore(run.name, len(run.samples), tuple(scores))


class _Total:
    """Counts of one rule over a run, by outcome and by problem."""

    def __init__(self) -> None:
        self.counts = [0] * len(OUTCOMES)
        self.clusters: dict[str, list[int]] = {}

    def add(self, problem: str, code: int, count: int) -> None:
        """Count completions of a problem that have the same outcome."""
        self.counts[code] += count
        if code != ERROR:
            cluster = self.clusters.setdefault(problem, [0, 0])
            cluster[0] += count if code == CORRECT else 0
            cluster[1] += count

    def score(self, rule: str, unusable: int) -> RuleScore:
        """Return the score; samples without a text are errors."""
        clusters = [(right, n) for right, n in self.clusters.values()]
        judged = sum(n for _, n in clusters)
        return RuleScore(
            rule=rule,
            correct=self.counts[CORRECT],
            wrong=self.counts[WRONG],
            no_answer=self.counts[NO_ANSWER],
            error=self.counts[ERROR] + unusable,
            accuracy=self.counts[CORRECT] / judged if judged else 0.0,
            ci95=clustered_wilson(clusters),
        )
