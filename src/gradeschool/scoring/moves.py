"""By how many points the same completions move when another scorer reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gradeschool.scorer import Scorer
from gradeschool.scoring.collect import Run
from gradeschool.scoring.matrix import CORRECT, ERROR, Matrix
from gradeschool.scoring.paired import Pair, paired_interval, paired_test
from gradeschool.scoring.statistics import Interval


@dataclass(frozen=True, slots=True)
class Move:
    """One run under two scorers.

    n: completions that both scorers judge (an error of either is no verdict). before, after: how
    many each calls correct. lost, gained: correct under the first alone, under the second alone.
    interval: 95 %, of the difference in accuracy. p: two-sided, of the exact McNemar test where
    each problem has one sample, else by problem (`gradeschool.scoring.paired`). test: which it was.
    """

    run: str
    n: int
    before: int
    after: int
    lost: int
    gained: int
    interval: Interval
    p: float
    test: str

    @property
    def points(self) -> float:
        """Return the difference in accuracy, in percentage points."""
        return 100 * (self.after - self.before) / self.n if self.n else 0.0

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {
            "run": self.run,
            "n": self.n,
            "correct": [self.before, self.after],
            "flips": {"correct_to_wrong": self.lost, "wrong_to_correct": self.gained},
            "points": self.points,
            "ci95": [100 * bound for bound in self.interval],
            "p": self.p,
            "test": self.test,
        }


def move(run: Run, one: Scorer, other: Scorer) -> Move:
    """Return how a run moves from one scorer to another."""
    verdicts = list(_verdicts(run, one, other))
    lost = sum(before and not after for _, before, after in verdicts)
    gained = sum(after and not before for _, before, after in verdicts)
    pairs = _pairs(verdicts)
    interval, _ = paired_interval(pairs) if pairs else (Interval(-1.0, 1.0), "")
    p, test = paired_test(pairs) if lost + gained else (1.0, "nothing flips")
    return Move(
        run=run.name,
        n=len(verdicts),
        before=sum(before for _, before, _ in verdicts),
        after=sum(after for _, _, after in verdicts),
        lost=lost,
        gained=gained,
        interval=interval,
        p=p,
        test=test,
    )


def _pairs(verdicts: Sequence[tuple[str, bool, bool]]) -> list[Pair]:
    """Return what each problem's samples are under either scorer."""
    counts: dict[str, list[int]] = {}
    for problem, before, after in verdicts:
        count = counts.setdefault(problem, [0, 0, 0])
        count[0] += before
        count[1] += after
        count[2] += 1
    return [Pair(before, n, after, n) for before, after, n in counts.values()]


def _verdicts(run: Run, one: Scorer, other: Scorer) -> Iterator[tuple[str, bool, bool]]:
    """Yield (problem, correct under one scorer, under the other) where neither is an error."""
    matrix = Matrix((one, other))
    usable = [
        (sample.text, sample.problem)
        for sample in run.samples
        if sample.problem is not None and not sample.error
    ]
    matrix.expect(usable)
    for text, problem in usable:
        codes = matrix.codes(text, problem)
        before, after = (codes[group] for group in matrix.group_of)
        if ERROR not in (before, after):
            yield problem.id, before == CORRECT, after == CORRECT
