"""`gradeschool runs list | show | verify | curve`."""

import sys
from pathlib import Path

import click

from gradeschool.cli import options as cli
from gradeschool.errors import InputError
from gradeschool.reports.printable import say

FOLDER = click.Path(path_type=Path)


@click.group(cls=cli.VerbGroup)
def command() -> None:
    """List, show and verify run folders; print maj@k and pass@k."""


@command.command("list")
@click.argument("folder", type=FOLDER, default="runs")
@cli.json_option
def list_command(folder: Path, as_json: bool) -> None:
    """List the runs in a folder (by default runs)."""
    from gradeschool.runs.folder import find_runs, summarise_run

    summaries, broken = [], 0
    for run in find_runs(folder):
        try:
            summaries.append(summarise_run(run))
        except (InputError, OSError) as error:
            broken += 1
            cli.warn(f"{run}: {error}")
    if as_json:
        cli.print_json({"runs": [summary.as_json() for summary in summaries]})
    elif summaries:
        from gradeschool.reports.terminal import runs_table

        runs_table(summaries, cli.stdout_console())
    else:
        say(f"no runs in {folder}")
    sys.exit(2 if broken else 0)


@command.command("show")
@click.argument("run", type=FOLDER)
@cli.json_option
def show_command(run: Path, as_json: bool) -> None:
    """Show the settings of a run, its progress and its figures."""
    from gradeschool.runs.folder import summarise_run

    summary = summarise_run(run)
    if as_json:
        cli.print_json(summary.as_json())
        return
    from gradeschool.reports.terminal import print_run

    print_run(summary, cli.stdout_console())


@command.command("verify")
@click.argument("run", type=FOLDER)
@cli.json_option
def verify_command(run: Path, as_json: bool) -> None:
    """Recompute every key and digest of a run.

    Exit status 1: something does not match. Changes nothing and sends no requests.
    """
    from gradeschool.runs.folder import verify

    findings = verify(run)
    faults = sum(finding.fault for finding in findings)
    if as_json:
        cli.print_json({"run": str(run), "faults": faults, "findings": [
            {"fault": finding.fault, "text": finding.text} for finding in findings
        ]})  # fmt: skip
    else:
        for finding in findings:
            say(f"{'FAULT' if finding.fault else 'ok':5} {finding.text}")
    sys.exit(1 if faults else 0)


@command.command("curve", cls=cli.FileVerb)
@click.argument("file")
@cli.scorer_option("Scorer; by default that of the run, else gradeschool/reader.")
@cli.dataset_option
@cli.json_option
def curve_command(file: str, scorer: str | None, dataset: str | None, as_json: bool) -> None:
    """Print maj@k and pass@k of a run folder or a sample file.

    FILE#NAME selects one run of several.
    """
    from gradeschool.reports.terminal import curve_table
    from gradeschool.scoring.at_k import ballots_by_problem, curve
    from gradeschool.scoring.sources import choose_runs
    from gradeschool.scoring.table import ScoredTable, nothing_judged, scorer_for

    cli.check_scorers(scorer)
    runs = choose_runs([file], cli.read_options(dataset), cli.warn)
    chosen = scorer_for([runs[0].manifest], scorer)
    curves = {}
    for run, *_ in runs:
        ballots = ballots_by_problem(ScoredTable(run, [chosen]))
        if not ballots:
            raise nothing_judged(run.name, chosen.name)
        curves[run.name] = curve(ballots)
    if as_json:
        cli.print_json({"scorer": chosen.name, "curves": {
            name: [point.as_json() for point in points] for name, points in curves.items()
        }})  # fmt: skip
    else:
        for name, points in curves.items():
            curve_table(points, f"{name}, scored by {chosen.name}", cli.stdout_console())
    cli.exit_for_faults(sum(run.run.faults for run in runs))
