"""Votes over the samples of a problem, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from gradeschool.reports.printable import printable
from gradeschool.scoring.at_k import VoteScore


def print_votes(scores: Sequence[VoteScore], console: Console) -> None:
    """Print a row for each run and vote."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("run", "vote", "problems", "accuracy", "95 % interval", "correct", "wrong"):
        table.add_column(name, overflow="fold")
    table.add_column("no answer wins")
    for one in scores:
        low, high = (100 * bound for bound in one.ci95)
        table.add_row(
            printable(one.run, keep=""),
            one.vote,
            str(one.problems),
            f"{100 * one.accuracy:.2f} %",
            f"{low:.2f} - {high:.2f}",
            str(one.correct),
            str(one.wrong),
            str(one.no_answer),
        )
    console.print(table)
