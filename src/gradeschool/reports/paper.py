"""What `gradeschool verifier reproduce` writes: report.md, and a figure's points and drawing.

All is read from the runs and scores that the finished stages left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from gradeschool.atomic import write_file, write_json
from gradeschool.formats.own_run import read_json
from gradeschool.formats.samples import ReadOptions
from gradeschool.formats.verifier_scores import choose_scores
from gradeschool.percentages import bounds, decimals, gain, percent
from gradeschool.reports.figures import Dot, Panel, draw_curves
from gradeschool.scoring.at_k import steps
from gradeschool.scoring.candidates import one_run
from gradeschool.scoring.statistics import clustered_wilson, mean_share
from gradeschool.verifier.rank import (
    BEST,
    LOGPROB,
    MAJORITY,
    SHARE,
    TOP,
    VERIFIER,
    ProblemResult,
    auc_of_cases,
    break_even_auc,
    count_outcomes,
    measure_curves,
    paired_difference,
    pick,
    rank_input,
    title_of,
)
from gradeschool.verifier.reproduce import FIGURES, STAGES, TEST, VOTERS, FigurePoint, Preset

TOP_VOTERS = (3,)
VOTER_COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 64, 80, 100)  # of figure 7b
LEAST_COMPLETIONS = 8  # of a curve over voters
# What the report compares with the majority vote; the learning curve shows the first three.
SHOWN = (BEST, "weighted", "odds", SHARE, f"{TOP} 3", LOGPROB)
Outcomes = Mapping[str, tuple[int, int]]  # (right, completions) by problem


def read_selected(
    folder: Path, run: str, scores: str, voters: Sequence[int] = TOP_VOTERS
) -> list[ProblemResult]:
    """Return what every strategy selects from a run by a file of scores."""
    sampled = one_run(str(folder / run), ReadOptions(dataset=str(folder / TEST)), lambda _: None)
    ranked = rank_input(sampled, *choose_scores(folder / scores, None))
    ns = steps(max(len(case.options) for case in ranked.cases))
    return [pick(case, ranked.has_logprob, ns, voters) for case in ranked.cases]


def read_greedy(folder: Path, run: str) -> Outcomes:
    """Return the outcomes of a run by problem."""
    sampled = one_run(str(folder / run), ReadOptions(dataset=str(folder / TEST)), lambda _: None)
    return {answered.problem.id: answered.outcome for answered in sampled.answered}


def _compare(before: Outcomes, after: Outcomes) -> str:
    """Return after minus before, in points with its interval."""
    found = paired_difference(before, after)
    return gain(found.difference, found.ci95)


def write_report(preset: Preset, folder: Path) -> Path:
    """Write report.md from a finished recipe's folder; return its path."""
    first = preset.seeds[0]

    @lru_cache
    def selected(what: str, seed: int = first) -> list[ProblemResult]:
        scores = f"seed-{seed}/scores-{what}.jsonl"
        return read_selected(folder, f"seed-{first}/test", scores)

    by_seed: dict[str, list[dict[str, tuple[int, int]]]] = {}  # of each strategy
    for name in selected("verifier")[0].by_strategy:
        by_seed[name] = [count_outcomes(selected("verifier", seed), name) for seed in preset.seeds]
    # A problem's outcomes are added over seeds, so that intervals are over problems.
    added: dict[str, Outcomes] = {
        name: {id: (sum(each[id][0] for each in outcomes), sum(each[id][1] for each in outcomes))
               for id in outcomes[0] if all(id in each for each in outcomes)}
        for name, outcomes in by_seed.items()
    }  # fmt: skip
    shares = {name: mean_share(outcomes.values()) for name, outcomes in added.items()}
    titles = {name: title_of(name) for name in added}
    shown = [name for name in SHOWN if name in added]
    ahead = [titles[name] for name in shown
             if paired_difference(added[MAJORITY], added[name]).ci95.low > 0]  # fmt: skip
    best = max(shown, key=shares.__getitem__)
    certain = f"above it for certain: {', '.join(ahead)}" if ahead else (
        "nothing is above the majority for certain")  # fmt: skip
    lines = [
        f"# Verifiers, preset {preset.name}",
        "",
        f"The {titles[best]} is right on {percent(shares[best], 1)}, "
        f"{_compare(added[MAJORITY], added[best])} over the majority vote; {certain}.",
    ]
    controls = {
        "Control 1 (the same labels spent on fine-tuning, greedily)":
            read_greedy(folder, f"seed-{first}/greedy-control"),
        "Control 2 (log-probability under that model)":
            count_outcomes(selected("control"), BEST),
    }  # fmt: skip
    for words, outcomes in controls.items():
        mine = by_seed[best][0]
        is_ahead = paired_difference(outcomes, mine).difference < 0
        lines.append(f"{words} {'stays ahead of it' if is_ahead else 'is behind it'}: "
                     f"{_compare(outcomes, mine)} for the verifier (seed {first}).")  # fmt: skip
    need = break_even_auc([result.case for result in selected("verifier")])
    lines += [
        "",
        f"{preset.labelled:,} labelled problems with {preset.k} samples each, "
        f"{len(selected('verifier')):,} test problems with {preset.n}; {len(preset.seeds)} "
        f"training seeds. The best of {preset.n} equals the majority at an AUC within problems of "
        f"{decimals(need) or 'none'} (seed {first}).",
        "",
    ]
    rows = [["strategy", "right", "95 %", "by seed", "over the majority"]]
    for name, each in added.items():
        over = "" if name == MAJORITY else _compare(added[MAJORITY], each)
        rows.append([titles[name], percent(shares[name], 1),
                     bounds(clustered_wilson(list(each.values()))),
                     " ".join(f"{100 * mean_share(seed.values()):.1f}" for seed in by_seed[name]),
                     over])  # fmt: skip
    lines += _table(rows)
    named = {f"{labels:,}": f"verifier-{labels}" for labels in preset.curve}
    named[f"{preset.labelled:,}"] = "verifier"
    if other := preset.other_level:
        named[f"{preset.labelled:,}, --level {other}"] = other
    rows = [["labelled problems", "AUC within", *(titles[name] for name in shown[:3])]]
    for label, what in named.items():
        results = selected(what)
        inside = auc_of_cases(VERIFIER, [result.case for result in results]).within
        majority = count_outcomes(results, MAJORITY)
        rows.append([label, decimals(inside), *(_compare(majority, count_outcomes(results, name))
                                                for name in shown[:3])])  # fmt: skip
    lines += [f"## Learning curve (seed {first}), points over the majority", "", *_table(rows)]
    costs = {path.stem: float((read_json(path) or {}).get("cpu_seconds", 0))
             for path in sorted((folder / STAGES).glob("*.json"))}  # fmt: skip
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
    measured, (claim, x, _) = list(_measure(folder, points)), FIGURES[name]
    target = folder / "figures"
    target.mkdir(exist_ok=True)
    write_json(target / f"{name}.json", {"figure": name, "claim": claim, "points": measured})
    panels: dict[str, dict[str, list[Dot]]] = {}
    for each in sorted(measured, key=lambda each: each["x"]):
        series = panels.setdefault(each["panel"], {}).setdefault(each["series"], [])
        series.append(Dot(each["x"], each["share"], each["ci95"]))
    ordered = dict.fromkeys(each["panel"] for each in measured)
    drawn = [Panel(panels[title], x, "Test problems solved (%)", title) for title in ordered]
    draw_curves(drawn, target / f"{name}.svg")
    return [f"figure {name}: {claim}",
            *(f"{each['panel']} {each['series']:30} {each['x']:10,g} {percent(each['share'], 1)} "
              f"({bounds(each['ci95'])})" for each in measured)]  # fmt: skip


def _measure(folder: Path, points: Sequence[FigurePoint]) -> Iterator[dict[str, Any]]:
    """Yield the measured points of a figure."""
    selected = lru_cache(lambda *what: read_selected(folder, *what))
    for point in points:
        fields = {"panel": point.panel, "series": point.series, "x": point.x}
        if not point.scores:
            clusters = list(read_greedy(folder, point.run).values())
            yield {**fields, "share": mean_share(clusters), "ci95": clustered_wilson(clusters)}
            continue
        voters = VOTER_COUNTS if point.strategy == VOTERS else TOP_VOTERS
        results = selected(point.run, point.scores, voters)
        curves = measure_curves(results, max(len(result.case.options) for result in results))
        if point.strategy == VOTERS:
            for k in VOTER_COUNTS:
                for each in curves[f"{TOP} {k}"]:
                    if each.n >= max(k, LEAST_COMPLETIONS):
                        yield {**fields, "series": f"of {each.n}", "x": k,
                               "share": each.accuracy, "ci95": each.ci95}  # fmt: skip
            continue
        curve = curves.get(point.strategy, [])
        for each in curve[-1:] if point.x else curve:
            yield {**fields, "x": point.x or each.n, "share": each.accuracy, "ci95": each.ci95}
