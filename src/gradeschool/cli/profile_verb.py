"""`gradeschool profile`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradeschool.cli.options import (
    FileVerb,
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

if TYPE_CHECKING:
    from gradeschool.scoring.sources import SourceRun


@click.command(cls=FileVerb)
@click.argument("runs", nargs=-1, required=True, metavar="ORIGINAL RUN...")
@scorer_option("Scorer for all runs; by default that of their protocol.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FIGURE",
              help="Figure to draw: .svg, .pdf or .png.")  # fmt: skip
@dataset_option
@json_option
def command(
    runs: tuple[str, ...],
    scorer: str | None,
    output: Path | None,
    dataset: str | None,
    as_json: bool,
) -> None:
    """Show whether a score on GSM8K survives other numbers, words or languages.

    ORIGINAL is the model's run on GSM8K; each further RUN is the same model on a set of variations:
    gsm-plus, gsm-symbolic, gsm-hard, mgsm:LANG, gsm8k-platinum. Every variation is paired with the
    problem that it varies, intervals are at 95 % and clustered by that problem, and p is corrected
    for the number of lines (Holm). A set of other problems is compared without pairs.

    Example: gradeschool profile runs/gsm8k runs/gsm-plus runs/mgsm-de -o profile.svg
    """
    from gradeschool.protocols.registry import all_scorers, get_usable_scorer
    from gradeschool.reports.figures.curves import check_figure
    from gradeschool.reports.profile import draw_profile, print_profile
    from gradeschool.scoring.compare import outcomes_of
    from gradeschool.scoring.profile import profile, sentence
    from gradeschool.scoring.sources import choose_runs, headline_scorer
    from gradeschool.scoring.table import scored_table

    check_scorers(scorer)
    if output is not None:
        check_figure(output)
    chosen = choose_runs(runs, dataset, warn, _check_two)
    name = scorer or headline_scorer([run.manifest for run in chosen], list(all_scorers()))
    judge = get_usable_scorer(name)
    scored = [outcomes_of(scored_table(run.run, [judge])) for run in chosen]
    labels = _labels(chosen)
    base, *others = (
        replace(outcomes, run=label) for outcomes, label in zip(scored, labels, strict=True)
    )
    entries = profile(base, others)
    if as_json:
        print_json({
            "scorer": judge.name,
            "original": {"run": base.run, "problems": len(base.tallies),
                         "accuracy": base.accuracy, "ci95": list(base.interval)},
            "sets": [entry.as_json() for entry in entries],
            "sentences": [sentence(entry, base.run) for entry in entries],
        })  # fmt: skip
    else:
        print_profile(base, entries, judge.name, stdout_console())
    if output is not None:
        draw_profile(base, entries, output)
    warn_of_faults(sum(run.run.faults for run in chosen))


def _labels(runs: Sequence[SourceRun]) -> list[str]:
    """Return the datasets' names where they are known and differ, else the runs' names."""
    datasets = (run.manifest.get("dataset", {}).get("name") for run in runs)
    names = [Path(name).name if isinstance(name, str) else "" for name in datasets]
    return names if all(names) and len(set(names)) == len(names) else [run.run.name for run in runs]


def _check_two(runs: Sequence[str]) -> None:
    if len(runs) < 2:
        raise InputError(
            f"only one run is given: {runs[0]!r}; give the run on GSM8K, then the others"
        )
