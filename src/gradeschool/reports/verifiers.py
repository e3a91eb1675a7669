"""What the verifier's commands print and write: rankings, step benchmarks, the reproduction.

The reproduction's report.md, and a figure's points and drawing, are read from the runs and scores
that the finished stages left.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from rich.console import Console

from gradeschool.atomic import write_file, write_json
from gradeschool.datasets.load import LabelledSteps
from gradeschool.formats.run_folder import ScoreRow, choose_scores, read_json
from gradeschool.formats.values import ReadOptions
from gradeschool.printable import bounds, decimals, gain, percent, printable
from gradeschool.reports.pages import fill
from gradeschool.reports.terminal import simple_table
from gradeschool.scoring.at_k import CandidateRun, curve_sizes, one_run
from gradeschool.scoring.statistics import clustered_wilson, mean_share
from gradeschool.verifier import rank
from gradeschool.verifier.reproduce import FIGURES, STAGES, TEST, VOTERS, FigurePoint, Preset
from gradeschool.verifier.step_bench import FOLDS, RESAMPLES

SCORE_NAMES = {"verifier": "verifier", "logprob": "mean logprob"}
HALVES = (
    "the SHA-256 of the problem divides the problems into two halves, and each half's threshold is "
    "the one with the highest F1 on the other half"
)
TOP_VOTERS = (3,)
VOTER_COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 64, 80, 100)  # of figure 7b
LEAST_COMPLETIONS = 8  # of a curve over voters
# What the report compares with the majority vote; the learning curve shows the first three.
METHODS_SHOWN = (rank.BEST, "weighted", "odds", rank.ANSWER_SHARE, f"{rank.TOP} 3", rank.LOGPROB)


def print_ranking(
    ranking: Mapping[str, Any], baselines: Mapping[str, rank.Outcomes], console: Console
) -> None:
    """Print what to select by, then every strategy, and over the number of completions."""
    console.print(printable(ranking["conclusion"]), soft_wrap=True)
    console.print(
        "{problems} problems, {completions} completions (up to {most_completions} a problem); on "
        "average a problem has {unique_solutions:.1f} different solutions\nand "
        "{unique_answers:.1f} different answers; {mixed} problems have correct and wrong "
        "ones".format_map(ranking),
        soft_wrap=True,
    )
    others = [rank.MAJORITY, *baselines]
    over = [f"over {printable(name, keep='')}" for name in others]
    table = simple_table(["strategy"], ["right", "95 % interval", *over])
    for name, outcomes in baselines.items():
        clusters = list(outcomes.values())
        table.add_row(f"baseline {printable(name, keep='')}", percent(mean_share(clusters)),
                      bounds(clustered_wilson(clusters)))  # fmt: skip
    for result in ranking["strategies"].values():
        more = (result["over"].get(name) for name in others)
        gains = (gain(each["difference"], each["ci95"], 2) if each else "" for each in more)
        table.add_row(result["title"], percent(result["accuracy"]), bounds(result["ci95"]), *gains)
    console.print(table)
    columns = ["all completions", "within problems", "95 % interval", "problems"]
    table = simple_table(["score"], columns, "AUC of correct against wrong")
    for name, each in ranking["auc"].items():
        interval = " - ".join(f"{bound:.3f}" for bound in each["within_ci95"] or ())
        table.add_row(SCORE_NAMES[name], decimals(each["overall"]), decimals(each["within"]),
                      interval, str(each["problems"]))  # fmt: skip
    console.print(table)
    if ranking["most_completions"] > 1:
        names = [name for name in ranking["curves"] if name != rank.MEAN]
        titles = [rank.title_of(name, short=True) for name in names]
        columns = ["problems", *titles, "best, 95 %"]
        table = simple_table(["N"], columns, "over the number of completions, % right")
        for index, best in enumerate(ranking["curves"][rank.BEST]):
            points = [ranking["curves"][name][index] for name in names]
            shares = [f"{100 * point['accuracy']:.1f}" for point in points]
            table.add_row(str(best["n"]), str(best["problems"]), *shares, bounds(best["ci95"]))
        console.print(table)
    console.print(
        "Intervals: 95 %, by problem. For fewer completions, the best by a score is exact over all "
        f"subsets; votes are averaged over {rank.DRAWS} random subsets, or over all if they are "
        "few.\n"
        "A scorer of the generator's size reads every completion once more: at equal tokens, "
        "compare N completions with a vote of 2 N.\n"
        "Choose strategy and voters on a run on other problems, not on the one that is reported.",
        soft_wrap=True,
    )


def print_bench(
    rows: Sequence[LabelledSteps], results: Sequence[Mapping[str, Any]], console: Console
) -> None:
    """Print F1 of every scorer with its accuracies, thresholds and PRMScore."""
    columns = ["F1", "95 % interval", "erroneous", "correct", "AUC", "no prediction"]
    table, thresholds, lines = simple_table(["scorer"], columns), [], []
    for result in results:
        name, chosen = printable(result["name"], keep=""), result["thresholds"]
        table.add_row(
            name,
            "" if result["f1"] is None else percent(result["f1"]),
            "" if result["ci95"] is None else bounds(result["ci95"]),
            *(
                "" if share is None else percent(share)
                for share in (result["error_accuracy"], result["correct_accuracy"])
            ),
            decimals(result["auc"]),
            str(result["unanswered"]),
        )
        if chosen:
            thresholds.append(f"{name} {' and '.join(map('{:.4g}'.format, chosen))}")
        if (prm := result["prm_score"]) is not None:
            lines.append(f"PRMScore of {name}: {percent(prm['score'])} (F1 of correct steps "
                         f"{percent(prm['f1'])}, of erroneous ones "
                         f"{percent(prm['negative_f1'])})")  # fmt: skip
    console.print(table)
    lines.append(
        f"{len(rows)} solutions of {len({row.problem for row in rows})} problems, "
        f"{results[0]['erroneous']} erroneous. F1: harmonic mean of the accuracies on erroneous "
        "(the first wrong step is predicted exactly) and correct solutions. Intervals: "
        f"{RESAMPLES:,} resamples of problems."
    )
    if thresholds:
        is_chosen = any(len(result["thresholds"] or ()) == FOLDS for result in results)
        lines.append(f"Thresholds: {'; '.join(thresholds)}{f' ({HALVES})' * is_chosen}.")
    for line in lines:
        console.print(line, soft_wrap=True)


# The reproduction


def _read_run(folder: Path, run: str) -> CandidateRun:
    return one_run(str(folder / run), ReadOptions(dataset=str(folder / TEST)), lambda _: None)


def read_selected(
    folder: Path, run: str, scores: str, voters: Sequence[int] = TOP_VOTERS
) -> list[rank.ProblemResult]:
    """Return what every strategy selects from a run by a file of scores."""
    ranked = rank.rank_input(_read_run(folder, run), *choose_scores(folder / scores, None))
    ns = curve_sizes(max(len(each.completions) for each in ranked.problems))
    return [rank.problem_result(each, ranked.has_logprob, ns, voters) for each in ranked.problems]


def read_greedy(folder: Path, run: str) -> rank.Outcomes:
    """Return the outcomes of a run by problem."""
    return {each.problem.id: each.outcome for each in _read_run(folder, run).answered}


def read_majority(folder: Path, run: str) -> rank.Outcomes:
    """Return the outcomes of a run's majority vote by problem."""
    sampled = _read_run(folder, run)
    rows = {each.key: ScoreRow(each.key, "", 0.0)
            for answered in sampled.answered for each in answered.candidates}  # fmt: skip
    problems = rank.rank_input(sampled, "", rows).problems
    results = (rank.problem_result(each, False, (), ()) for each in problems)
    return rank.count_outcomes(results, rank.MAJORITY)


