"""Scores: every scorer over every run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from gradeschool.answers.failures import form_of
from gradeschool.scorer import Scorer
from gradeschool.scoring.collect import Run
from gradeschool.scoring.forms import Forms, Noted, forms_of, notes_of, official, platinum
from gradeschool.scoring.matrix import CORRECT, ERROR, NO_ANSWER, OUTCOMES, WRONG, Matrix
from gradeschool.scoring.statistics import Interval, clustered_wilson

LANE = 8  # bytes of one count among many
# For each outcome: a table that turns its code into 1, all others into 0.
IS = [bytes(byte == code for byte in range(256)) for code in range(len(OUTCOMES))]


@dataclass(frozen=True, slots=True)
class ScorerResult:
    """What one scorer makes of one run.

    accuracy: correct / (correct + wrong + no_answer): errors are not in it, they stand beside it.
    ci95: Wilson interval, by problem where problems have several samples.
    """

    scorer: str
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
    scorers: tuple[ScorerResult, ...]
    forms: Forms | None = None
    platinum: RunScore | None = field(default=None, compare=False)

    def as_json(self) -> dict[str, Any]:
        """Return {"run", "n", "forms", "scorers": {name: ...}}; "forms", "platinum" if known."""
        return {
            "run": self.run,
            "n": self.n,
            **({"forms": self.forms.as_json()} if self.forms else {}),
            **({"platinum": self.platinum.as_json()} if self.platinum else {}),
            "scorers": {score.scorer: score.as_json() for score in self.scorers},
        }


def score_run(run: Run, scorers: Sequence[Scorer]) -> RunScore:
    """Apply every scorer to every sample of a run."""
    return score_with(Matrix(scorers), run)


def score_with(matrix: Matrix, run: Run) -> RunScore:
    """Apply a matrix of scorers to every sample of a run; it remembers its readings."""
    usable = [s for s in run.samples if s.problem is not None and not s.error]
    pairs = [(sample.text, sample.problem) for sample in usable if sample.problem]
    matrix.expect(pairs)
    counts: Counter[tuple[str, bytes, bytes]] = Counter()
    for sample, codes in zip(usable, matrix.codes_of(pairs), strict=True):
        problem = sample.problem
        assert problem is not None  # noqa: S101  (for the type checker)
        notes = notes_of(form_of(sample.text, sample.finish, problem.question), b"")
        counts[problem.id, codes, notes] += 1
    columns = Columns(tuple(scorer.name for scorer in matrix.scorers), matrix.group_of)
    return score_noted(run.name, len(run.samples), counts, columns)


class Columns(NamedTuple):
    """Where each scorer's outcome stands in a completion's codes."""

    scorers: tuple[str, ...]
    places: Sequence[int]


def score_counts(
    run: str, n: int, counts: Mapping[tuple[str, bytes], int], columns: Columns
) -> RunScore:
    """Return the score of a run from the completions of each (problem, codes).

    n: all completions; those that are not in `counts`, or have no codes there, are errors.
    """
    tally = _Tally(max(columns.places, default=-1) + 1)
    unusable = n
    for (problem, codes), count in counts.items():
        if codes:
            unusable -= count
            tally.add(problem, codes, count)
    told = tally.told()
    scores = (
        _score(scorer, *told[place], unusable)
        for scorer, place in zip(columns.scorers, columns.places, strict=True)
    )
    return RunScore(run, n, tuple(scores))


def _score(
    scorer: str, counts: Sequence[int], clusters: Sequence[tuple[int, int]], unusable: int
) -> ScorerResult:
    """Return the score of a scorer; samples without a text are errors."""
    judged = sum(n for _, n in clusters)
    return ScorerResult(
        scorer=scorer,
        correct=counts[CORRECT],
        wrong=counts[WRONG],
        no_answer=counts[NO_ANSWER],
        error=counts[ERROR] + unusable,
        accuracy=counts[CORRECT] / judged if judged else 0.0,
        ci95=clustered_wilson(clusters),
    )


def score_noted(run: str, n: int, counts: Noted, columns: Columns) -> RunScore:
    """Return the score of a run with all that the notes on its completions add."""
    score = score_counts(run, n, official(counts), columns)
    other = platinum(counts)
    if other is not None:
        left = n - sum(counts.values()) + other.total()
        score = replace(score, platinum=score_counts(run, left, other, columns))
    return replace(score, forms=forms_of(counts))


class _Tally:
    """Counts of all groups of scorers at once, by outcome and by problem.

    A whole number holds them all, each in LANE bytes of its own: one addition counts a completion
    under every scorer.
    """

    def __init__(self, groups: int) -> None:
        self.groups = groups
        self.outcomes = [0] * len(OUTCOMES)
        self.judged: defaultdict[str, int] = defaultdict(int)
        self.right: defaultdict[str, int] = defaultdict(int)

    def add(self, problem: str, codes: bytes, count: int) -> None:
        """Count completions of a problem that have the same outcomes."""
        right = self._where(codes, CORRECT) * count
        wrong, silent = (self._where(codes, code) * count for code in (WRONG, NO_ANSWER))
        self.outcomes[CORRECT] += right
        self.outcomes[WRONG] += wrong
        self.outcomes[NO_ANSWER] += silent
        self.outcomes[ERROR] += self._where(codes, ERROR) * count
        self.right[problem] += right
        self.judged[problem] += right + wrong + silent

    def _where(self, codes: bytes, code: int) -> int:
        """Return 1 in the place of every group with an outcome."""
        lanes = bytearray(LANE * self.groups)
        lanes[::LANE] = codes.translate(IS[code])
        return int.from_bytes(lanes, "little")

    def _counts(self, lanes: int) -> list[int]:
        told = lanes.to_bytes(LANE * self.groups, "little")
        starts = range(0, len(told), LANE)
        return [int.from_bytes(told[at : at + LANE], "little") for at in starts]

    def told(self) -> list[tuple[list[int], list[tuple[int, int]]]]:
        """Return of each group how many have each outcome, and (right, judged) of each problem."""
        outcomes, right, judged = (
            [self._counts(lanes) for lanes in of]
            for of in (self.outcomes, self.right.values(), self.judged.values())
        )
        return [
            (
                [counts[group] for counts in outcomes],
                [(ours[group], n[group]) for ours, n in zip(right, judged, strict=True)],
            )
            for group in range(self.groups)
        ]
