"""HTML elements, formatted numbers, and strips: one-line figures in SVG that need no script.

Positions in a strip are percentages of its width, so text beside it keeps its size on a phone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import pairwise
from math import ceil, floor
from typing import NamedTuple
from urllib.parse import urlencode

from gradeschool.percentages import bounds
from gradeschool.reports.printable import printable
from gradeschool.scoring.statistics import Interval

VOID = frozenset({"br", "circle", "col", "hr", "input", "line", "link", "meta", "rect"})


class Html(str):
    """Markup that `el` built. Every other string is text, and is escaped where it is used."""

    __slots__ = ()


def text(value: str) -> Html:
    """Return a text as markup: HTML's characters escaped, invisible ones spelled out."""
    return Html(escape(printable(value, keep="\n\t"), quote=True))


def el(tag: str, *children: str | None, **attributes: str | float | bool | None) -> Html:
    """Return an element; children that are not Html are escaped, None is left out.

    Attribute names: "_" becomes "-", and a final "_" is dropped (`class_`). True gives an attribute
    without a value; False and None leave it out.
    """
    written = []
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        spelled = name.rstrip("_").replace("_", "-")
        written.append(f" {spelled}" if value is True else f' {spelled}="{text(_plain(value))}"')
    start = f"<{tag}{''.join(written)}"
    if tag in VOID:
        return Html(f"{start} />")
    return Html(f"{start}>{join(*children)}</{tag}>")


def join(*children: str | None) -> Html:
    """Return children one after the other, escaped if they are not Html."""
    parts = (child if isinstance(child, Html) else text(child) for child in children if child)
    return Html("".join(parts))


def link_to(**state: str) -> str:
    """Return the address within the page for a state of its explorer."""
    return f"#{urlencode(state)}"


