"""Scores: every rule over every run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradeschool.problem import Problem
from gradeschool.rule import Rule, RuleFailure
from gradeschool.scoring.collect import Run
from gradeschool.scoring.statistics import Interval, clustered_wilson
from gradeschool.verdict import Outcome


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
    return RunScore(run.name, len(run.samples), tuple(score_rule(run, rule) for rule in rules))


def score_rule(run: Run, rule: Rule) -> RuleScore:
    """Apply one rule to every sample of a run."""
    references: dict[str, str | None] = {}
    counts = dict.fromkeys(Outcome, 0)
    clusters: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for sample in run.samples:
        outcome = Outcome.ERROR
        if sample.problem is not None and not sample.error:
            reference = _reference(rule, sample.problem, references)
            if reference is not None:
                outcome = rule.outcome(sample.text, reference)
        counts[outcome] += 1
        if sample.problem is not None and outcome is not Outcome.ERROR:
            cluster = clusters[sample.problem.id]
            cluster[0] += outcome is Outcome.CORRECT
            cluster[1] += 1
    return _total(rule.name, counts, [(right, n) for right, n in clusters.values()])


def _reference(rule: Rule, problem: Problem, known: dict[str, str | None]) -> str | None:
    """Return the rule's reference, computed once a problem; None where the rule fails on it."""
    if problem.id not in known:
        try:
            known[problem.id] = rule.reference(problem)
        except RuleFailure:
            known[problem.id] = None
    return known[problem.id]


def _total(name: str, counts: dict[Outcome, int], clusters: Sequence[tuple[int, int]]) -> RuleScore:
    judged = sum(n for _, n in clusters)
    return RuleScore(
        rule=name,
        correct=counts[Outcome.CORRECT],
        wrong=counts[Outcome.WRONG],
        no_answer=counts[Outcome.NO_ANSWER],
        error=counts[Outcome.ERROR],
        accuracy=counts[Outcome.CORRECT] / judged if judged else 0.0,
        ci95=clustered_wilson(clusters),
    )
