"""Figures in words, and a frame for wide tables, as every section writes them."""

from __future__ import annotations

from gradeschool.reports.page.markup import Html, el
from gradeschool.scoring.statistics import Interval


def percent(share: float) -> str:
    """Write a share with two decimals."""
    return f"{100 * share:.2f}"


def span(interval: Interval) -> str:
    """Write an interval in percent."""
    return f"{percent(interval.low)} – {percent(interval.high)}"


def count(number: int, one: str, many: str = "") -> str:
    """Write a count with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def scrolled(table: Html, label: str) -> Html:
    """Return a wide table in a region that scrolls sideways, by keyboard too."""
    return el("div", table, class_="scroll", tabindex="0", role="group", aria_label=label)