def _plain(value: str | float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def percent(share: float) -> str:
    """Write a share with two decimals."""
    return f"{100 * share:.2f}"


def span(interval: Interval) -> str:
    """Write an interval in percent."""
    return bounds(interval, between=" – ")


def scrolled(table: Html, label: str) -> Html:
    """Return a wide table in a region that scrolls sideways, by keyboard too."""
    return el("div", table, class_="scroll", tabindex="0", role="group", aria_label=label)


def row_heads(names: Sequence[str | None], ticks: Html) -> Html:
    """Return the head of a table of rows with strips: ticks in place of None, the first left."""
    cells = (
        el("th", name or ticks, scope="col",
           class_="left" if name == names[0] else "number" if name else "wide")
        for name in names
    )  # fmt: skip
    return el("thead", el("tr", *cells))


HEIGHT = 28
MIDDLE = HEIGHT / 2
MOST_TICKS = 6
EDGE = 3.0  # percent of margin on both sides, so that dots and labels at the ends are not cut


class Axis(NamedTuple):
    """Accuracies from low to high (shares, 0 to 1), with ticks at round numbers."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def place(self, share: float) -> float:
        """Return the position of a share in percent of the width."""
        inside = min(max(share, self.low), self.high)
        return EDGE + (100 - 2 * EDGE) * (inside - self.low) / (self.high - self.low)


def axis_over(intervals: Iterable[Interval]) -> Axis:
    """Return an axis that covers all intervals, from one round number to another."""
    spans = list(intervals) or [Interval(0.0, 1.0)]
    low = min(interval.low for interval in spans)
    high = max(interval.high for interval in spans)
    step = next(
        size for size in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if (high - low) / size < MOST_TICKS - 1
    )
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    last = max(last, first + 1)
    ticks = tuple(round(index * step, 4) for index in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], ticks)


def ticks_strip(axis: Axis, label: str = "Accuracy in percent") -> Html:
    """Return the numbers of an axis, in percent."""
    labels = (
        el("text", f"{100 * tick:g}", x=f"{axis.place(tick):.3f}%", y=15, class_="tick")
        for tick in axis.ticks
    )
    return _svg(label, *labels, height=20)


def dot_strip(
    axis: Axis, share: float, interval: Interval, mark: float | None = None, label: str = ""
) -> Html:
    """Return an accuracy as a dot on its interval; mark: a reference line through all rows."""
    grid = [_grid_line(axis.place(tick), "grid") for tick in axis.ticks]
    reference = [] if mark is None else [_grid_line(axis.place(mark), "mark")]
    low, high = axis.place(interval.low), axis.place(interval.high)
    whisker = el(
        "line", x1=f"{low:.3f}%", x2=f"{high:.3f}%", y1=MIDDLE, y2=MIDDLE, class_="whisker"
    )
    dot = el("circle", cx=f"{axis.place(share):.3f}%", cy=MIDDLE, r=3.6, class_="dot")
    return _svg(label, *grid, *reference, whisker, dot)


def bar_strip(share: float, label: str) -> Html:
    """Return a bar from the left that covers a share of the width."""
    return _svg(label, _bar("0", max(100 * share, 0.4), "bar"))


def moved_strip(gained: int, lost: int, most: int) -> Html:
    """Return changes as two bars from the middle: lost to the left, gained to the right."""
    scale = 49 / max(most, 1)
    left_width, right_width = lost * scale, gained * scale
    return _svg(
        f"{gained} gained, {lost} lost",
        _bar(f"{50 - left_width:.3f}%", left_width, "lost"),
        _bar("50%", right_width, "gained"),
        _grid_line(50, "axis"),
    )


def _bar(x: str, width: float, class_: str) -> Html:
    return el("rect", x=x, y=8, width=f"{width:.3f}%", height=12, class_=class_)


class PlotPoint(NamedTuple):
    """One point of a curve: a share with its interval at a position 0..1 from left to right."""

    place: float
    share: float
    interval: Interval


def curve_figure(
    curves: Sequence[tuple[str, Sequence[PlotPoint]]],
    labels: Sequence[tuple[float, str]],
    title: str,
) -> Html:
    """Return curves over k; each has its own class ("maj", "pass") for the colours."""
    axis = axis_over(point.interval for _, points in curves for point in points)
    height, top, bottom = 260, 12, 228

    def y(share: float) -> float:
        return bottom - (bottom - top) * (share - axis.low) / (axis.high - axis.low)

    def x(place: float) -> str:
        return f"{8 + 88 * place:.3f}%"

    parts: list[Html] = []
    for tick in axis.ticks:
        parts.append(el("line", x1="8%", x2="96%", y1=y(tick), y2=y(tick), class_="grid"))
        parts.append(el("text", f"{100 * tick:g}", x="6.5%", y=y(tick) + 4, class_="tick end"))
    for place, label in labels:
        parts.append(el("text", label, x=x(place), y=bottom + 22, class_="tick"))
    for name, points in curves:
        parts += _curve(points, name, x, y)
    return _svg(title, *parts, height=height, class_="curves")


def _curve(
    points: Sequence[PlotPoint], name: str, x: Callable[[float], str], y: Callable[[float], float]
) -> list[Html]:
    parts = [
        el("line", x1=x(item.place), y1=y(item.share), x2=x(two.place), y2=y(two.share),
           class_=f"curve {name}")
        for item, two in pairwise(points)
    ]  # fmt: skip
    for point in points:
        low, high = y(point.interval.low), y(point.interval.high)
        position = x(point.place)
        parts.append(
            el("line", x1=position, x2=position, y1=low, y2=high, class_=f"whisker {name}")
        )
        parts.append(el("circle", cx=position, cy=y(point.share), r=3.6, class_=f"dot {name}"))
    return parts


def _grid_line(place: float, class_: str) -> Html:
    return el("line", x1=f"{place:.3f}%", x2=f"{place:.3f}%", y1=0, y2="100%", class_=class_)


def _svg(label: str, *parts: Html, height: int = HEIGHT, class_: str = "strip") -> Html:
    return el(
        "svg",
        join(*parts),
        class_=class_,
        width="100%",
        height=height,
        role="img" if label else None,
        aria_label=label or None,
        aria_hidden=None if label else "true",
    )
