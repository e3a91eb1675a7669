"""The paper's figures with what a recipe measured: drawn, as JSON, and as a table in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gradeschool.atomic import write_file
from gradeschool.reports.figures.curves import draw
from gradeschool.reports.figures.paper import FIGURES, paper_figure
from gradeschool.reports.figures.records import Figure, Point, Series
from gradeschool.scoring.statistics import Interval
from gradeschool.verifier.reproduce.ablations import (
    AblationPlan,
    ContrastResult,
    Measured,
    measure,
    over_completions,
    over_voters,
    verdicts,
)
from gradeschool.verifier.reproduce.findings import Findings, findings, read_seed
from gradeschool.verifier.reproduce.presets import SPLITS, Preset

OVER = {"6a": over_completions, "6b": over_voters}


def write_figure(root: Path, preset: Preset, name: str, plan: AblationPlan) -> Iterator[str]:
    """Write figures/NAME.svg and .json of a recipe's folder; yield what they say, line by line."""
    measured = _of_recipe(root, preset, name) if name in OVER else measure(root, plan)
    found = verdicts(name, plan, measured)
    folder = root / "figures"
    folder.mkdir(exist_ok=True)
    draw(_figure(name, plan, measured), folder / f"{name}.svg")
    body = json.dumps(_fields(name, preset, measured, found), indent=2) + "\n"
    write_file(folder / f"{name}.json", body.encode())
    yield from _lines(name, plan, measured, found)
    yield f"![Figure {name}](figures/{name}.svg)"


def read_verdicts(root: Path, name: str) -> list[ContrastResult]:
    """Return what a figure that was made in a recipe's folder says; [] where there is none."""
    try:
        fields = json.loads((root / f"figures/{name}.json").read_text("utf-8"))
    except FileNotFoundError:
        return []
    return [
        ContrastResult(
            words=row["words"],
            difference=row["difference"],
            ci95=row["ci95"] and Interval(*row["ci95"]),
            outcome=row.get("outcome") or row["told"],  # its name before 0.1.0
        )
        for row in fields["verdicts"]
    ]


def draw_split(folder: Path, split: str, one: Findings) -> None:
    """Write figures 6a and 6b of one split alone, for the report of a recipe."""
    for name, over in OVER.items():
        draw(
            _figure(name, AblationPlan([], titles=("",)), over(0, one)),
            folder / f"{name}-{split}.svg",
        )


def _of_recipe(root: Path, preset: Preset, name: str) -> list[Measured]:
    measured: list[Measured] = []
    for panel, split in enumerate(SPLITS):
        one = findings([read_seed(root, preset, seed, split) for seed in preset.seeds])
        measured += OVER[name](panel, one)
    return measured


def _figure(name: str, plan: AblationPlan, measured: Sequence[Measured]) -> Figure:
    panels = [
        _series([one for one in measured if one.panel == panel])
        for panel in sorted({one.panel for one in measured})
    ]
    return paper_figure(name, panels, x=plan.x, titles=plan.titles, scale=plan.scale)


def _series(measured: Sequence[Measured]) -> list[Series]:
    found: dict[tuple[str, bool], list[Point]] = {}
    for one in measured:
        interval = None if one.baseline else one.ci95
        found.setdefault((one.series, one.baseline), []).append(Point(one.x, one.share, interval))
    return [Series(name, tuple(points), baseline) for (name, baseline), points in found.items()]


def _fields(
    name: str, preset: Preset, measured: Sequence[Measured], found: Sequence[ContrastResult]
) -> dict[str, Any]:
    points = [
        {"panel": one.panel, "series": one.series, "x": one.x, "share": one.share,
         "ci95": one.ci95, "problems": None if one.outcomes is None else len(one.outcomes)}
        for one in measured
    ]  # fmt: skip
    return {
        "figure": name,
        "claim": FIGURES[name].claim,
        "preset": preset.name,
        "seeds": preset.seeds if name in OVER else preset.seeds[:1],
        "points": points,
        "verdicts": [one._asdict() for one in found],
    }


def _lines(
    name: str, plan: AblationPlan, measured: Sequence[Measured], found: Sequence[ContrastResult]
) -> Iterator[str]:
    frames = FIGURES[name].frames
    titles = plan.titles or tuple(frame.title for frame in frames)
    yield f"## Figure {name}: {FIGURES[name].claim}"
    yield ""
    xs = {frame.x for frame in frames}
    yield f"| | {plan.x or (xs.pop() if len(xs) == 1 else 'x')} | % | 95 % |"
    yield "|---|---:|---:|---:|"
    for one in measured:
        title = ": ".join(filter(None, (titles[one.panel], one.series)))
        yield f"| {title} | {one.x:g} | {100 * one.share:.1f} | {_bounds(one.ci95)} |"
    yield ""
    yield from (f"- {said(verdict)}" for verdict in found)
    yield ""


def said(verdict: ContrastResult) -> str:
    """Return a verdict in words, with its difference in points."""
    told = f"{100 * verdict.difference:+.1f}"
    if verdict.ci95 is not None:
        told += f" ({_bounds(verdict.ci95, '+')})"
    return f"{verdict.words}: {told}, {verdict.outcome}"


def _bounds(interval: tuple[float, float] | None, sign: str = "") -> str:
    if interval is None:
        return ""
    low, high = (f"{100 * bound:{sign}.1f}" for bound in interval)
    return f"{low} to {high}"
