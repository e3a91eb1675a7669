"""`gradeschool doctor`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gradeschool.cli import options as cli
from gradeschool.cli.options import FiniteRange, option
from gradeschool.reports.printable import printable, say

if TYPE_CHECKING:
    from gradeschool.models.doctor import Probe, ServerFinding


@click.command(cls=cli.Verb)
@click.argument("endpoint", metavar="ENDPOINT")
@option("-p --protocol", str, "Check whether this protocol can run on the server.", metavar="NAME")
@option("--timeout", FiniteRange(min=1), "Seconds to wait for one request.", default=120.0)
@option("--header headers", str, "Header of each request, kept secret; may be repeated.",
        multiple=True, metavar="NAME=VALUE")  # fmt: skip
@cli.json_option
def command(
    endpoint: str, protocol: str | None, timeout: float, headers: tuple[str, ...], as_json: bool
) -> None:
    """Test what a server really does, with about twenty small requests.

    ENDPOINT is as for `gradeschool eval -m`: http://HOST:PORT/v1, http://HOST:PORT/v1/NAME or
    openai/NAME. Exit status 1: the protocol cannot run on it.

    Example: gradeschool doctor http://localhost:8000/v1 -p olmes/gsm8k-tulu
    """
    from gradeschool.models.choose import find_server
    from gradeschool.models.doctor import Probe, examine, obstacles
    from gradeschool.protocols.registry import get_protocol
    from gradeschool.runs.job import Job, model_options

    chosen = None if protocol is None else get_protocol(protocol)
    server = find_server(endpoint, compatible=True)
    options = model_options(Job(endpoint, headers=headers))

    async def ask() -> tuple[Probe, list[ServerFinding]]:
        async with Probe(*server, timeout, options) as probe:
            return probe, await examine(probe)

    probe, findings = asyncio.run(ask())
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
        _print(probe, findings)
        for line in against:
            say(f"{protocol} cannot be run here: {line}")
        if chosen is not None and not against:
            say(f"{protocol} can be run here")
    if against:
        raise SystemExit(1)


def _print(probe: Probe, findings: Sequence[ServerFinding]) -> None:
    """Print one line per finding, deviations in colour."""
    from rich.table import Table
    from rich.text import Text

    console = cli.stdout_console()
    about = f" at {probe.base}, {probe.requests} requests"
    console.print(Text.assemble((printable(probe.model), "bold"), about))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    styles = {"fine": "green", "deviates": "bold yellow", "unknown": "dim"}
    for finding in findings:
        state = Text(finding.state, styles[finding.state])
        table.add_row(finding.name, state, Text(printable(finding.says)))
    console.print(table)
