"""What `gradeschool verifier reproduce` writes: report.md, and a figure's points and drawing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gradeschool.atomic import write_file, write_json
from gradeschool.percentages import bounds, decimals, gain, percent
from gradeschool.reports.figures import Dot, Panel, draw_curves
from gradeschool.verifier.reproduce import (
    FIGURES,
    FigurePoint,
    Preset,
    findings,
    measure,
    read_costs,
    read_selected,
)
from gradeschool.verifier.select import BEST, VERIFIER, auc_of_cases, break_even_auc

# What the report compares with the majority vote; the learning curve shows the first three.
SHOWN = (BEST, "weighted", "odds", "frequency", "top", "logprob")
CONTROLS = {
    "control 1": "the same labels spent on fine-tuning, greedily",
    "control 2": "log-probability under that model",
}


def write_report(preset: Preset, folder: Path) -> Path:
    """Write report.md from a finished recipe's folder; return its path."""
    first = preset.seeds[0]
    by_name = findings(preset, folder, "verifier", preset.seeds)
    shown = {name: by_name[name] for name in SHOWN if name in by_name}
    ahead = [each.title for each in shown.values() if each.over["majority"].ci95.low > 0]
    best = max(shown, key=lambda name: shown[name].accuracy)
    more = shown[best].over["majority"]
    certain = f"above it for certain: {', '.join(ahead)}" if ahead else (
        "nothing is above the majority for certain")  # fmt: skip
    lines = [
        f"# Verifiers, preset {preset.name}",
        "",
        f"The {shown[best].title} is right on {percent(shown[best].accuracy, 1)}, "
        f"{gain(more.difference, more.ci95)} over the majority vote; {certain}.",
    ]
    over = findings(preset, folder, "verifier", (first,))[best].over
    for name, words in CONTROLS.items():
        state = "stays ahead of it" if over[name].difference < 0 else "is behind it"
        lines.append(f"{name.capitalize()} ({words}) {state}: "
                     f"{gain(over[name].difference, over[name].ci95)} for the verifier "
                     f"(seed {first}).")  # fmt: skip
    selected = read_selected(folder, f"seed-{first}/test", f"seed-{first}/scores-verifier.jsonl")
    need = break_even_auc([result.case for result in selected])
    lines += [
        "",
        f"{preset.labelled:,} labelled problems with {preset.k} samples each, "
        f"{len(selected):,} test problems with {preset.n}; {len(preset.seeds)} seeds of the "
        f"verifier. The best of {preset.n} equals the majority at an AUC within problems of "
        f"{decimals(need) or 'none'} (seed {first}).",
        "",
    ]
    rows = [["strategy", "right", "95 %", "by seed", "over the majority"]]
    for finding in by_name.values():
        above = finding.over.get("majority")
        rows.append([finding.title, percent(finding.accuracy, 1), bounds(finding.ci95),
                     " ".join(f"{100 * share:.1f}" for share in finding.by_seed),
                     gain(above.difference, above.ci95) if above else ""])  # fmt: skip
    lines += _table(rows)
    named = {f"{labels:,}": f"verifier-{labels}" for labels in preset.curve}
    named[f"{preset.labelled:,}"] = "verifier"
    if preset.pooled is not None:
        named[f"{preset.labelled:,} pooled"] = "pooled"
    names = list(shown)[:3]
    rows = [["labelled problems", "AUC within", *(shown[name].title for name in names)]]
    for label, what in named.items():
        results = read_selected(folder, f"seed-{first}/test", f"seed-{first}/scores-{what}.jsonl")
        inside = auc_of_cases(VERIFIER, [result.case for result in results]).within
        each = findings(preset, folder, what, (first,))
        gains = [each[name].over["majority"] for name in names]
        rows.append([label, decimals(inside), *(gain(one.difference, one.ci95) for one in gains)])
    lines += [f"## Learning curve (seed {first}), points over the majority", "", *_table(rows)]
    costs = read_costs(folder)
    rows = [["stage", "CPU s"], *([name, f"{cost:,.0f}"] for name, cost in costs.items())]
    lines += [f"## CPU seconds: {sum(costs.values()):,.0f}", "", *_table(rows)]
    path = folder / "report.md"
    write_file(path, "\n".join(lines).encode())
    return path


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return [lines[0], "|" + "---|" * len(rows[0]), *lines[1:], ""]


def write_figure(folder: Path, name: str, points: Sequence[FigurePoint]) -> list[str]:
    """Write figures/NAME.json and .svg of a finished figure; return its lines for people."""
    measured, plan = measure(folder, points), FIGURES[name]
    target = folder / "figures"
    target.mkdir(exist_ok=True)
    rows = [each._asdict() for each in measured]
    write_json(target / f"{name}.json", {"figure": name, "claim": plan.claim, "points": rows})
    panels = []
    for title in dict.fromkeys(each.panel for each in measured):
        here = [each for each in measured if each.panel == title]
        series: dict[str, list[Dot]] = {}
        for each in sorted(here, key=lambda each: each.x):
            series.setdefault(each.series, []).append(Dot(each.x, each.share, each.ci95))
        panels.append(Panel(series, plan.x, "Test problems solved (%)", title))
    draw_curves(panels, target / f"{name}.svg")
    return [f"figure {name}: {plan.claim}",
            *(f"{each.panel} {each.series:30} {each.x:10,g} {percent(each.share, 1)} "
              f"({bounds(each.ci95)})" for each in measured)]  # fmt: skip
