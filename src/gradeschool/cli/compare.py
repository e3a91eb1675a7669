"""`gradeschool compare`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from gradeschool.cli.options import (
    FileVerb,
    FiniteRange,
    check_scorers,
    dataset_option,
    json_option,
    marked_scorers,
    marks_option,
    print_json,
    read_options,
    scorer_option,
    stdout_console,
    warn,
    warn_of_faults,
    warn_of_own_scorer,
    warn_of_scorer_errors,
)
from gradeschool.errors import InputError
from gradeschool.reports.printable import say
from gradeschool.scorer import DEFAULT_SCORER

if TYPE_CHECKING:
    from gradeschool.scoring.sources import SourceRun

# The fields of run.json that identify the prompts: part and key.
PROMPT_FACTS = (("protocol", "digest"), ("dataset", "sha256"))
SHARE, MARGIN = FiniteRange(0, 1), FiniteRange(0, 100)


@click.command(cls=FileVerb)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@scorer_option("Scorer for all runs; by default that of their protocol.")
@marks_option
@click.option("--common", is_flag=True,
              help="Compare only the problems that all runs have.")  # fmt: skip
@click.option("--unpaired", is_flag=True, help="Treat the problems of the runs as different.")
@click.option("--at-least", type=SHARE, metavar="SHARE",
              help="Exit with 1 if the accuracy of a run is below SHARE.")  # fmt: skip
@click.option("--not-worse-than", "reference", metavar="RUN",
              help="Exit with 1 unless the interval excludes a loss of more than the margin "
                   "against RUN.")  # fmt: skip
@click.option("--gate", "good", metavar="RUN",
              help="Exit with 1 if a run is significantly worse than RUN, the last good one of the "
                   "same prompts, or has samples that failed.")  # fmt: skip
@click.option("--margin", type=MARGIN, default=1.0, show_default=True, metavar="POINTS",
              help="Largest loss that --not-worse-than accepts and that --gate reports "
                   "on.")  # fmt: skip
@click.option("--max-failures", type=click.IntRange(min=0), default=0, show_default=True,
              help="Number of failed samples that --gate accepts.")  # fmt: skip
@dataset_option
@json_option
def command(
    runs: tuple[str, ...],
    scorer: str | None,
    thinking_marks: tuple[str, ...],
    common: bool,
    unpaired: bool,
    at_least: float | None,
    reference: str | None,
    good: str | None,
    margin: float,
    max_failures: int,
    dataset: str | None,
    as_json: bool,
) -> None:
    """Compare runs with the first one, problem by problem.

    A RUN is a run folder or a sample file; FILE#NAME selects one run of several. The test is exact
    (McNemar; by problem if there are several samples), intervals are at 95 %, and several
    comparisons are corrected (Holm). Samples without a completion are excluded and counted; exit
    status 3: a problem has none in one run and is left out of the differences.

    Example: gradeschool compare runs/base runs/tuned

    Example: gradeschool compare runs/new --not-worse-than runs/old --margin 1

    Example: gradeschool compare runs/build-124 --gate runs/build-123
    """
    from gradeschool.formats.settings import mapping
    from gradeschool.reports.comparison import print_comparison
    from gradeschool.scoring.compare import (
        check,
        compare,
        compare_unpaired,
        gate,
        left_out_text,
        outcomes_of,
        shared_by_all,
    )
    from gradeschool.scoring.sources import choose_runs
    from gradeschool.scoring.table import ScoredTable, scorer_for

    given = click.get_current_context().get_parameter_source
    if common and unpaired:
        raise InputError("--common cannot be combined with --unpaired")
    if good is not None and (reference is not None or unpaired):
        raise InputError("--gate cannot be combined with --not-worse-than or --unpaired")
    first = reference or good
    if first is None and given("margin") is not ParameterSource.DEFAULT:
        raise click.UsageError("--margin needs --not-worse-than or --gate")
    if good is None and given("max_failures") is not ParameterSource.DEFAULT:
        raise click.UsageError("--max-failures needs --gate")
    specs = runs if first is None else (first, *runs)
    if thinking_marks:
        scorer = marked_scorers([scorer or DEFAULT_SCORER], thinking_marks)[-1]
    check_scorers(scorer)

    chosen = choose_runs(specs, read_options(dataset), warn)
    if len(chosen) < 2 and at_least is None:
        if len(specs) > 1:
            raise InputError(f"the same file is given twice: {', '.join(map(repr, specs))}; give "
                             "another run, or --at-least")  # fmt: skip
        name = chosen[0].run.name
        raise InputError(f"only one run is given: {name!r}; give another, or --at-least")
    _warn_of_seeds(chosen)
    if good is not None:
        _check_same_prompts(chosen)
    manifests = [run.manifest for run in chosen]
    if scorer is None:
        warn_of_own_scorer(manifests)
    judge = scorer_for(manifests, scorer)
    names = [mapping(manifest.get("protocol")).get("name") for manifest in manifests]
    protocols = [str(name) for name in dict.fromkeys(names) if name]
    if len(protocols) > 1:
        warn(f"the runs are under different protocols: {', '.join(protocols)}; "
             "`gradeschool why RUN --expected-run OTHER` says what differs")  # fmt: skip
    outcomes = [outcomes_of(ScoredTable(run.run, [judge])) for run in chosen]
    if common:
        outcomes = shared_by_all(outcomes)
    shared = common or good is not None  # the gate counts failed samples itself
    comparisons = compare_unpaired(outcomes) if unpaired else compare(outcomes, shared)
    left_out = {id for comparison in comparisons for id in comparison.left_out}
    for run in [] if shared else outcomes:
        if ids := [id for id in run.unjudged_problems if id in left_out]:
            warn(left_out_text(run.run, ids))
    thresholds = check(outcomes, comparisons, at_least, margin if reference is not None else None)
    thresholds += gate(outcomes, comparisons, margin, max_failures) if good is not None else []
    if as_json:
        rows = []
        for run in outcomes:
            share = run.share
            rows.append({
                "run": run.run,
                "problems": len(run.tallies),
                "accuracy": None if share.bounds else share.accuracy,
                **({"accuracy_bounds": share.bounds} if share.bounds else {}),
                "ci95": list(share.interval),
                "errors": run.failed_samples,
            })  # fmt: skip
        print_json({
            "scorer": judge.name,
            "runs": rows,
            "comparisons": [comparison.as_json() for comparison in comparisons],
            "thresholds": [threshold._asdict() for threshold in thresholds],
        })  # fmt: skip
    else:
        print_comparison(outcomes, comparisons, judge.name, stdout_console())
        for threshold in thresholds:
            say(f"{'met' if threshold.met else 'MISSED'}: {threshold.text}")
    failing = warn_of_scorer_errors(outcomes, judge.name)
    faults = warn_of_faults(sum(run.run.faults for run in chosen))
    if any(not threshold.met for threshold in thresholds):
        sys.exit(1)
    if faults or (left_out and not shared) or failing:
        sys.exit(3)


def _warn_of_seeds(runs: Sequence[SourceRun]) -> None:
    """Warn if a run has some of the first run's samples: the seed of sample i is the seed + i."""
    from gradeschool.formats.settings import mapping

    facts, seeds = [], []
    for run in runs:
        prompts, decoding = (mapping(run.manifest.get(part)) for part in ("protocol", "decoding"))
        seed, number = decoding.get("seed"), run.manifest.get("samples")
        if not (isinstance(seed, int) and isinstance(number, int)):
            seed = number = 0
        seeds.append({*range(seed, seed + number)})
        facts.append(
            (run.manifest.get("model"), prompts.get("digest"), decoding.get("temperature"))
        )
        shared, apart = seeds[0] & seeds[-1], max(len(seeds[0]), len(seeds[-1]))
        if shared and seeds[0] != seeds[-1] and facts[0] == facts[-1] and facts[0][2]:
            warn(
                f"{runs[0].run.name!r} and {run.run.name!r} have {len(shared)} of {apart} seeds in "
                "common, so those samples may be equal and the runs are not independent; evaluate "
                f"one of them again with a --seed that differs by at least {apart}"
            )


def _check_same_prompts(runs: Sequence[SourceRun]) -> None:
    """Raise InputError if a run records other prompts than the first run."""
    from gradeschool.formats.settings import mapping

    for run in runs[1:]:
        for part, key in PROMPT_FACTS:
            before, after = (mapping(each.manifest.get(part)).get(key) for each in (runs[0], run))
            if None not in (before, after) and before != after:
                raise InputError(
                    f"the {part} of {str(run.path)!r} has the {key} {after!r}, that of "
                    f"{str(runs[0].path)!r} has {before!r}; a gate compares runs of "
                    "the same prompts, decoding and scorers"
                )
