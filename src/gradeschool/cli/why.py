"""`gradeschool why`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from gradeschool.cli import options as cli
from gradeschool.cli.options import FiniteRange, option
from gradeschool.errors import InputError
from gradeschool.percentages import bounds, percent
from gradeschool.reports.printable import say

ROUNDED = 0.051  # points; a published figure has one decimal

if TYPE_CHECKING:
    from gradeschool.runs.why import GapAccount
    from gradeschool.scoring.sources import SourceRun


@click.command(cls=cli.FileVerb)
@click.argument("run")
@option("--expected", FiniteRange(0, 100), "Expected accuracy in percent, such as 54.6.",
        metavar="PERCENT")  # fmt: skip
@option("--expected-run", str, "Run folder or sample file with the expected score; explains more "
        "than a number.", metavar="FILE")  # fmt: skip
@cli.scorer_option("Scorer; by default that of the run, else gradeschool/reader.")
@cli.dataset_option
@cli.json_option
def command(
    run: str, expected: float | None, expected_run: str | None, scorer: str | None,
    dataset: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Explain why a score is not the expected one.

    RUN is a run folder or a sample file; FILE#NAME selects one run of several. Lists the causes
    with the points that each accounts for, the evidence, and the command that tests or fixes it.
    Says whether the gap is within chance.

    Example: gradeschool why runs/mine --expected 54.6
    """
    from gradeschool.datasets.platinum import label_changes
    from gradeschool.reports.measured import changed_settings
    from gradeschool.reports.terminal import quoted
    from gradeschool.runs.why import explain_difference, explain_gap, read_settings
    from gradeschool.scorer import DEFAULT_SCORER
    from gradeschool.scoring.sources import choose_run, choose_runs, once_each, open_sources
    from gradeschool.scoring.table import choose_scorers, scorer_for

    if (expected is None) == (expected_run is None):
        raise InputError("give either --expected PERCENT or --expected-run FILE")
    cli.check_scorers(scorer)
    options, test, here_named = cli.read_options(dataset), "", f"{quoted(run)}"
    here_named += cli.options_as_typed(dataset)
    if expected_run is not None:
        if len(once_each((run, expected_run))) == 1:
            raise InputError("RUN and --expected-run are the same; give another run")
        here, there = choose_runs((run, expected_run), options, cli.warn)
        records = read_settings(here), read_settings(there)
        if scorer is None:
            cli.warn_of_own_scorer([here.manifest, there.manifest])
        own = ["" if cli.is_own_function(record.scorer) else record.scorer for record in records]
        usual = (own[0] or own[1] or DEFAULT_SCORER, own[1] or own[0] or DEFAULT_SCORER)
        first, second = (choose_scorers([scorer or name])[0] for name in usual)
        account = explain_difference((here.run, there.run), records, (first, second))
        faults = here.run.faults + there.run.faults
        test = f"gradeschool compare {quoted(expected_run)} {here_named}"
        test += "" if scorer is None else f" --scorer {quoted(scorer)}"
    else:
        assert expected is not None  # noqa: S101  (for the type checker)
        if 0 < expected <= 1:
            cli.warn(
                f"--expected is in percent: {expected:g} means {expected:g} %; "
                f"use {100 * expected:g} for {100 * expected:g} %"
            )
        chosen = choose_run(run, options, cli.warn)
        manifest, faults = chosen.manifest, chosen.run.faults
        if scorer is None:
            cli.warn_of_own_scorer([manifest])
        [source] = open_sources([str(chosen.path)], options, lambda message: None)
        changes = label_changes(source.dataset.problems, chosen.run.problems())
        account = explain_gap(chosen.run, scorer_for([manifest], scorer), expected / 100, manifest,
                              changed_settings(manifest), changes, here_named)  # fmt: skip
        if not account.within_chance:
            gives = _scorer_with(expected, chosen, source.dataset.name)
            if gives:
                note = f"{gives} on these texts; the expected figure may be by such a scorer"
                account = replace(account, notes=(note, *account.notes))
    if as_json:
        cli.print_json(account.as_json())
    else:
        _print(account, test)
    cli.exit_for_faults(faults)