def write_report(preset: Preset, folder: Path) -> Path:
    """Write report.md from a finished recipe's folder; return its path."""
    first = preset.seeds[0]

    @lru_cache
    def selected(what: str, seed: int = first) -> list[rank.ProblemResult]:
        scores = f"seed-{seed}/scores-{what}.jsonl"
        return read_selected(folder, f"seed-{first}/test", scores)

    by_seed = {
        name: [rank.count_outcomes(selected("verifier", seed), name) for seed in preset.seeds]
        for name in selected("verifier")[0].by_strategy
    }
    # A problem's outcomes are added over seeds, so that intervals are over problems.
    added: dict[str, rank.Outcomes] = {
        name: {id: (sum(each[id][0] for each in outcomes), sum(each[id][1] for each in outcomes))
               for id in outcomes[0] if all(id in each for each in outcomes)}
        for name, outcomes in by_seed.items()
    }  # fmt: skip
    shares = {name: mean_share(outcomes.values()) for name, outcomes in added.items()}
    titles = {name: rank.title_of(name) for name in added}
    shown = [name for name in METHODS_SHOWN if name in added]
    best = max(shown, key=shares.__getitem__)
    controls = {
        words: rank.paired_difference(outcomes, by_seed[best][0])
        for words, outcomes in (
            ("Control 1 (the same labels spent on fine-tuning, greedily)",
             read_greedy(folder, f"seed-{first}/greedy-control")),
            (f"Control 1 with a majority vote of {preset.n}",
             read_majority(folder, f"seed-{first}/test-control")),
            ("Control 2 (log-probability under that model)",
             rank.count_outcomes(selected("control"), rank.BEST)),
        )
    }  # fmt: skip
    labels = {f"{number:,}": f"verifier-{number}" for number in preset.curve}
    labels[f"{preset.labelled:,}"] = "verifier"
    curve = []
    for label, what in labels.items():
        inside = rank.auc_of(rank.VERIFIER, [each.problem for each in selected(what)]).within
        majority = rank.count_outcomes(selected(what), rank.MAJORITY)
        after = [rank.count_outcomes(selected(what), name) for name in shown[:3]]
        gains = (gain(*rank.paired_difference(majority, each)) for each in after)
        curve.append([label, decimals(inside), *gains])
    over_majority = {name: rank.paired_difference(added[rank.MAJORITY], each)
                     for name, each in added.items() if name != rank.MAJORITY}  # fmt: skip
    text = fill(
        "reproduction.md", preset=preset, first=first, titles=titles, shares=shares, best=best,
        curve=curve, majority=rank.MAJORITY, tested=len(selected("verifier")),
        over_majority=lambda name: gain(*over_majority[name]),
        ahead=[titles[name] for name in shown if over_majority[name][1].low > 0],
        controls={words: (gain(*found), found[0] < 0) for words, found in controls.items()},
        need=rank.break_even_auc([each.problem for each in selected("verifier")]),
        intervals={name: clustered_wilson(list(each.values())) for name, each in added.items()},
        seeds={name: [mean_share(seed.values()) for seed in by_seed[name]] for name in added},
        curve_titles=[titles[name] for name in shown[:3]],
        costs={path.stem: float((read_json(path) or {}).get("cpu_seconds", 0))
               for path in sorted((folder / STAGES).glob("*.json"))},
    )  # fmt: skip
    write_file(folder / "report.md", text.encode())
    return folder / "report.md"


