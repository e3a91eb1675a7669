"""`--until`: stop a run when its interval is narrow, with the correction for looking repeatedly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from gradeschool.percentages import count
from gradeschool.scoring.statistics import Interval, clustered_wilson
from gradeschool.scoring.table import tally_by_problem

FIRST_LOOK = 100  # problems
UNKNOWN = Interval(0.0, 1.0)


@dataclass(slots=True)
class InterimAnalysis:
    """When a run may stop, and the interval at the last look at it.

    points: the width to stop at, in percentage points. sizes: problems at each possible look, fixed
    before the first: FIRST_LOOK, doubled, and all. problems, interval: at the last look. Each look
    takes an equal share of the 5 % of error, so that all intervals hold together with 95 %
    (Bonferroni; the simplest spending of alpha, Lan and DeMets 1983, Biometrika 70:659).
    """

    points: float
    sizes: tuple[int, ...]
    problems: int = 0
    interval: Interval = UNKNOWN

    @property
    def is_narrow(self) -> bool:
        """Return whether the interval of the last look is narrow enough."""
        return (self.interval.high - self.interval.low) * 100 < self.points

    def look(self, outcomes: Iterable[tuple[str, int]], problems: int) -> None:
        """Note the interval; outcomes: (problem id, outcome of the first scorer)."""
        z = NormalDist().inv_cdf(1 - 0.025 / len(self.sizes))
        tallies = [(tally.correct, tally.judged) for tally in tally_by_problem(outcomes).values()]
        self.problems, self.interval = problems, clustered_wilson(tallies, z)

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values, with the level of each interval."""
        return {
            "points": self.points,
            "looks": list(self.sizes),
            "problems": self.problems,
            "interval": list(self.interval),
            "level": round(1 - 0.05 / len(self.sizes), 6),
            "method": "Wilson, Bonferroni over the looks",
        }

    def sentence(self) -> str:
        """Return what ended the run, and the interval that holds over all looks."""
        low, high = (100 * bound for bound in self.interval)
        return (
            f"--until {self.points:g}: {'stopped' if self.is_narrow else 'not reached'} after "
            f"{self.problems:,} of {self.sizes[-1]:,} problems in random order; the interval that "
            f"holds at all {count(len(self.sizes), 'look')} together is {low:.2f} to {high:.2f}"
        )


def plan_looks(points: float, problems: int) -> InterimAnalysis:
    """Return the looks at a run of so many problems."""
    sizes = [FIRST_LOOK]
    while sizes[-1] < problems:
        sizes.append(2 * sizes[-1])
    return InterimAnalysis(points, (*sizes[:-1], problems))
