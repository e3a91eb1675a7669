"""The report and the figures of a reproduction of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gradeschool.atomic import write_file, write_json
from gradeschool.formats.own_run import read_json
from gradeschool.formats.settings import read_object
from gradeschool.percentages import bounds, decimals, gain, percent, points
from gradeschool.reports.figures import Figure, Point, Series, draw
from gradeschool.reports.grid import FILE, gap_text, write_grid
from gradeschool.reports.paper_figures import FIGURES, paper_figure
from gradeschool.reports.printable import markdown_table
from gradeschool.scoring.statistics import Interval
from gradeschool.verifier.reproduce.ablations import GRID
from gradeschool.verifier.reproduce.findings import (
    BASELINE,
    CONTROL,
    CONTROL_LOGPROB,
    SELECTION,
    Findings,
    StrategyFinding,
    findings,
    read_seed,
)
from gradeschool.verifier.reproduce.plans import AblationPlan, MeasuredPoint
from gradeschool.verifier.reproduce.points import (
    ContrastResult,
    measure,
    over_completions,
    over_voters,
    verdicts,
)
from gradeschool.verifier.reproduce.presets import Preset, layer_results, second_results
from gradeschool.verifier.reproduce.stages import StageResult
from gradeschool.verifier.selection import BEST, COVERAGE, MAJORITY, strategy_title

MADE_AGAIN = "remove the file of its stage in the folder stages; the same command makes it again"
LARGE = 1e7  # from here on a table prints three digits
NO_CONTRASTS = "measured, with no finding to decide: see the figure below"
POINTS = 0.05  # the gain that the claim requires
BY_VERIFIER = (BEST, "top", "weighted", "frequency")
GREEDY_TITLES = {
    BASELINE: "the baseline: the fully fine-tuned generator, greedy",
    CONTROL: "the control: trained on its own right samples too, greedy",
    CONTROL_LOGPROB: "best by mean logprob under the control, without a verifier",
}
SPLIT_TITLES = {
    "test": "Problems like the training problems",
    "held-out": "Problems of structures that were held out",
}


def write_report(
    root: Path, preset: Preset, by_split: Mapping[str, Findings], ended: Mapping[str, StageResult]
) -> Path:
    """Write report.md and its figures into a recipe's folder; return the report's path."""
    (root / "figures").mkdir(exist_ok=True)
    for split, item in by_split.items():
        draw_split(root / "figures", split, item)
    path = root / "report.md"
    figures = {
        name: results for name in FIGURES if (results := read_verdicts(root, name)) is not None
    }
    lines = [*_lines(preset, by_split, ended, figures), *second_round(root, preset)]
    lines += layers(root, preset)
    if (root / FILE).is_file():
        lines += ["", "## Every score, before and after self-training", *write_grid(root, preset)]
    write_file(path, ("\n".join(lines) + "\n").encode())
    return path


def _lines(
    preset: Preset,
    by_split: Mapping[str, Findings],
    ended: Mapping[str, StageResult],
    figures: Mapping[str, Sequence[ContrastResult]],
) -> Iterator[str]:
    yield f"# Training verifiers, reproduced: `{preset.name}`"
    yield ""
    yield from _setting(preset, ended)
    for split, item in by_split.items():
        yield from ("", f"## {SPLIT_TITLES[split]}", "")
        yield from _claim(preset, item)
        yield from _strategies(item)
        yield from _aucs(item)
        yield from _families(item)
        yield ""
        yield f"![Accuracy over completions](figures/6a-{split}.svg)"
        yield f"![Accuracy over voters](figures/6b-{split}.svg)"
    yield from ("", "## The paper's claims", "")
    yield from _claims(by_split, figures)
    yield ""
    yield from (f"![Figure {name}](figures/{name}.svg)" for name in figures)


def _setting(preset: Preset, ended: Mapping[str, StageResult]) -> Iterator[str]:
    seconds = sum(item.cpu_seconds for item in ended.values())
    families = ", ".join(preset.families) or "all families"
    replayed = " and the first ones" if preset.replay else ""
    rows = {
        "problems": f"fresh, {families}; {preset.steps[0]} to {preset.steps[1]} "
        f"steps; tested on {' and '.join(map(str, preset.tested))}",
        "generator": f"{_origin(preset)}, {preset.problems:,} problems with "
        f"solutions, `{' '.join(preset.generator)}`; its greedy answers are the baseline",
        "control": "the generator, further on its own right completions of the verifier's problems"
        f"{replayed}, `{' '.join(preset.control)}`",
        "verifier": f"{preset.labelled:,} further problems, of which the final answers alone are "
        f"used; {preset.k} completion(s) of each at temperature {preset.temperature:g}; begins as "
        "the control; "
        f"`{' '.join(preset.verifier)}`",
        "test": f"{preset.n} completions a problem at temperature {preset.test_temperature:g}, "
        "with the calculator",
        "training seeds": ", ".join(map(str, preset.seeds)),
        "seconds of CPU": f"{seconds:,.0f}",
    }
    yield from markdown_table(("", ""), rows.items(), texts=2)
    if "likelihood" in preset.verifier:
        yield ""
        yield (
            "The verifier's score is not the paper's scalar head but the likelihood of the whole "
            "solution under a copy of the generator, scaled and trained on the labels: at this "
            "scale the paper's head did not help on such problems (docs/log.md)."
        )


def _origin(preset: Preset) -> str:
    if preset.model:
        return f"the pretrained {Path(preset.model).name!r}"
    return f"{preset.size} parameters from scratch"


def second_round(root: Path, preset: Preset) -> Iterator[str]:
    """Yield the section on the verifier on top of the control, if there is one."""
    for split in preset.splits if preset.second else ():
        yield from ("", f"## {SPLIT_TITLES[split]}: the verifier on top of the control", "")
        rows: list[tuple[str, ...]] = []
        for seed in preset.seeds:
            fields = read_object(root / second_results(split, seed), MADE_AGAIN)
            for name, baseline in fields["baselines"].items():
                right, interval = _percent(baseline["accuracy"]), _bounds(baseline["ci95"])
                rows.append((str(seed), f"{name}, greedy", right, interval, ""))
            for strategy in fields["strategies"].values():
                gap = strategy["over"].get(MAJORITY)
                over = gain(gap["difference"], gap["ci95"]) if gap else ""
                right, interval = _percent(strategy["accuracy"]), _bounds(strategy["ci95"])
                rows.append((str(seed), strategy["title"], right, interval, over))
        yield from markdown_table(("seed", "", "right", "95 %", "over the majority vote"), rows, 2)


def layers(root: Path, preset: Preset) -> Iterator[str]:
    """Yield the section on linear probes of the generator's layers, if there are any."""
    files = [layer_results(split, seed) for split in preset.splits for seed in preset.seeds]
    for file in (root / name for name in files):
        rows = (read_json(file) or {}).get("layers")
        if not rows:
            continue
        yield from ("", "## Why: what a linear probe of each layer separates", "")
        yield (
            "A ridge regression on the state at the last token, fitted and tested on different "
            f"problems: the AUC over all samples, and within the {rows[0]['problems']} problems "
            f"that have right and wrong ones (`{file.stem}`)."
        )
        yield ""
        yield from markdown_table(("layer", "over all", "within problems", "95 %"), (
            (
                str(row["layer"]), decimals(row["auc"]), decimals(row["within"]),
                " to ".join(f"{bound:.3f}" for bound in row["within_ci95"] or ()),
            )
            for row in rows
        ), texts=0)  # fmt: skip


