"""What the stages of a figure measured: its points, and whether the paper's findings hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gradeschool.errors import DataError
from gradeschool.scoring.at_k import steps
from gradeschool.scoring.statistics import Interval, clustered_wilson, wilson
from gradeschool.verifier.curves import Point
from gradeschool.verifier.rank import difference
from gradeschool.verifier.rank_run import one_run, ready
from gradeschool.verifier.reproduce.ablation_stages import TEST
from gradeschool.verifier.reproduce.ablations import Contrast, Plan, Spot
from gradeschool.verifier.reproduce.findings import BASELINE, WAYS, Findings
from gradeschool.verifier.scores_file import choose_scores
from gradeschool.verifier.ways import BEST, MAJORITY, pick

# The ways of figure 6a.
OVER_COMPLETIONS = {
    BEST: "best by verifier",
    "weighted": "verifier-weighted vote",
    MAJORITY: "majority vote",
    "logprob": "best by generator's logprob",
}
VOTE = "top k by verifier"


class Measured(NamedTuple):
    """One point. outcomes: right ones of how many, by problem; None: only the share is known."""

    panel: int
    series: str
    x: float
    share: float
    ci95: Interval | None
    outcomes: Mapping[str, tuple[int, int]] | None = None
    baseline: bool = False


class Verdict(NamedTuple):
    """Whether one point is above another, as the paper found.

    ci95: of the difference by problem; None where only the two shares' own intervals are known, and
    it holds if these lie apart. told: "holds", "the reverse", "not decided", or, of a curve that
    does not rise or fall at all, "does not hold".
    """

    words: str
    difference: float
    ci95: Interval | None
    told: str


def measure(root: Path, plan: Plan) -> list[Measured]:
    """Return the points of a figure's runs and curves in a recipe's folder."""
    if plan.curves:
        return _curves(root / plan.curves)
    return [_measured(root, spot) for spot in plan.spots]


def over_completions(panel: int, one: Findings) -> list[Measured]:
    """Return the points of figure 6a for one split."""
    points = [
        _of_point(panel, title, found)
        for way, title in OVER_COMPLETIONS.items()
        for found in one.over_completions.get(way, ())
    ]
    level = next(way.accuracy for way in one.found if way.name == BASELINE)
    ns = [found.at for found in one.over_completions[BEST]]
    return [*points, *(Measured(panel, "fine-tuning", n, level, None, None, True) for n in ns)]


def over_voters(panel: int, one: Findings) -> list[Measured]:
    """Return the points of figure 6b for one split."""
    return [_of_point(panel, VOTE, found) for found in one.over_voters]


def verdicts(name: str, plan: Plan, measured: Sequence[Measured]) -> list[Verdict]:
    """Return what holds of the paper's findings of a figure."""
    by_place = {(one.panel, one.series, one.x): one for one in measured}
    asked = plan.contrasts or _over_x(name, plan.titles or (), measured)
    return [_verdict(one.words, by_place[one.better], by_place[one.worse]) for one in asked]


def _of_point(panel: int, series: str, found: Point) -> Measured:
    return Measured(panel, series, found.at, found.accuracy, found.ci95)


def _measured(root: Path, spot: Spot) -> Measured:
    held = one_run(str(root / spot.run), str(root / TEST), _quiet)
    if spot.scores:
        name, rows = choose_scores(root / spot.scores, None)
        cases = ready(held, name, rows).cases
        ns = steps(max(len(case.options) for case in cases))
        picked = [pick(case, False, WAYS, ns) for case in cases]
        outcomes = {one.case.problem: (round(one.by_way[BEST][-1]), 1) for one in picked}
    else:
        outcomes = {
            one.problem.id: (sum(each.right for each in one.candidates), len(one.candidates))
            for one in held.answered
        }
    share = sum(right / count for right, count in outcomes.values()) / len(outcomes)
    interval = clustered_wilson(list(outcomes.values()))
    return Measured(spot.panel, spot.series, spot.x, share, interval, outcomes, spot.baseline)


def _curves(path: Path) -> list[Measured]:
    """Return test@1 and test@k after every epoch; an interval takes a problem as one trial."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        for panel, name in enumerate(("test@1", "test@k")):
            if name not in row:
                raise DataError(f"{str(path)!r} holds a row without {name!r}; make it anew")
            interval = wilson(row[name] * row["problems"], row["problems"])
            found.append(Measured(panel, "fine-tuning", row["epoch"], row[name], interval))
    if not found:
        raise DataError(f"{str(path)!r} holds no curve; make it anew")
    return found


def _over_x(name: str, titles: Sequence[str], measured: Sequence[Measured]) -> list[Contrast]:
    """Return what figures over epochs, completions or voters show: a rise, a fall from the peak."""
    found = []
    for panel, title in enumerate(titles):
        first = next(one for one in measured if one.panel == panel).series
        points = [one for one in measured if (one.panel, one.series) == (panel, first)]
        start, peak, end = (
            (panel, first, one.x)
            for one in (points[0], max(points, key=lambda one: one.share), points[-1])
        )
        rise = Contrast(f"{title}: rises from {start[2]:g} to {peak[2]:g}", peak, start)
        seen = (
            f"from {peak[2]:g} to {end[2]:g}"
            if peak != end
            else f"(highest at {end[2]:g}, the last)"
        )
        fall = Contrast(f"{title}: falls {seen}", peak, end)
        found += {"3": [[rise], [fall]][min(panel, 1)], "6a": [rise, fall]}.get(name, [rise])
    return found


def _verdict(words: str, better: Measured, worse: Measured) -> Verdict:
    if better.outcomes is not None and worse.outcomes is not None:
        gap = difference(worse.outcomes, better.outcomes)
        told = _told(gap.ci95.low > 0, gap.ci95.high < 0)
        return Verdict(words, gap.difference, gap.ci95, told)
    if better == worse:
        return Verdict(words, 0.0, None, "does not hold")
    above = better.ci95 and worse.ci95 and better.ci95.low > worse.ci95.high
    below = better.ci95 and worse.ci95 and better.ci95.high < worse.ci95.low
    return Verdict(words, better.share - worse.share, None, _told(bool(above), bool(below)))


def _told(above: bool, below: bool) -> str:
    return "holds" if above else "the reverse" if below else "not decided"


def _quiet(_: str) -> None:
    """Take a warning that the stage itself printed already."""