def _scorer_with(expected: float, chosen: SourceRun, dataset: str) -> str:
    """Return "NAMES give 28.33 %" for the scorers nearest to an expected percentage, "" if none."""
    from gradeschool.scoring.statistics import mean_share
    from gradeschool.scoring.table import ScoredTable, choose_scorers

    scorers = [each for each in choose_scorers((), dataset) if dataset.startswith(each.dataset)]
    table = ScoredTable(chosen.run, scorers)
    shares = {
        each.name: 100 * mean_share(tallies.values())
        for place, each in enumerate(scorers) if (tallies := table.tallies(place))
    }  # fmt: skip
    nearest = min(shares.values(), key=lambda share: abs(share - expected), default=-1.0)
    if abs(nearest - expected) > ROUNDED:
        return ""
    names = sorted(name for name, share in shares.items() if share == nearest)
    return f"{', '.join(names)} {'give' if names[1:] else 'gives'} {percent(nearest / 100)}"


def _print(account: GapAccount, test: str) -> None:
    """Print an account. test: the command that tests the runs' difference in pairs, "" for none."""
    from gradeschool.runs.why import LEAST_POINTS
    from gradeschool.scorer import clip

    gap = f"{account.missing:.2f} points are missing"
    say(
        f"{percent(account.accuracy)} by {account.scorer} ({bounds(account.interval)}, "
        f"{account.judged:,} completions); expected {percent(account.expected)}"
    )
    if account.missing < 0 and not account.within_chance:
        say(f"{-account.missing:.2f} points more than expected, which is not chance: another "
            "scorer or model, other problems, or problems that the model has seen?")  # fmt: skip
    elif account.missing <= 0:
        say("No points are missing.")
    elif not account.within_chance:
        say(f"{gap}:")
    elif test:
        say(f"{gap}. The 95 % interval of this run alone contains the other run's score; the same "
            "problems in pairs may still differ:")  # fmt: skip
    else:
        say(f"{gap}, which is within chance: the 95 % interval contains the expected score. Use "
            "more problems.")  # fmt: skip
    for cause in account.causes:
        sign = "up to " if cause.most else ""
        points = "?" if cause.points is None else f"{sign}{cause.points:.1f}"
        command = f"\n{'':12}-> {cause.command}" if cause.command else ""
        say(f"\n{points:>10}  {cause.name}\n{'':12}{cause.evidence}{command}")
    if account.settings:
        say("\nsettings that differ (here | there):")
    for name, *values in account.settings:
        shown = ("not recorded" if value is None else clip(str(value), 80) for value in values)
        say(f"{'':12}{name}: {' | '.join(shown)}")
    for note in (*account.notes, *((f"-> {test}",) if test else ())):
        say(f"{'':12}{note}")
    if account.missing > 0 and not account.causes:
        say("Nothing in the texts or settings explains it: the answers are other numbers. Compare "
            "with a run that has the expected score: --expected-run.")  # fmt: skip
    known = any(cause.points and not cause.most for cause in account.causes)
    if account.missing > 0 and known and abs(account.rest) >= LEAST_POINTS:
        low, high = account.interval
        words = "unexplained"
        if account.rest < 0:
            words = "the causes account for more than is missing"
        elif account.rest <= 100 * (high - low) / 2:
            words = "the rest, within chance"
        say(f"\n{account.rest:>10.1f}  {words}")
    most = sum(cause.points or 0 for cause in account.causes if cause.most)
    least = account.rest - most
    if account.missing > 0 and account.causes and not known and least >= LEAST_POINTS:
        words = "unexplained"
        if most:
            words += ", even if the causes above account for all that they can"
        say(f"\n{least:>10.1f}  {words}")