def _claim(preset: Preset, item: Findings) -> Iterator[str]:
    stored = [strategy for strategy in _by_verifier(item) if _holds(strategy)]
    margin = f"by {100 * POINTS:.0f} points or more, with a 95 % interval above 0"
    names = " and ".join(_title(strategy.name) for strategy in stored)
    if stored:
        yield f"**{names} beat both the fully fine-tuned baseline and the majority vote** {margin} "
        yield f"({item.problems:,} problems)."
    else:
        yield "**No way to use the verifier beats both the fully fine-tuned baseline and the "
        yield f"majority vote** {margin} ({item.problems:,} problems)."
    yield ""
    yield (
        f"This is not the paper's comparison like for like. The verifier had the labels of "
        f"{preset.labelled:,} problems that the baseline never saw, and methods that use the same "
        "labels without a verifier can be as good:"
    )
    yield ""
    named = {strategy.name: strategy for strategy in item.strategies}
    best = max(_by_verifier(item), key=lambda strategy: strategy.accuracy)
    control, measured = named.get(CONTROL), named.get(CONTROL_LOGPROB)
    if control is not None:
        yield (
            "- The fair control, the generator trained further on its own right samples of the "
            f"same problems, reaches "
            f"{_percent(control.accuracy)} with one greedy answer. The best use of the verifier "
            f"differs from that by {gap_text(best.over[CONTROL])}."
        )
    if measured is not None:
        yield (
            "- Ranking the same samples by their log-probability under that generator needs no "
            f"verifier and reaches {_percent(measured.accuracy)}. The best use of the verifier "
            f"differs from that by {gap_text(best.over[CONTROL_LOGPROB])}."
        )
    elif "likelihood" in preset.verifier:
        yield (
            "- Ranking samples by their log-probability under that generator needs no verifier. "
            "This report does not measure it. In an exploratory run with one seed it reached "
            "66.2 % and the likelihood head 66.6 %, so the head may add nothing (docs/log.md)."
        )
    yield ""


