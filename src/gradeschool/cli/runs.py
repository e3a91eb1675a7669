"""`gradeschool runs list | show | verify | curve`, and `gradeschool doctor`."""

import asyncio
import sys
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from gradeschool.cli import options as cli
from gradeschool.cli.options import FiniteRange, option
from gradeschool.errors import InputError
from gradeschool.models.choose import find_server
from gradeschool.printable import printable, say
from gradeschool.protocols.registry import get_protocol
from gradeschool.reports.terminal import curve_table, print_run, runs_table
from gradeschool.runs.folder import RunSummary, find_runs, verify
from gradeschool.runs.job import Job, model_options
from gradeschool.scoring.at_k import ballots_by_problem, curve
from gradeschool.scoring.sources import choose_runs
from gradeschool.scoring.table import ScoredTable, nothing_judged


@click.group(cls=cli.CommandGroup)
def runs_command() -> None:
    """List, show and verify run folders; print maj@k and pass@k."""


@runs_command.command("list")
@click.argument("folder", type=cli.PATH, default="runs")
@cli.json_option
def list_command(folder: Path, as_json: bool) -> None:
    """List the runs in a folder (by default runs)."""
    summaries, broken = [], 0
    for run in find_runs(folder):
        try:
            summaries.append(RunSummary(run))
        except (InputError, OSError) as error:
            broken += 1
            cli.warn(f"{run}: {error}")
    if as_json:
        cli.print_json({"runs": [summary.as_json() for summary in summaries]})
    elif summaries:
        runs_table(summaries, cli.stdout_console())
    else:
        say(f"no runs in {folder}")
    sys.exit(2 if broken else 0)


@runs_command.command("show")
@click.argument("run", type=cli.PATH)
@cli.json_option
def show_command(run: Path, as_json: bool) -> None:
    """Show the settings of a run, its progress and its figures."""
    summary = RunSummary(run)
    if as_json:
        cli.print_json(summary.as_json())
        return
    print_run(summary, cli.stdout_console())


@runs_command.command("verify")
@click.argument("run", type=cli.PATH)
@cli.json_option
def verify_command(run: Path, as_json: bool) -> None:
    """Recompute every key and digest of a run.

    Exit status 1: something does not match. Changes nothing and sends no requests.
    """
    findings = verify(run)
    faults = sum(fault for fault, _ in findings)
    if as_json:
        cli.print_json({"run": str(run), "faults": faults, "findings": [
            {"fault": fault, "text": text} for fault, text in findings
        ]})  # fmt: skip
    else:
        for fault, text in findings:
            say(f"{'FAULT' if fault else 'ok':5} {text}")
    sys.exit(1 if faults else 0)


@runs_command.command("curve")
@click.argument("file")
@cli.scorer_option("Scorer; by default that of the run, else gradeschool/reader.")
@cli.reading_options
@cli.json_option
def curve_command(file: str, scorer: str | None, as_json: bool) -> None:
    """Print maj@k and pass@k of a run folder or a sample file.

    FILE#NAME selects one run of several.
    """
    runs = choose_runs([file], cli.read_options(), cli.warn)
    chosen = cli.scorer_of_runs(runs[:1], scorer)
    curves = {}
    for run in runs:
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
    cli.exit_for_faults(sum(run.faults for run in runs))


@click.command(cls=cli.Command)
@click.argument("endpoint", metavar="ENDPOINT")
@option("-p --protocol", str, "Check whether this protocol can run on the server.", metavar="NAME")
@option("--timeout", FiniteRange(min=1), "Seconds to wait for one request.", default=120.0)
@option("--header headers", str, "Header of each request, kept secret; may be repeated.",
        multiple=True, metavar="NAME=VALUE")  # fmt: skip
@cli.json_option
def doctor_command(
    endpoint: str, protocol: str | None, timeout: float, headers: tuple[str, ...], as_json: bool
) -> None:
    """Test what a server really does, with about twenty small requests.

    ENDPOINT is as for `gradeschool eval -m`: http://HOST:PORT/v1, http://HOST:PORT/v1/NAME or
    openai/NAME. Exit status 1: the protocol cannot run on it.

    Example: gradeschool doctor http://localhost:8000/v1 -p olmes/gsm8k-tulu
    """
    from gradeschool.models.doctor import Probe, examine, obstacles

    chosen = None if protocol is None else get_protocol(protocol)
    options = model_options(Job(endpoint, headers=headers))
    probe = Probe(*find_server(endpoint, compatible=True), timeout, options)
    findings = asyncio.run(examine(probe))
    against = [] if chosen is None else obstacles(chosen, findings)
    if as_json:
        cli.print_json({
            "endpoint": probe.base,
            "model": probe.model,
            "requests": probe.requests,
            "findings": [finding._asdict() for finding in findings],
            **({} if chosen is None else {"protocol": chosen.name, "obstacles": against}),
        })  # fmt: skip
    else:
        console = cli.stdout_console()
        about = f" at {probe.base}, {probe.requests} requests"
        console.print(Text.assemble((printable(probe.model), "bold"), about))
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        styles = {"fine": "green", "deviates": "bold yellow", "unknown": "dim"}
        for finding in findings:
            state = Text(finding.state, styles[finding.state])
            table.add_row(finding.name, state, Text(printable(finding.says)))
        console.print(table)
        for line in against:
            say(f"{protocol} cannot be run here: {line}")
        if chosen is not None and not against:
            say(f"{protocol} can be run here")
    if against:
        sys.exit(1)
