"""A profile of a model over variations of GSM8K: for the terminal, and as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from gradeschool.reports.comparison import name, p_value, percent, points
from gradeschool.reports.printable import printable
from gradeschool.scoring.compare import Outcomes
from gradeschool.scoring.profile import ProfileEntry, sentence

ROW_INCHES = 0.24


def print_profile(
    original: Outcomes, entries: Sequence[ProfileEntry], scorer: str, console: Console
) -> None:
    """Print a line for each set and group, then what each set shows in words."""
    low, high = original.interval
    console.print(
        f"scored by {scorer}; {name(original.run)}: {percent(original.accuracy)} of "
        f"{len(original.tallies):,} problems (95 % {100 * low:.2f} - {100 * high:.2f})",
        soft_wrap=True,
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("set", overflow="fold")
    for heading in ("problems", "seeds", "original", "accuracy", "points", "95 % interval", "p"):
        table.add_column(heading, justify="right", no_wrap=True)
    for entry in entries:
        pair = entry.comparison
        label = f"  {printable(entry.group, keep='')}" if entry.group else name(entry.run)
        table.add_row(
            label,
            str(entry.problems),
            str(pair.n) if pair.n else "-",
            percent(pair.accuracy_a),
            percent(pair.accuracy_b),
            points(pair.difference),
            f"{points(pair.ci95.low)} to {points(pair.ci95.high)}",
            p_value(pair.p_holm),
        )
    console.print(table)
    for entry in entries:
        if not entry.group:
            console.print(f"{printable(sentence(entry, original.run))}.", soft_wrap=True)
        if entry.instances is not None:
            spread = entry.instances
            console.print(
                f"  over {spread.instances} instances of its templates: {percent(spread.mean)}, "
                f"standard deviation {100 * spread.deviation:.2f}, from {percent(spread.lowest)} "
                f"to {percent(spread.highest)}",
                soft_wrap=True,
            )


def draw_profile(original: Outcomes, entries: Sequence[ProfileEntry], path: Path) -> int:
    """Draw the difference of every set and group with its interval; return the bytes written.

    Raises MissingExtraError without matplotlib, InputError where the file cannot be written.
    """
    from gradeschool.reports.figures.curves import BLUE, COLUMN, RED, SOFT, plain, save

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        axes.axvline(0, color=SOFT, linewidth=0.6)
        for row, entry in enumerate(entries):
            pair = entry.comparison
            low, high = (100 * bound for bound in pair.ci95)
            colour = RED if entry.is_lower else BLUE
            axes.plot([low, high], [row, row], color=colour, linewidth=1.0)
            marker = "o" if pair.n else "s"
            axes.plot([100 * pair.difference], [row], marker=marker, color=colour, markersize=3.6)
        labels = [
            f"   {plain(entry.group, 40)}" if entry.group else plain(entry.run, 40)
            for entry in entries
        ]
        axes.set_yticks(range(len(entries)), labels)
        axes.invert_yaxis()
        axes.set_xlabel(
            f"points from {plain(original.run, 30)} ({100 * original.accuracy:.1f} %), 95 %"
        )

    return save(draw, path, COLUMN * 1.4, 0.7 + ROW_INCHES * len(entries))
