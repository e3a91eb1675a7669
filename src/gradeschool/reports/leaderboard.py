"""Several runs in one table, a row for each, the most accurate first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console

from gradeschool.reports.printable import printable
from gradeschool.reports.terminal import GAP, accuracy_text, fold_name, interval_text
from gradeschool.scoring.score import RunScore, ScorerResult

FIGURES = ("accuracy", "95 % interval", "n", "no answer", "truncated", "errors")


class LeaderboardRow(NamedTuple):
    """One run: what tells it from the others, and its score; the first scorer is its headline."""

    names: tuple[str, ...]
    score: RunScore


def print_leaderboard(
    rows: Sequence[LeaderboardRow], heads: Sequence[str], console: Console
) -> None:
    """Print a row for each run. Where a line is too short, the names stand above the figures.

    heads: what the names of a row are ("model", "protocol").
    """
    ranked = sorted(rows, key=lambda row: _rank(row.score.scorers[0]))
    names = [tuple(printable(name, keep="") for name in row.names) for row in ranked]
    figures = [_figures(row.score) for row in ranked]
    shown = [index for index, head in enumerate(FIGURES)
             if index < 3 or any(cells[index] != "0" for cells in figures)]  # fmt: skip
    figures = [tuple(cells[index] for index in shown) for cells in (FIGURES, *figures)]
    widths = [max(map(len, column)) for column in zip(*figures, strict=True)]
    lines = [
        (" " * GAP).join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        for cells in figures
    ]
    table = [tuple(heads), *names]
    name_widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    if sum(name_widths) + GAP * len(name_widths) + len(lines[0]) <= console.width:
        for cells, line in zip(table, lines, strict=True):
            padded = (cell.ljust(width) for cell, width in zip(cells, name_widths, strict=True))
            console.print((" " * GAP).join([*padded, line]), soft_wrap=True)
        return
    console.print(f"{', '.join(heads)}\n{' ' * GAP}{lines[0]}", soft_wrap=True)
    for cells, line in zip(names, lines[1:], strict=True):
        console.print(fold_name(", ".join(filter(None, cells)), console.width), style="bold",
                      soft_wrap=True)  # fmt: skip
        console.print(f"{' ' * GAP}{line}", soft_wrap=True)


def _rank(headline: ScorerResult) -> tuple[bool, float]:
    """Return what to sort by: runs of which nothing was judged come last."""
    judged = headline.correct + headline.wrong + headline.no_answer
    return not judged, -headline.accuracy


def _figures(score: RunScore) -> tuple[str, ...]:
    headline = score.scorers[0]
    truncated = score.forms.truncated / score.forms.n if score.forms and score.forms.n else 0
    return (
        accuracy_text(headline),
        interval_text(headline.ci95),
        str(score.n),
        str(headline.no_answer),
        f"{100 * truncated:.1f} %" if truncated else "0",
        str(headline.error),
    )
