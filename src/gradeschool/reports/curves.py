"""maj@k and pass@k for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from gradeschool.scoring.at_k import AtK
from gradeschool.scoring.statistics import Interval


def curve_table(
    curve: Sequence[AtK], title: str, console: Console, count_invalid: bool = False
) -> None:
    """Print a row for each k, and below how ties and samples without an answer were counted."""
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for name in ("k", "maj@k", "95 % interval", "pass@k", "95 % interval", "problems", "ties"):
        table.add_column(name, justify="right", no_wrap=True)
    for at in curve:
        table.add_row(
            str(at.k),
            f"{100 * at.maj:.2f} %",
            _interval(at.maj_ci95),
            f"{100 * at.pass_any:.2f} %",
            _interval(at.pass_ci95),
            str(at.problems),
            f"{100 * at.ties:.1f} %",
        )
    console.print(table)
    silent = "votes for none" if count_invalid else "does not vote"
    console.print(
        "maj@k: a problem's samples vote in groups of k; a tie goes to the answer seen first; a "
        f"sample without\nan answer {silent}. pass@k: unbiased. Intervals: 95 %, by problem.",
        soft_wrap=True,
    )


def _interval(interval: Interval) -> str:
    low, high = interval
    return f"{100 * low:.2f} - {100 * high:.2f}"
