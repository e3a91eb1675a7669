"""What a server does, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gradeschool.models.probe import FindingState, ServerFinding
from gradeschool.reports.printable import printable

STYLES = {
    FindingState.FINE: "green",
    FindingState.DEVIATES: "bold yellow",
    FindingState.UNKNOWN: "dim",
}


def print_findings(
    console: Console, model: str, base: str, requests: int, findings: Sequence[ServerFinding]
) -> None:
    """Print a line for each finding, what deviates in colour."""
    console.print(Text.assemble((printable(model), "bold"), f" at {base}, {requests} requests"))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for finding in findings:
        style = STYLES[finding.state]
        table.add_row(finding.name, Text(finding.state.value, style), Text(printable(finding.says)))
    console.print(table)
