"""Print rankings by a verifier, and how well step scores find the first wrong step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

from rich.console import Console

from gradeschool.datasets.load import LabelledSteps
from gradeschool.percentages import bounds, decimals, gain, percent
from gradeschool.reports.printable import printable
from gradeschool.reports.terminal import simple_table
from gradeschool.scoring.statistics import Interval, clustered_wilson, mean_share
from gradeschool.verifier.rank import BEST, DRAWS, MAJORITY, MEAN, Outcomes, title_of
from gradeschool.verifier.step_bench import FOLDS, RESAMPLES

SCORE_NAMES = {"verifier": "verifier", "logprob": "mean logprob"}
HALVES = (
    "the SHA-256 of the problem divides the problems into two halves, and each half's threshold is "
    "the one with the highest F1 on the other half"
)


def as_json(value: Any) -> Any:
    """Return records as JSON values: objects by field names, an interval as a list."""
    if hasattr(value, "_asdict") and not isinstance(value, Interval):
        value = value._asdict()
    elif is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {str(name): as_json(item) for name, item in value.items()}
    return [as_json(item) for item in value] if isinstance(value, list | tuple) else value


def print_ranking(
    ranking: Mapping[str, Any], baselines: Mapping[str, Outcomes], console: Console
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
    others = [MAJORITY, *baselines]
    over = [f"over {printable(name, keep='')}" for name in others]
    table = simple_table(["strategy"], ["right", "95 % interval", *over])
    for name, outcomes in baselines.items():
        clusters = list(outcomes.values())
        table.add_row(f"baseline {printable(name, keep='')}", percent(mean_share(clusters)),
                      bounds(clustered_wilson(clusters)))  # fmt: skip
    for result in ranking["strategies"].values():
        more = (result["over"].get(name) for name in others)
        gains = (gain(each.difference, each.ci95, 2) if each else "" for each in more)
        table.add_row(result["title"], percent(result["accuracy"]), bounds(result["ci95"]), *gains)
    console.print(table)
    columns = ["all completions", "within problems", "95 % interval", "problems"]
    table = simple_table(["score"], columns, "AUC of correct against wrong")
    for name, each in ranking["auc"].items():
        interval = " - ".join(f"{bound:.3f}" for bound in each.within_ci95 or ())
        table.add_row(SCORE_NAMES[name], decimals(each.overall), decimals(each.within), interval,
                      str(each.problems))  # fmt: skip
    console.print(table)
    if ranking["most_completions"] > 1:
        names = [name for name in ranking["curves"] if name != MEAN]
        titles = [title_of(name, short=True) for name in names]
        columns = ["problems", *titles, "best, 95 %"]
        table = simple_table(["N"], columns, "over the number of completions, % right")
        for index, best in enumerate(ranking["curves"][BEST]):
            shares = [f"{100 * ranking['curves'][name][index].accuracy:.1f}" for name in names]
            table.add_row(str(best.n), str(best.problems), *shares, bounds(best.ci95))
        console.print(table)
    console.print(
        "Intervals: 95 %, by problem. For fewer completions, the best by a score is exact over all "
        f"subsets; votes are averaged over {DRAWS} random subsets.\n"
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
            percent(result["error_accuracy"]),
            percent(result["correct_accuracy"]),
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


def bench_json(
    rows: Sequence[LabelledSteps], results: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the results as JSON; accuracies, F1 and intervals are shares of 1."""
    return {
        "solutions": len(rows),
        "problems": len({row.problem for row in rows}),
        "threshold_split": HALVES,
        "resamples": RESAMPLES,
        "scorers": as_json(results),
    }