def _holds(strategy: StrategyFinding) -> bool:
    against = [strategy.over.get(BASELINE), strategy.over.get(MAJORITY)]
    return all(gap is not None and gap.difference >= POINTS and gap.ci95.low > 0 for gap in against)


def _by_verifier(item: Findings) -> list[StrategyFinding]:
    return [strategy for strategy in item.strategies if strategy.name in BY_VERIFIER]


def _title(name: str) -> str:
    return GREEDY_TITLES.get(name) or strategy_title(name, SELECTION.voters, SELECTION.share_weight)


def _strategies(item: Findings) -> Iterator[str]:
    heads = ("", "right", "95 %", "each seed", "over the baseline", "over the majority vote")
    rows = []
    for strategy in item.strategies:
        seeds = " ".join(f"{100 * share:.1f}" for share in strategy.by_seed)
        cells = [_percent(strategy.accuracy), _bounds(strategy.ci95), seeds]
        cells += [gap_text(strategy.over.get(name)) for name in (BASELINE, MAJORITY)]
        rows.append((_title(strategy.name), *cells))
    yield from markdown_table(heads, rows)
    yield ""


def _aucs(item: Findings) -> Iterator[str]:
    names = {"verifier": "verifier", "logprob": "generator's mean logprob",
             "sum": "generator's summed logprob"}  # fmt: skip
    yield from markdown_table(("right from wrong (AUC)", "all completions", "within problems"), (
        (names[row.score], decimals(row.overall), decimals(row.within)) for row in item.mean_aucs
    ))  # fmt: skip
    yield ""


def _families(item: Findings) -> Iterator[str]:
    shown = [BASELINE, CONTROL, MAJORITY, BEST, "weighted", "logprob", COVERAGE]
    columns = [name for name in shown if any(strategy.name == name for strategy in item.strategies)]
    rows = []
    for family, strategies in item.families.items():
        shares = {strategy.name: 100 * strategy.accuracy for strategy in strategies}
        rows.append((family, *(f"{shares[name]:.1f}" for name in columns)))
    yield from markdown_table(("family, % right", *map(_title, columns)), rows)


def _claims(
    by_split: Mapping[str, Findings], figures: Mapping[str, Sequence[ContrastResult]]
) -> Iterator[str]:
    rows = []
    for name, form in FIGURES.items():
        if name == "6a":
            text = "; ".join(f"{split}: {_peak(item)}" for split, item in by_split.items())
        elif name == "6b":
            text = "; ".join(f"{split}: {_voters(item)}" for split, item in by_split.items())
        elif name in figures:
            results = "; ".join(map(contrast_text, figures[name])) or NO_CONTRASTS
            text = f"{results} (one training seed)"
        else:
            text = f"not part of this run: `gradeschool reproduce --figure {name}`"
        rows.append((name, form.claim, text))
    yield from markdown_table(("figure", "claim", "here"), rows, texts=3)


def _peak(item: Findings) -> str:
    points = item.over_completions[BEST]
    best = max(points, key=lambda point: point.accuracy)
    first, last = points[0], points[-1]
    rises = f"{_percent(first.accuracy)} with 1, {_percent(best.accuracy)} with {best.n}"
    return rises if best is last else f"{rises}, then {_percent(last.accuracy)} with {last.n}"


def _voters(item: Findings) -> str:
    best = max(item.over_voters, key=lambda point: point.accuracy)
    return f"{_percent(best.accuracy)} with {best.n} voters of {item.over_voters[-1].n}"


def _percent(share: float) -> str:
    return percent(share, 1)


OVER = {"6a": over_completions, "6b": over_voters}


