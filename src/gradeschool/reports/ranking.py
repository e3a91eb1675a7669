"""Print rankings by a verifier, and how well step scores find the first wrong step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from gradeschool.datasets.step_labels import LabelledSteps
from gradeschool.percentages import bounds, decimals, gain, percent, point_bounds, points
from gradeschool.reports.printable import printable
from gradeschool.reports.terminal import simple_table
from gradeschool.scoring.statistics import Interval, clustered_wilson, mean_share
from gradeschool.verifier.rank import Bucket, Outcomes, Ranking
from gradeschool.verifier.select import (
    BEST,
    MAJORITY,
    MEAN,
    VERIFIER,
    ChosenStrategy,
    SelectionSettings,
)
from gradeschool.verifier.step_bench import FOLDS, RESAMPLES, BenchResult, StepResult

SCORE_NAMES = {"verifier": "verifier", "logprob": "mean logprob"}
HALVES = (
    "the SHA-256 of the problem divides the problems into two halves, and each half's threshold is "
    "the one with the highest F1 on the other half"
)


def as_json(value: Any) -> Any:
    """Return records as JSON values: objects by field names, an interval as a list."""
    if isinstance(value, Interval):
        return list(value)
    if hasattr(value, "_asdict"):
        value = value._asdict()
    elif is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {str(name): as_json(item) for name, item in value.items()}
    return [as_json(item) for item in value] if isinstance(value, list | tuple) else value


def print_ranking(ranking: Ranking, baselines: Mapping[str, Outcomes], console: Console) -> None:
    """Print what to select by, then every strategy, by family, completions and voters."""
    whole = ranking.whole
    console.print(printable(ranking.conclusion), soft_wrap=True)
    console.print(
        f"{whole.problems} problems, {whole.completions} completions (up to "
        f"{ranking.most_completions} a problem); on average a problem has "
        f"{whole.unique_solutions:.1f} different solutions\nand {whole.unique_answers:.1f} "
        f"different answers; {whole.mixed} problems have correct and wrong ones",
        soft_wrap=True,
    )
    console.print(_strategies(ranking, baselines))
    if ranking.families:
        console.print(_families(ranking))
    columns = ["all completions", "within problems", "95 % interval", "problems"]
    table = simple_table(["score"], columns, "AUC of correct against wrong")
    for name, each in whole.auc.items():
        inside = each.within_ci95
        interval = "" if inside is None else f"{inside.low:.3f} - {inside.high:.3f}"
        cells = (decimals(each.overall), decimals(each.within), interval, str(each.problems))
        table.add_row(SCORE_NAMES[name], *cells)
    console.print(table)
    console.print(calibration_table(ranking.calibration, "calibration", "completions"))
    if ranking.most_completions > 1:
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


def _strategies(ranking: Ranking, baselines: Mapping[str, Outcomes]) -> Table:
    others = [MAJORITY, *baselines]
    columns = ["right", "95 % interval"]
    for name in others:
        columns += [f"over {printable(name, keep='')}", "95 % interval"]
    table = simple_table(["strategy"], columns)
    for name, outcomes in baselines.items():
        clusters = list(outcomes.values())
        cells = [percent(mean_share(clusters)), bounds(clustered_wilson(clusters))]
        table.add_row(f"baseline {printable(name, keep='')}", *cells, *["", ""] * len(others))
    for result in ranking.whole.strategies.values():
        cells = [percent(result.accuracy), bounds(result.ci95)]
        for name in others:
            more = result.over.get(name)
            cells += [points(more.difference), point_bounds(more.ci95)] if more else ["", ""]
        table.add_row(result.title, *cells)
    return table


def _families(ranking: Ranking) -> Table:
    titles = [ranking.settings.title(name, short=True) for name in ranking.whole.strategies]
    columns = ["problems", *titles, "best - majority", "AUC within"]
    table = simple_table(["family"], columns, "by family, % right")
    for part in (*ranking.families, ranking.whole):
        more = part.strategies[BEST].over.get(MAJORITY)
        table.add_row(
            printable(part.family, keep=""),
            str(part.problems),
            *(f"{100 * result.accuracy:.1f}" for result in part.strategies.values()),
            gain(more.difference, more.ci95) if more else "",
            decimals(part.auc[VERIFIER].within),
        )
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
    columns = [
        "problems",
        *(ranking.settings.title(name, short=True) for name in names),
        "best, 95 %",
    ]
    table = simple_table(["N"], columns, "over the number of completions, % right")
    for index, best in enumerate(ranking.curves[BEST]):
        shares = [f"{100 * ranking.curves[name][index].accuracy:.1f}" for name in names]
        table.add_row(str(best.n), str(best.problems), *shares, bounds(best.ci95))
    return table


def _over_voters(ranking: Ranking) -> Table:
    curves, most = ranking.voters_curves, ranking.most_completions
    counts = [n for n in curves if n >= min(8, most)]
    title = "over the number of voters, % right: the top k of N completions vote"
    columns = [*(f"N = {n}" for n in counts), "95 %", "over majority, 95 %"]
    table = simple_table(["k"], columns, title)
    by_voters = [{point.n: point for point in curves[n]} for n in counts]
    for last in curves[most]:
        of_each = [stored.get(last.n) for stored in by_voters]
        cells = [f"{100 * item.accuracy:.1f}" if item else "" for item in of_each]
        table.add_row(str(last.n), *cells, bounds(last.ci95), gain(last.gain, last.gain_ci95))
    return table


def print_choice(chosen: ChosenStrategy, console: Console) -> None:
    """Print the strategy chosen on a development run, and its accuracy on both runs."""
    reported = chosen.reported
    title = SelectionSettings(chosen.voters, chosen.share_weight).title(chosen.strategy)
    console.print(
        f"chosen on the development run: {title}, {chosen.n} completions; "
        f"{percent(chosen.development.accuracy)} on that run, {percent(reported.accuracy)} "
        f"({bounds(reported.ci95)}) on this run, "
        f"{gain(reported.gain, reported.gain_ci95)} over the majority vote of {chosen.n}",
        soft_wrap=True,
    )


def ranking_json(ranking: Ranking) -> dict[str, Any]:
    """Return a ranking as JSON values."""
    fields: dict[str, Any] = as_json(ranking)
    return {**fields.pop("whole"), **fields}


# Benchmarks of steps


def print_bench(
    rows: Sequence[LabelledSteps], results: Sequence[BenchResult], console: Console
) -> None:
    """Print F1 of every scorer, by the model that wrote the solutions, and the calibrations."""
    columns = ["F1", "95 % interval", "erroneous", "correct", "AUC", "no prediction"]
    table = simple_table(["scorer"], columns)
    for result in results:
        whole = result.whole
        table.add_row(
            printable(result.name, keep=""),
            _f1(whole),
            "" if whole.ci95 is None else bounds(whole.ci95),
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
        shares = [_f1(result.generators[generator]) for result in results]
        by_generator.add_row(generator, str(first.erroneous), str(first.correct), *shares)
    console.print(by_generator)
    for result in results:
        if (prm := result.prm_score) is not None:
            console.print(
                f"PRMScore of {printable(result.name, keep='')}: {percent(prm['score'])} (F1 of "
                f"correct steps {percent(prm['f1'])}, of erroneous ones "
                f"{percent(prm['negative_f1'])})",
                soft_wrap=True,
            )
        if result.calibration:
            title = f"calibration of {printable(result.name, keep='')}, up to the first wrong step"
            console.print(calibration_table(result.calibration, title, "steps"))
    console.print(
        f"{len(rows)} solutions of {len({row.problem for row in rows})} problems, "
        f"{results[0].whole.erroneous} erroneous. F1: harmonic mean of the accuracies on erroneous "
        "(the first wrong step is predicted exactly) and correct solutions. Intervals: "
        f"{RESAMPLES:,} resamples of problems.",
        soft_wrap=True,
    )
    chosen = {printable(result.name, keep=""): result.thresholds
              for result in results if result.thresholds}  # fmt: skip
    if chosen:
        shown = [f"{name} {' and '.join(map('{:.4g}'.format, each))}"
                 for name, each in chosen.items()]  # fmt: skip
        how = f" ({HALVES})" if any(len(each) == FOLDS for each in chosen.values()) else ""
        console.print(f"Thresholds: {'; '.join(shown)}{how}.", soft_wrap=True)


def bench_json(rows: Sequence[LabelledSteps], results: Sequence[BenchResult]) -> dict[str, Any]:
    """Return the results as JSON; accuracies, F1 and intervals are shares of 1."""
    scorers = [as_json(result) for result in results]
    return {
        "solutions": len(rows),
        "problems": len({row.problem for row in rows}),
        "threshold_split": HALVES,
        "resamples": RESAMPLES,
        "scorers": [{**each.pop("whole"), **each} for each in scorers],
    }


def _f1(result: StepResult) -> str:
    return "" if result.f1 is None else percent(result.f1)
