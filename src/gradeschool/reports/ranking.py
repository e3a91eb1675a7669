"""Print rankings by a verifier, and how well step scores find the first wrong step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from gradeschool.datasets.step_labels import LabelledSteps
from gradeschool.percentages import bounds, decimals, gain, percent, point_bounds, points
from gradeschool.reports.printable import printable
from gradeschool.reports.terminal import simple_table
from gradeschool.scoring.statistics import Interval
from gradeschool.verifier.rank import Bucket, FamilyResults, Ranking, StrategyResult, conclusion
from gradeschool.verifier.select import (
    BEST,
    COVERAGE,
    MAJORITY,
    MEAN,
    ChosenStrategy,
    CurvePoint,
    strategy_title,
)
from gradeschool.verifier.step_bench import FOLDS, RESAMPLES, BenchResult, StepResult

SHORT = {
    MEAN: "one",
    MAJORITY: "majority",
    BEST: "best",
    "top": "top {voters}",
    "weighted": "weighted",
    "odds": "odds",
    "frequency": "+ share",
    "logprob": "logprob",
    "sum": "sum",
    "probable": "p vote",
    COVERAGE: "any",
}
SCORE_NAMES = {"verifier": "verifier", "logprob": "mean logprob", "sum": "summed logprob"}
Baselines = Mapping[str, tuple[float, Interval]]  # accuracy by the run's name


def print_ranking(ranking: Ranking, baselines: Baselines, console: Console) -> None:
    """Print what to select by, then every strategy, by family, completions and voters."""
    whole = ranking.whole
    console.print(printable(conclusion(ranking)), soft_wrap=True)
    console.print(
        f"{whole.problems} problems, {whole.completions} completions (up to {ranking.most} a "
        f"problem); on average a problem has {whole.unique_solutions:.1f} different solutions\nand "
        f"{whole.unique_answers:.1f} different answers; {whole.mixed} problems have correct and "
        "wrong ones",
        soft_wrap=True,
    )
    console.print(_strategies(whole, baselines))
    if ranking.families:
        console.print(_families(ranking))
    console.print(_aucs(ranking))
    console.print(calibration_table(ranking.buckets, "calibration", "completions"))
    if ranking.most > 1:
        console.print(_over_completions(ranking))
        console.print(_over_voters(ranking))
    console.print(
        "Intervals: 95 %, by problem. For fewer completions, the best by a score is exact over all "
        f"subsets; votes are averaged over {ranking.settings.draws} random subsets.\n"
        "A scorer of the generator's size reads every completion once more: at equal tokens, "
        "compare N completions with a vote of 2 N.\n"
        "Choose strategy and voters on a development run (--dev), not on the one that is reported.",
        soft_wrap=True,
    )


def _strategies(part: FamilyResults, baselines: Baselines) -> Table:
    others = [MAJORITY, *baselines]
    columns = ["right", "95 % interval"]
    for name in others:
        columns += [f"over {printable(name, keep='')}", "95 % interval"]
    table = simple_table(["strategy"], columns)
    for name, (accuracy, interval) in baselines.items():
        blank = ["", ""] * len(others)
        title = f"baseline {printable(name, keep='')}"
        table.add_row(title, percent(accuracy), bounds(interval), *blank)
    for result in part.results:
        cells = [cell for name in others for cell in _against(result, name)]
        table.add_row(result.title, percent(result.accuracy), bounds(result.ci95), *cells)
    return table


def _against(result: StrategyResult, other: str) -> tuple[str, str]:
    gained = result.against.get(other)
    if gained is None:
        return "", ""
    return points(gained.difference), point_bounds(gained.ci95)


def _families(ranking: Ranking) -> Table:
    strategies = [result.name for result in ranking.whole.results]
    titles = [_short(name, ranking) for name in strategies]
    columns = ["problems", *titles, "best - majority", "AUC within"]
    table = simple_table(["family"], columns, "by family, % right")
    for part in (*ranking.families, ranking.whole):
        best = part.result(BEST)
        more = best.against.get(MAJORITY) if best else None
        table.add_row(
            printable(part.family, keep=""),
            str(part.problems),
            *(f"{100 * result.accuracy:.1f}" for result in part.results),
            gain(more.difference, more.ci95) if more else "",
            decimals(part.aucs["verifier"][1].auc),
        )
    return table


def _short(name: str, ranking: Ranking) -> str:
    return SHORT[name].format(voters=ranking.settings.voters)


def _aucs(ranking: Ranking) -> Table:
    columns = ["all completions", "within problems", "95 % interval", "problems"]
    table = simple_table(["score"], columns, "AUC of correct against wrong")
    for name, (overall, inside) in ranking.whole.aucs.items():
        interval = "" if inside.ci95 is None else f"{inside.ci95.low:.3f} - {inside.ci95.high:.3f}"
        row = (decimals(overall), decimals(inside.auc), interval, str(inside.problems))
        table.add_row(SCORE_NAMES[name], *row)
    return table


def calibration_table(buckets: Sequence[Bucket], title: str, what: str) -> Table:
    """Return a table of buckets; what: a plural noun for the scored items."""
    table = simple_table(["score"], [what, "mean score", "right"], title)
    for bucket in buckets:
        low = "below" if bucket.low is None else f"{bucket.low:.2f} to"
        high = "1 and above" if bucket.high is None else f"{bucket.high:.2f}"
        row = (str(bucket.completions), f"{bucket.mean_score:.3f}", percent(bucket.right))
        table.add_row(f"{low} {high}", *row)
    return table


def _over_completions(ranking: Ranking) -> Table:
    names = [name for name in ranking.curves if name != MEAN]
    columns = ["problems", *(_short(name, ranking) for name in names), "best, 95 %"]
    table = simple_table(["N"], columns, "over the number of completions, % right")
    for index, best in enumerate(ranking.curves[BEST]):
        shares = [f"{100 * ranking.curves[name][index].accuracy:.1f}" for name in names]
        table.add_row(str(best.n), str(best.problems), *shares, bounds(best.ci95))
    return table


def print_choice(chosen: ChosenStrategy, console: Console) -> None:
    """Print the strategy chosen on a development run, and its accuracy on both runs."""
    choice, reported = chosen.choice, chosen.reported
    title = strategy_title(choice.strategy, choice.voters, choice.share_weight)
    where = "" if chosen.temperature is None else f", temperature {chosen.temperature:g}"
    console.print(
        f"chosen on {printable(chosen.run, keep='')}{where}: {title}, {choice.n} completions; "
        f"{percent(chosen.development.accuracy)} on that run, {percent(reported.accuracy)} "
        f"({bounds(reported.ci95)}) on this run, "
        f"{gain(reported.gain, reported.gain_ci95)} over the majority vote of {choice.n}",
        soft_wrap=True,
    )


def choice_json(chosen: ChosenStrategy) -> dict[str, Any]:
    """Return a choice as JSON values."""
    return {
        **chosen.choice._asdict(),
        "run": chosen.run,
        "temperature": chosen.temperature,
        "by_run": dict(chosen.by_run),
        "development": _point_json(chosen.development),
        "reported": _point_json(chosen.reported),
    }


def _over_voters(ranking: Ranking) -> Table:
    counts = [n for n in ranking.top if n >= min(8, ranking.most)]
    title = "over the number of voters, % right: the top k of N completions vote"
    columns = [*(f"N = {n}" for n in counts), "95 %", "over majority, 95 %"]
    table = simple_table(["k"], columns, title)
    by_place = [{point.n: point for point in ranking.top[n]} for n in counts]
    for last in ranking.top[ranking.most]:
        of_each = [stored.get(last.n) for stored in by_place]
        cells = [f"{100 * item.accuracy:.1f}" if item else "" for item in of_each]
        more = gain(last.gain, last.gain_ci95)
        table.add_row(str(last.n), *cells, bounds(last.ci95), more)
    return table


def ranking_json(ranking: Ranking) -> dict[str, Any]:
    """Return a ranking as JSON values."""
    return {
        **_part_json(ranking.whole),
        "most_completions": ranking.most,
        "voters": ranking.settings.voters,
        "share_weight": ranking.settings.share_weight,
        "draws": ranking.settings.draws,
        "seed": ranking.settings.seed,
        "families": [_part_json(part) for part in ranking.families],
        "curves": {name: [_point_json(point) for point in points]
                   for name, points in ranking.curves.items()},
        "voters_curves": {str(n): [_point_json(point) for point in points]
                          for n, points in ranking.top.items()},
        "break_even_auc": ranking.break_even,
        "conclusion": conclusion(ranking),
        "calibration": [bucket._asdict() for bucket in ranking.buckets],
    }  # fmt: skip


def _part_json(part: FamilyResults) -> dict[str, Any]:
    return {
        "family": part.family,
        "problems": part.problems,
        "completions": part.completions,
        "unique_solutions": part.unique_solutions,
        "unique_answers": part.unique_answers,
        "mixed": part.mixed,
        "strategies": {
            result.name: {
                "title": result.title,
                "accuracy": result.accuracy,
                "ci95": list(result.ci95),
                "over": {
                    other: {**gained._asdict(), "ci95": list(gained.ci95)}
                    for other, gained in result.against.items()
                },
            }
            for result in part.results
        },
        "auc": {
            name: {
                "all": overall,
                "within": inside.auc,
                "within_ci95": None if inside.ci95 is None else list(inside.ci95),
                "problems": inside.problems,
            }
            for name, (overall, inside) in part.aucs.items()
        },
    }


def _point_json(point: CurvePoint) -> dict[str, Any]:
    return {**point._asdict(), "ci95": list(point.ci95), "gain_ci95": list(point.gain_ci95)}


HALVES = (
    "the SHA-256 of the problem divides the problems into two halves, and each half's threshold is "
    "the one with the highest F1 on the other half"
)


def print_bench(
    rows: Sequence[LabelledSteps], results: Sequence[BenchResult], console: Console
) -> None:
    """Print F1 of every scorer, by the model that wrote the solutions, and the calibrations."""
    columns = ["F1", "95 % interval", "erroneous", "correct", "AUC", "no prediction"]
    table = simple_table(["scorer"], columns)
    for result in results:
        whole = result.whole
        interval = "" if whole.ci95 is None else bounds(whole.ci95)
        table.add_row(
            printable(result.name, keep=""),
            _f1(whole),
            interval,
            percent(whole.error_accuracy),
            percent(whole.correct_accuracy),
            decimals(result.auc),
            str(result.unanswered),
        )
    console.print(table)
    names = [printable(result.name, keep="") for result in results]
    by_generator = simple_table(
        ["model"], ["erroneous", "correct", *names], "F1 by the model that wrote the solutions"
    )
    for generator, first in results[0].generators.items():
        of_scorers = tuple(_f1(result.generators[generator]) for result in results)
        by_generator.add_row(generator, str(first.erroneous), str(first.correct), *of_scorers)
    console.print(by_generator)
    for result in results:
        if result.buckets:
            title = f"calibration of {printable(result.name, keep='')}, up to the first wrong step"
            console.print(calibration_table(result.buckets, title, "steps"))
    console.print(_footnote(rows, results), soft_wrap=True)


def _footnote(rows: Sequence[LabelledSteps], results: Sequence[BenchResult]) -> str:
    counts = results[0].whole
    problems = len({row.problem for row in rows})
    note = (
        f"{len(rows)} solutions of {problems} problems, {counts.erroneous} erroneous. F1: harmonic "
        "mean of the accuracies on erroneous (the first wrong step is predicted exactly) and "
        f"correct solutions. Intervals: {RESAMPLES:,} resamples of problems."
    )
    shown = [
        f"{printable(result.name, keep='')} {' and '.join(map('{:.4g}'.format, result.thresholds))}"
        for result in results
        if result.thresholds
    ]
    if not shown:
        return note
    how = f" ({HALVES})" if any(len(result.thresholds or ()) == FOLDS for result in results) else ""
    return f"{note}\nThresholds: {'; '.join(shown)}{how}."


def bench_json(rows: Sequence[LabelledSteps], results: Sequence[BenchResult]) -> dict[str, Any]:
    """Return the results as JSON; accuracies, F1 and intervals are shares of 1."""
    return {
        "solutions": len(rows),
        "problems": len({row.problem for row in rows}),
        "threshold_split": HALVES,
        "resamples": RESAMPLES,
        "scorers": [
            {
                "name": result.name,
                **_result_json(result.whole),
                "unanswered": result.unanswered,
                "auc": result.auc,
                "thresholds": list(result.thresholds) if result.thresholds else None,
                "generators": {
                    name: _result_json(part) for name, part in result.generators.items()
                },
                "calibration": [bucket._asdict() for bucket in result.buckets],
            }
            for result in results
        ],
    }


def _f1(result: StepResult) -> str:
    return "" if result.f1 is None else percent(result.f1)


def _result_json(result: StepResult) -> dict[str, Any]:
    return {**result._asdict(), "ci95": result.ci95 and list(result.ci95)}
