"""Causes of misses in the terminal, for each run and scorer."""

from __future__ import annotations

from collections.abc import Mapping

from rich import box
from rich.console import Console
from rich.table import Table

from gradeschool.reports.printable import printable


def print_cause_counts(
    causes: Mapping[str, Mapping[str, Mapping[str, int]]], console: Console
) -> None:
    """Print a table for each run: scorers with their causes, the most frequent first."""
    for run, scorers in causes.items():
        title = f"{printable(run, keep='')}: causes of misses and of wrong acceptances"
        table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
        table.add_column("scorer", overflow="fold", vertical="top")
        table.add_column("causes", vertical="top")
        for scorer, counts in scorers.items():
            words = [f"{count} {cause}" for cause, count in counts.items()]
            table.add_row(scorer, ", ".join(words) or "none")
        console.print(table)
