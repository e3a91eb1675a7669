"""Scores: every rule over every run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from gradeschool.answers.form import form_of
from gradeschool.rule import Rule
from gradeschool.scoring.collect import Run
from gradeschool.scoring.forms import Forms, Noted, forms_of, notes_of, official, platinum
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
    """The scores of one run; n counts its completions, errors included.

    forms: how many are empty, cut off or run on, None where it is not known. platinum: the scores
    under the labels of GSM8K-Platinum, None where it disputes none of the run's problems.
    """

    run: str
    n: int
    rules: tuple[RuleScore, ...]
    forms: Forms | None = None
    platinum: RunScore | None = field(default=None, compare=False)

    def as_json(self) -> dict[str, Any]:
        """Return {"run", "n", "forms", "rules": {name: ...}}; "forms", "platinum" if known."""
        return {
            "run": self.run,
            "n": self.n,
            **({"forms": self.forms.as_json()} if self.forms else {}),
            **({"platinum": self.platinum.as_json()} if self.platinum else {}),
            "rules": {score.rule: score.as_json() for score in self.rules},
        }


def score_run(run: Run, rules: Sequence[Rule]) -> RunScore:
    """Apply every rule to every sample of a run."""
    return score_with(Matrix(rules), run)


def score_with(matrix: Matrix, run: Run) -> RunScore:
    """Apply a matrix of rules to every sample of a run; it remembers what it read for the next."""
    usable = [s for s in run.samples if s.problem is not None and not s.error]
    pairs = [(sample.text, sample.problem) for sample in usable if sample.problem]
    matrix.expect(pairs)
    counts: Counter[tuple[str, bytes, bytes]] = Counter()
    for sample, codes in zip(usable, matrix.codes_of(pairs), strict=True):
        problem = sample.problem
        assert problem is not None  # noqa: S101  (for the type checker)
        notes = notes_of(form_of(sample.text, sample.finish, problem.question), b"")
        counts[problem.id, codes, notes] += 1
    columns = Columns(tuple(rule.name for rule in matrix.rules), matrix.group_of)
    return score_noted(run.name, len(run.samples), counts, columns)


class Columns(NamedTuple):
    """Where each rule's outcome stands in a completion's codes."""

    rules: tuple[str, ...]
    places: Sequence[int]


def score_counts(
    run: str, n: int, counts: Mapping[tuple[str, bytes], int], columns: Columns
) -> RunScore:
    """Return the score of a run from the completions of each (problem, codes).

    n: all completions; those that are not in `counts`, or have no codes there, are errors.
    """
    totals = [_Total() for _ in range(max(columns.places, default=-1) + 1)]
    unusable = n
    for (problem, codes), count in counts.items():
        if codes:
            unusable -= count
            for total, code in zip(totals, codes, strict=True):
                total.add(problem, code, count)
    scores = (
        totals[place].score(rule, unusable)
        for rule, place in zip(columns.rules, columns.places, strict=True)
    )
    return RunScore(run, n, tuple(scores))


def score_noted(run: str, n: int, counts: Noted, columns: Columns) -> RunScore:
    """Return the score of a run with all that the notes on its completions add."""
    score = score_counts(run, n, official(counts), columns)
    other = platinum(counts)
    if other is not None:
        left = n - sum(counts.values()) + other.total()
        score = replace(score, platinum=score_counts(run, left, other, columns))
    return replace(score, forms=forms_of(counts))


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