def write_figure(folder: Path, name: str, points: Sequence[FigurePoint]) -> list[str]:
    """Write figures/NAME.json and .svg of a finished figure; return its lines for people."""
    from gradeschool.reports.figures import Dot, Panel, draw_curves

    measured, (claim, x, _) = list[dict[str, Any]](), FIGURES[name]
    selected = lru_cache(lambda *what: read_selected(folder, *what))
    for point in points:
        fields = {"panel": point.panel, "series": point.series, "x": point.x}
        if not point.scores:
            clusters = list(read_greedy(folder, point.run).values())
            measured.append(
                fields | {"share": mean_share(clusters), "ci95": clustered_wilson(clusters)}
            )
            continue
        voters = VOTER_COUNTS if point.strategy == VOTERS else TOP_VOTERS
        results = selected(point.run, point.scores, voters)
        curves = rank.measure_curves(results, max(len(one.problem.completions) for one in results))
        curve = curves.get(point.strategy, [])
        found = [(point.series, point.x or each["n"], each)
                 for each in (curve[-1:] if point.x else curve)]  # fmt: skip
        if point.strategy == VOTERS:
            found = [(f"of {each['n']}", k, each) for k in VOTER_COUNTS
                     for each in curves[f"{rank.TOP} {k}"]
                     if each["n"] >= max(k, LEAST_COMPLETIONS)]  # fmt: skip
        measured += [fields | {"series": series, "x": place, "share": each["accuracy"],
                               "ci95": each["ci95"]} for series, place, each in found]  # fmt: skip
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
