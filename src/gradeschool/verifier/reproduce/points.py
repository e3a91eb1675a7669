"""The points of figures, read from a recipe's folder, and what holds of the paper's findings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gradeschool.errors import DataError
from gradeschool.scoring.statistics import Interval, clustered_wilson, wilson
from gradeschool.verifier.candidates import one_run
from gradeschool.verifier.rank import CurvePoint, outcomes_of, paired_difference
from gradeschool.verifier.rank import point as point_of
from gradeschool.verifier.reproduce.findings import (
    BASELINE,
    Findings,
    mean_share,
    quiet,
    read_picked,
)
from gradeschool.verifier.reproduce.plans import (
    TEST,
    AblationPlan,
    Contrast,
    MeasuredPoint,
    PlannedPoint,
)
from gradeschool.verifier.selection import BEST, MAJORITY

# The selection strategies of figure 6a.
OVER_COMPLETIONS = {
    BEST: "best by verifier",
    "weighted": "verifier-weighted vote",
    MAJORITY: "majority vote",
    "logprob": "best by generator's logprob",
}
VOTE = "top k by verifier"


class ContrastResult(NamedTuple):
    """Whether one point is above another, as in the paper.

    ci95: of the difference by problem; None if only the two shares' intervals are known; the
    finding then holds if these do not overlap. outcome: "holds", "the reverse", "not decided", or,
    for a curve without any rise or fall, "does not hold".
    """

    words: str
    difference: float
    ci95: Interval | None
    outcome: str


def measure(root: Path, plan: AblationPlan) -> list[MeasuredPoint]:
    """Return the points of a figure's runs and curves in a recipe's folder."""
    if plan.read is not None:
        return plan.read(root)
    return [_measured(root, point) for point in plan.points]


def over_completions(panel: int, results: Findings) -> list[MeasuredPoint]:
    """Return the points of figure 6a for one split."""
    points = [
        _of_point(panel, title, score)
        for strategy, title in OVER_COMPLETIONS.items()
        for score in results.over_completions.get(strategy, ())
    ]
    level = next(strategy.accuracy for strategy in results.strategies if strategy.name == BASELINE)
    ns = [score.n for score in results.over_completions[BEST]]
    return [*points, *(MeasuredPoint(panel, "fine-tuning", n, level, None, None, True) for n in ns)]


def over_voters(panel: int, results: Findings) -> list[MeasuredPoint]:
    """Return the points of figure 6b for one split."""
    return [_of_point(panel, VOTE, score) for score in results.over_voters]


def verdicts(
    name: str, plan: AblationPlan, measured: Sequence[MeasuredPoint]
) -> list[ContrastResult]:
    """Return which of the paper's findings of a figure hold."""
    by_place = {(value.panel, value.series, value.x): value for value in measured}
    contrasts = plan.contrasts
    if contrasts is None:
        contrasts = tuple(_over_x(name, plan.titles or (), measured))
    return [
        _verdict(contrast.words, by_place[contrast.better], by_place[contrast.worse])
        for contrast in contrasts
    ]


def of_chances(series: str, x: float, chances: Mapping[str, float], groups: int) -> MeasuredPoint:
    """Return a point of the first panel from the probability of each problem.

    groups: see `rank.point`.
    """
    values = list(chances.values())
    score = point_of(0, values, values, groups)
    return MeasuredPoint(0, series, x, score.accuracy, score.ci95, chances=chances)


def _of_point(panel: int, series: str, score: CurvePoint) -> MeasuredPoint:
    return MeasuredPoint(panel, series, score.n, score.accuracy, score.ci95)


def _measured(root: Path, point: PlannedPoint) -> MeasuredPoint:
    sampled = one_run(str(root / point.run), str(root / TEST), quiet)
    if point.scores:
        _, picked = read_picked(sampled, root / point.scores)
        outcomes = outcomes_of(picked, point.strategy)
    else:
        outcomes = {answered.problem.id: answered.outcome for answered in sampled.answered}
    interval = clustered_wilson(list(outcomes.values()))
    return MeasuredPoint(
        point.panel, point.series, point.x, mean_share(outcomes), interval, outcomes, point.baseline
    )


def training_curves(name: str, root: Path) -> list[MeasuredPoint]:
    """Return test@1 and test@k after every epoch; for intervals, a problem is one trial.

    name: the file in the recipe's folder. Raises DataError for a file without curves.
    """
    path = root / name
    results = []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        for panel, name in enumerate(("test@1", "test@k")):
            if name not in row:
                raise DataError(f"{str(path)!r} has a row without {name!r}; make it again")
            interval = wilson(row[name] * row["problems"], row["problems"])
            results.append(MeasuredPoint(panel, "fine-tuning", row["epoch"], row[name], interval))
    if not results:
        raise DataError(f"{str(path)!r} has no curve; make it again")
    return results


def _over_x(name: str, titles: Sequence[str], measured: Sequence[MeasuredPoint]) -> list[Contrast]:
    """Return the findings of figures over epochs, completions or voters: rise and fall."""
    contrasts = []
    for panel, title in enumerate(titles):
        first = next(value for value in measured if value.panel == panel).series
        points = [value for value in measured if (value.panel, value.series) == (panel, first)]
        start, peak, end = (
            (panel, first, value.x)
            for value in (points[0], max(points, key=lambda value: value.share), points[-1])
        )
        rise = Contrast(f"{title}: rises from {start[2]:g} to {peak[2]:g}", peak, start)
        words = (
            f"from {peak[2]:g} to {end[2]:g}"
            if peak != end
            else f"(highest at {end[2]:g}, the last)"
        )
        fall = Contrast(f"{title}: falls {words}", peak, end)
        contrasts += {"3": [[rise], [fall]][min(panel, 1)], "6a": [rise, fall]}.get(name, [rise])
    return contrasts


def _verdict(words: str, better: MeasuredPoint, worse: MeasuredPoint) -> ContrastResult:
    if better.outcomes is not None and worse.outcomes is not None:
        gap = paired_difference(worse.outcomes, better.outcomes)
        outcome = _outcome(gap.ci95.low > 0, gap.ci95.high < 0)
        return ContrastResult(words, gap.difference, gap.ci95, outcome)
    if better == worse:
        return ContrastResult(words, 0.0, None, "does not hold")
    if better.chances is not None and worse.chances is not None:
        shared = [id for id in worse.chances if id in better.chances]
        values = [better.chances[id] for id in shared]
        gain = point_of(0, values, [worse.chances[id] for id in shared], 1)
        outcome = _outcome(gain.gain_ci95.low > 0, gain.gain_ci95.high < 0)
        return ContrastResult(words, gain.gain, gain.gain_ci95, outcome)
    above = better.ci95 and worse.ci95 and better.ci95.low > worse.ci95.high
    below = better.ci95 and worse.ci95 and better.ci95.high < worse.ci95.low
    return ContrastResult(
        words, better.share - worse.share, None, _outcome(bool(above), bool(below))
    )


def _outcome(above: bool, below: bool) -> str:
    return "holds" if above else "the reverse" if below else "not decided"
