"""`gradeschool compare`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from gradeschool.cli.options import (
    FileVerb,
    FiniteRange,
    check_scorers,
    dataset_option,
    json_option,
    print_json,
    scorer_option,
    stdout_console,
    warn,
    warn_of_faults,
)
from gradeschool.errors import InputError
from gradeschool.reports.printable import say

if TYPE_CHECKING:
    from gradeschool.scorer import Scorer
    from gradeschool.scoring.compare import Outcomes, Threshold

SHARE, MARGIN = FiniteRange(0, 1), FiniteRange(0, 100)


@click.command(cls=FileVerb)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@scorer_option("Scorer for all runs; by default that of their protocol.")
@click.option("--common", is_flag=True,
              help="Compare only the problems that all runs have.")  # fmt: skip
@click.option("--unpaired", is_flag=True, help="Treat the problems of the runs as different.")
@click.option("--at-least", type=SHARE, metavar="SHARE",
              help="Exit with 1 if the accuracy of a run is below SHARE.")  # fmt: skip
@click.option("--not-worse-than", "reference", metavar="RUN",
              help="Exit with 1 unless the interval excludes that a run is worse than RUN by "
                   "more than the margin.")  # fmt: skip
@click.option("--margin", type=MARGIN, default=1.0, show_default=True, metavar="POINTS",
              help="Largest loss that --not-worse-than accepts.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the bootstrap.")
@dataset_option
@json_option
def command(
    runs: tuple[str, ...],
    scorer: str | None,
    common: bool,
    unpaired: bool,
    at_least: float | None,
    reference: str | None,
    margin: float,
    seed: int,
    dataset: str | None,
    as_json: bool,
) -> None:
    """Compare runs with the first one, problem by problem.

    A RUN is a run folder or a sample file; FILE#NAME selects one run of several. The test is exact
    (McNemar; by problem if there are several samples), intervals are at 95 %, and several
    comparisons are corrected (Holm). Samples without a completion are excluded and counted.

    Example: gradeschool compare runs/base runs/tuned

    Example: gradeschool compare runs/new --at-least 0.8 --not-worse-than runs/old --margin 1
    """
    from gradeschool.reports.comparison import print_comparison
    from gradeschool.scoring.compare import (
        check,
        compare,
        compare_unpaired,
        outcomes_of,
        shared_by_all,
    )
    from gradeschool.scoring.sources import choose_runs
    from gradeschool.scoring.table import scored_table

    if common and unpaired:
        raise InputError("--common and --unpaired exclude each other; give one")
    check_scorers(scorer)
    specs = (reference, *runs) if reference is not None else runs
    chosen = choose_runs(specs, dataset, warn, None if at_least is not None else _check_two)
    judge = _scorer(scorer, [run.manifest for run in chosen])
    outcomes = [outcomes_of(scored_table(run.run, [judge])) for run in chosen]
    if common:
        outcomes = shared_by_all(outcomes)
    comparisons = compare_unpaired(outcomes) if unpaired else compare(outcomes, common, seed)
    thresholds = check(outcomes, comparisons, at_least, margin if reference is not None else None)
    if as_json:
        print_json({
            "scorer": judge.name,
            "runs": [_run_json(run) for run in outcomes],
            "comparisons": [comparison.as_json() for comparison in comparisons],
            "thresholds": [threshold._asdict() for threshold in thresholds],
        })  # fmt: skip
    else:
        print_comparison(outcomes, comparisons, judge.name, stdout_console())
        _print_thresholds(thresholds)
    if any(not threshold.met for threshold in thresholds):
        sys.exit(1)
    warn_of_faults(sum(run.run.faults for run in chosen))


def _check_two(runs: Sequence[str]) -> None:
    if len(runs) < 2:
        raise InputError(f"only one run is given: {runs[0]!r}; give another, or --at-least")


def _scorer(name: str | None, manifests: Sequence[Mapping[str, Any]]) -> Scorer:
    """Return the scorer of this name, else that of the runs; warn of different protocols."""
    from gradeschool.protocols.registry import all_scorers, get_usable_scorer
    from gradeschool.scoring.sources import headline_scorer, protocols_of

    scorer = get_usable_scorer(name or headline_scorer(manifests, list(all_scorers())))
    if len(protocols := protocols_of(manifests)) > 1:
        warn(f"the runs are under different protocols: {', '.join(protocols)}; "
             "`gradeschool diff` says what differs")  # fmt: skip
    return scorer


def _run_json(run: Outcomes) -> dict[str, Any]:
    figures = {"accuracy": run.accuracy, "ci95": list(run.interval), "errors": run.unjudged}
    return {"run": run.run, "problems": len(run.tallies), **figures}


def _print_thresholds(thresholds: list[Threshold]) -> None:

    for threshold in thresholds:
        say(f"{'met' if threshold.met else 'MISSED'}: {threshold.text}")