def write_figure(root: Path, preset: Preset, name: str, plan: AblationPlan) -> Iterator[str]:
    """Write figures/NAME.svg and .json of a recipe's folder; yield their results as lines."""
    if name == GRID:
        yield from write_grid(root, preset)
        return
    measured = _of_recipe(root, preset, name) if name in OVER else measure(root, plan)
    result = verdicts(name, plan, measured)
    folder = root / "figures"
    folder.mkdir(exist_ok=True)
    draw(_figure(name, plan, measured), folder / f"{name}.svg")
    write_json(folder / f"{name}.json", _fields(name, preset, measured, result))
    yield from _figure_lines(name, plan, measured, result)
    yield f"![Figure {name}](figures/{name}.svg)"


def read_verdicts(root: Path, name: str) -> list[ContrastResult] | None:
    """Return the results of a figure in a recipe's folder; None if there is no such figure.

    They are [] for a figure without contrasts.
    """
    fields = read_json(root / f"figures/{name}.json")
    if fields is None:
        return None
    return [
        ContrastResult(
            words=row["words"],
            difference=row["difference"],
            ci95=row["ci95"] and Interval(*row["ci95"]),
            outcome=row.get("outcome") or row["told"],  # its name before 0.1.0
        )
        for row in fields["verdicts"]
    ]


def draw_split(folder: Path, split: str, item: Findings) -> None:
    """Write figures 6a and 6b for one split, for the report of a recipe."""
    for name, over in OVER.items():
        draw(
            _figure(name, AblationPlan([], titles=("",)), over(0, item)),
            folder / f"{name}-{split}.svg",
        )


def _of_recipe(root: Path, preset: Preset, name: str) -> list[MeasuredPoint]:
    measured: list[MeasuredPoint] = []
    for panel, split in enumerate(preset.splits):
        item = findings([read_seed(root, seed, split) for seed in preset.seeds])
        measured += OVER[name](panel, item)
    return measured


def _figure(name: str, plan: AblationPlan, measured: Sequence[MeasuredPoint]) -> Figure:
    panels = [
        _series([item for item in measured if item.panel == panel])
        for panel in sorted({item.panel for item in measured})
    ]
    return paper_figure(name, panels, x=plan.x, titles=plan.titles, scale=plan.scale)


def _series(measured: Sequence[MeasuredPoint]) -> list[Series]:
    results: dict[tuple[str, bool], list[Point]] = {}
    for item in measured:
        interval = None if item.baseline else item.ci95
        results.setdefault((item.series, item.baseline), []).append(
            Point(item.x, item.share, interval)
        )
    return [Series(name, tuple(points), baseline) for (name, baseline), points in results.items()]


def _fields(
    name: str, preset: Preset, measured: Sequence[MeasuredPoint], results: Sequence[ContrastResult]
) -> dict[str, Any]:
    points = [
        {"panel": item.panel, "series": item.series, "x": item.x, "share": item.share,
         "ci95": item.ci95, "problems": len(item.outcomes or item.chances or ()) or None}
        for item in measured
    ]  # fmt: skip
    return {
        "figure": name,
        "claim": FIGURES[name].claim,
        "preset": preset.name,
        "seeds": preset.seeds if name in OVER else preset.seeds[:1],
        "points": points,
        "verdicts": [result._asdict() for result in results],
    }


def _figure_lines(
    name: str,
    plan: AblationPlan,
    measured: Sequence[MeasuredPoint],
    results: Sequence[ContrastResult],
) -> Iterator[str]:
    frames = FIGURES[name].frames
    titles = plan.titles or tuple(frame.title for frame in frames)
    yield f"## Figure {name}: {FIGURES[name].claim}"
    yield ""
    xs = {frame.x for frame in frames}
    rows = []
    levels: dict[str, float] = {}
    for item in measured:
        title = ": ".join(filter(None, (titles[item.panel], item.series)))
        if item.baseline and levels.get(title) == item.share:
            continue
        levels[title] = item.share
        x = f"{item.x:.3g}" if item.x >= LARGE else f"{item.x:g}"
        rows.append((title, x, f"{100 * item.share:.1f}", _bounds(item.ci95)))
    x = plan.x or (xs.pop() if len(xs) == 1 else "x")
    yield from markdown_table(("", x, "%", "95 %"), rows)
    yield ""
    yield from (f"- {contrast_text(verdict)}" for verdict in results)
    yield ""


def contrast_text(verdict: ContrastResult) -> str:
    """Return a verdict in words, with its difference in points."""
    interval = verdict.ci95
    measured = (
        points(verdict.difference, 1) if interval is None else gain(verdict.difference, interval)
    )
    return f"{verdict.words}: {measured}, {verdict.outcome}"


def _bounds(interval: Iterable[float] | None) -> str:
    return "" if interval is None else bounds(interval, 1, " to ")
