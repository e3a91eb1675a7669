"""Scores: the counts of every outcome, accuracy and interval of every scorer over a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gradeschool.answers.regions import form_of
from gradeschool.scoring.forms import Forms, Noted, forms_of, notes_of, official, platinum
from gradeschool.scoring.statistics import Interval, clustered_wilson, wilson
from gradeschool.scoring.table import CORRECT, ERROR, OUTCOMES, ScoredTable


@dataclass(frozen=True, slots=True)
class ScorerResult:
    """The result of one scorer on one run.

    accuracy: correct / (correct + wrong + no_answer); errors are excluded and reported separately.
    ci95: Wilson interval, clustered by problem if problems have several samples. If nothing was
    judged, both are undefined, and null in JSON.
    """

    scorer: str
    correct: int
    wrong: int
    no_answer: int
    error: int
    accuracy: float
    ci95: Interval

    @property
    def judged(self) -> int:
        """Return the number of completions that the scorer judged: all except the errors."""
        return self.correct + self.wrong + self.no_answer

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {
            "correct": self.correct,
            "wrong": self.wrong,
            "no_answer": self.no_answer,
            "error": self.error,
            "accuracy": self.accuracy if self.judged else None,
            "ci95": list(self.ci95) if self.judged else None,
        }


@dataclass(frozen=True, slots=True)
class RunScore:
    """The scores of one run; n counts its completions, errors included.

    forms: numbers of completions that are empty, cut off or run on, None if unknown. platinum: the
    scores under the labels of GSM8K-Platinum, None if it changes none of the run's problems.
    samples: the fewest and the most completions of a problem, None if all have equally many.
    """

    run: str
    n: int
    scorers: tuple[ScorerResult, ...]
    forms: Forms | None = None
    platinum: RunScore | None = field(default=None, compare=False)
    samples: tuple[int, int] | None = field(default=None, compare=False)

    def as_json(self) -> dict[str, Any]:
        """Return {"run", "n", "forms", "scorers": {name: ...}}; "forms", "platinum" if known."""
        return {
            "run": self.run,
            "n": self.n,
            **({"forms": self.forms.as_json()} if self.forms else {}),
            **({"samples_per_problem": list(self.samples)} if self.samples else {}),
            **({"platinum": self.platinum.as_json()} if self.platinum else {}),
            "scorers": {score.scorer: score.as_json() for score in self.scorers},
        }


def score_table(table: ScoredTable) -> RunScore:
    """Return the scores of a run under every scorer of its table."""
    counts: Counter[tuple[str, bytes, bytes]] = Counter()
    for sample, problem, outcomes in zip(
        table.samples, table.problems(), table.outcomes, strict=True
    ):
        notes = notes_of(form_of(sample.text, sample.finish, problem.question), b"")
        counts[problem.id, outcomes, notes] += 1
    return score_noted(table.run.name, len(table.run.samples), counts, table.scorers.names)


def score_noted(run: str, n: int, counts: Noted, scorers: Sequence[str]) -> RunScore:
    """Return the score of a run, including the results of the notes on its completions."""
    score = score_counts(run, n, official(counts), scorers)
    other = platinum(counts)
    if other is not None:
        remaining = n - sum(counts.values()) + other.total()
        score = replace(score, platinum=score_counts(run, remaining, other, scorers))
    return replace(score, forms=forms_of(counts))


def score_counts(
    run: str, n: int, counts: Mapping[tuple[str, bytes], int], scorers: Sequence[str]
) -> RunScore:
    """Return the score of a run from the completions of each (problem, outcomes).

    n: all completions; those that are not in `counts`, or have no outcomes there, are errors.
    """
    rows = [(problem, outcomes, count) for (problem, outcomes), count in counts.items() if outcomes]
    places: dict[str, int] = {}
    problems = [places.setdefault(problem, len(places)) for problem, _, _ in rows]
    weights = [count for _, _, count in rows]
    joined = b"".join([outcomes for _, outcomes, _ in rows])
    failed = n - sum(weights)
    count_column = _count_samples if len(rows) == n - failed == len(places) else _count_clusters
    counted: dict[bytes, tuple[list[int], Interval]] = {}  # scorers often agree everywhere
    results = []
    for index, scorer in enumerate(scorers):
        column = joined[index :: len(scorers)]
        if column not in counted:
            counted[column] = count_column(column, problems, weights)
        (correct, wrong, no_answer, error), interval = counted[column]
        judged = correct + wrong + no_answer
        accuracy = correct / judged if judged else 0.0
        results.append(
            ScorerResult(scorer, correct, wrong, no_answer, error + failed, accuracy, interval)
        )
    per_problem = [0] * len(places)
    for problem, weight in zip(problems, weights, strict=True):
        per_problem[problem] += weight
    fewest, most = min(per_problem, default=0), max(per_problem, default=0)
    return RunScore(run, n, tuple(results), samples=(fewest, most) if fewest < most else None)


def _count_samples(
    column: bytes, problems: Sequence[int], weights: Sequence[int]
) -> tuple[list[int], Interval]:
    """Return the counts of each outcome, and the interval, if problems have one sample each."""
    counts = [column.count(outcome) for outcome in range(len(OUTCOMES))]
    return counts, wilson(counts[CORRECT], len(column) - counts[ERROR])


def _count_clusters(
    column: bytes, problems: Sequence[int], weights: Sequence[int]
) -> tuple[list[int], Interval]:
    """Return the same if problems have several samples."""
    counts = [0] * len(OUTCOMES)
    correct = [0] * (max(problems, default=-1) + 1)
    judged = correct.copy()
    for outcome, problem, weight in zip(column, problems, weights, strict=True):
        counts[outcome] += weight
        if outcome == CORRECT:
            correct[problem] += weight
        if outcome != ERROR:
            judged[problem] += weight
    return counts, clustered_wilson(list(zip(correct, judged, strict=True)))
