"""Draw figures: one style for all of them, and curves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import chain, cycle
from math import ceil, floor
from pathlib import Path
from typing import Any

from gradeschool.atomic import replacing, writing_output
from gradeschool.errors import InputError, require_packages
from gradeschool.reports.figures.records import DOUBLING, LINEAR, Figure, Panel, Point, Series
from gradeschool.reports.printable import printable
from gradeschool.scorer import clip

COLUMN, PAGE = 3.35, 6.9  # inches: one column, and the width of a page of two
ENDINGS = (".svg", ".pdf", ".png")
INK, SOFT, FAINT = "#1a1a1a", "#6b6b6b", "#dcdcdc"
BLUE, RED, GREEN, PINK = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
ORANGE, SKY, PURPLE, BROWN = "#e69f00", "#56b4e9", "#5e3c99", "#7f5539"
COLOURS = (BLUE, RED, GREEN, PINK, ORANGE, SKY, PURPLE, BROWN, INK)
MARKERS = ("o", "s", "^", "D", "v", "P", "<", ">", "d")
DASHES: tuple[Any, ...] = (
    "-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), "-", (0, (3, 1)), "-", (0, (1, 1)), "-",
)  # fmt: skip
RC: Mapping[str, Any] = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 8.5,
    "axes.labelsize": 8.5,
    "axes.titlesize": 8.5,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "axes.linewidth": 0.6,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.6,
    "lines.markeredgewidth": 0,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "figure.dpi": 100,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,  # TrueType: searchable text, which journals accept
    "svg.fonttype": "path",
    "svg.hashsalt": "gradeschool",
    "path.simplify": False,
}
UNDATED: Mapping[str, dict[str, None]] = {
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".png": {"Software": None},
}

Draw = Callable[[Any], None]


def save_figure(draw: Draw, path: Path, width: float, height: float) -> int:
    """Draw a figure of this size in inches and write it atomically; return its size in bytes.

    The ending of the path gives the form. Raises MissingExtraError without matplotlib, InputError
    for another ending or if the file cannot be written.
    """
    check_figure(path)
    ending = path.suffix.lower()
    matplotlib = _matplotlib()
    with matplotlib.rc_context({}):
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC)
        figure = import_module("matplotlib.figure").Figure(
            figsize=(width, height), layout="constrained"
        )
        draw(figure)
        with writing_output(path), replacing(path) as part:
            figure.savefig(part, metadata=UNDATED[ending])
            size = part.stat().st_size
    return size


def check_figure(path: Path) -> None:
    """Raise InputError for another ending, MissingExtraError without matplotlib."""
    if path.suffix.lower() not in ENDINGS:
        raise InputError(
            f"no figure is written as {path.name!r}; its name may end in {', '.join(ENDINGS)}"
        )
    _matplotlib()


def _matplotlib() -> Any:
    require_packages("drawing figures", "report", "matplotlib")
    return import_module("matplotlib")


def plain(text: str, limit: int = 60) -> str:
    """Return a text for a figure: one line, without anything that matplotlib reads as math."""
    return clip(printable(text, keep=""), limit).replace("$", r"\$")


def percent_axis(axis: Any, low: float, high: float) -> None:
    """Give an axis round percentages from below `low` to above `high` (shares, 0 to 1)."""
    span = max(high - low, 0.01)
    step = next(item for item in (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 1.0) if span / item <= 5.5)
    first, last = max(0, floor(low / step + 1e-9)), min(1 / step, ceil(high / step - 1e-9))
    ticks = [index * step for index in range(int(first), int(last) + 1)]
    axis.set_ticks(ticks, [f"{100 * tick:g}" for tick in ticks])


HEIGHT = 2.25  # inches
LEGEND_ROW = 0.16
MOST_TICKS = 9
MOST_NAMES = 6  # in the legend of a figure that is one column wide


def draw(figure: Figure, path: Path) -> int:
    """Write a figure as `save_figure` does, and return its size in bytes."""
    named = [_names(panel) for panel in figure.panels]
    wide = len(figure.panels) > 1 or len(named[0]) > MOST_NAMES
    alike = all(names == named[0] for names in named)
    columns = _columns(named[0], wide)
    rows = -(-len(named[0]) // columns) if len(named[0]) > 1 else 0
    width = PAGE if wide else COLUMN

    def drawn(canvas: Any) -> None:
        axes = canvas.subplots(1, len(figure.panels), sharey=figure.shared, squeeze=False)[0]
        handles: list[Any] = []
        for panel, ax in zip(figure.panels, axes, strict=True):
            handles = _panel(panel, ax)
            _y_axis(figure.panels if figure.shared else (panel,), ax)
            if not alike:
                _legend_of_its_own(panel, ax)
        axes[0].set_ylabel(figure.panels[0].y)
        if rows and alike:
            canvas.legend(
                handles,
                named[0],
                loc="outside upper center",
                ncols=columns,
                columnspacing=1.4,
                borderpad=0.1,
                handletextpad=0.5,
            )

    return save_figure(drawn, path, width, HEIGHT + (rows if alike else 1) * LEGEND_ROW)


def _legend_of_its_own(panel: Panel, ax: Any) -> None:
    """Put a panel's names in a row between its title and its axes."""
    ax.legend(
        loc="lower center",
        bbox_to_anchor=(0.5, 0.99),
        ncols=len(panel.series),
        columnspacing=0.9,
        handlelength=1.6,
        handletextpad=0.4,
        borderpad=0.1,
    )
    ax.set_title(plain(panel.title), pad=16)


def _names(panel: Panel) -> list[str]:
    return [plain(series.name) for series in panel.series]


def _columns(names: Sequence[str], wide: bool) -> int:
    """Return the number of columns of the legend above the axes."""
    room = 96 if wide else 44  # characters
    longest = max(map(len, names), default=1) + 7
    return max(1, min(len(names), room // longest))


BASELINES = tuple(
    {"color": SOFT, "marker": marker, "linestyle": dash, "markeredgewidth": 1.0}
    for marker, dash in (("x", (0, (4, 2))), ("+", (0, (1, 1))))
)


def _looks(panel: Panel) -> Iterator[tuple[Series, dict[str, Any]]]:
    """Yield each series with its colour, marker and dash."""
    baselines = cycle(BASELINES)
    others = cycle(zip(COLOURS, MARKERS, DASHES, strict=True))
    for series in panel.series:
        if series.baseline:
            yield series, next(baselines)
            continue
        colour, marker, dash = next(others)
        yield series, {"color": colour, "marker": marker, "linestyle": dash}


def _panel(panel: Panel, ax: Any) -> list[Any]:
    """Draw a panel; return the lines of its series."""
    lines = []
    ax.grid(axis="y", color=FAINT, linewidth=0.5)
    ax.set_axisbelow(True)
    for series, look in _looks(panel):
        _band(series, ax, str(look["color"]))
        points = sorted(series.points, key=lambda point: point.x)
        xs, shares = [point.x for point in points], [point.share for point in points]
        lines += ax.plot(xs, shares, label=plain(series.name), **look)
    if panel.level is not None:
        share, words = panel.level
        ax.axhline(share, color=SOFT, linewidth=0.8, linestyle=(0, (1, 1.5)))
        ax.annotate(plain(words), (1, share), (0, 2), xycoords=("axes fraction", "data"),
                    textcoords="offset points", ha="right", va="bottom", fontsize=7,
                    color=SOFT)  # fmt: skip
    ax.set_xlabel(panel.x)
    if panel.title:
        ax.set_title(plain(panel.title), pad=4)
    _x_axis(panel, ax)
    return lines


def _band(series: Series, ax: Any, colour: str) -> None:
    """Draw the intervals: a band along the curve, or a bar at a single point."""
    points = sorted(series.points, key=lambda point: point.x)
    bounds = [(point.x, *point.interval) for point in points if point.interval is not None]
    if not bounds:
        return
    xs, lows, highs = zip(*bounds, strict=True)
    if len(bounds) == 1:
        ax.vlines(xs, lows, highs, color=colour, linewidth=1.0)
    else:
        ax.fill_between(xs, lows, highs, color=colour, alpha=0.16, linewidth=0)


def _x_axis(panel: Panel, ax: Any) -> None:
    ticker = import_module("matplotlib.ticker")
    xs = sorted({point.x for series in panel.series for point in series.points})
    if panel.scale != LINEAR and xs and xs[0] > 0:
        ax.set_xscale("log", base=2 if panel.scale == DOUBLING else 10)
        ax.xaxis.set_minor_locator(ticker.NullLocator())
        if panel.scale != DOUBLING and len(xs) > MOST_TICKS:  # at any distance from each other
            between = (1.0, 2.0, 5.0) if xs[-1] < 100 * xs[0] else (1.0,)
            ax.xaxis.set_major_locator(ticker.LogLocator(subs=between, numticks=MOST_TICKS))
            formatter = ticker.LogFormatterSciNotation(minor_thresholds=(MOST_TICKS, MOST_TICKS))
            ax.xaxis.set_major_formatter(formatter)
            return
        every = (len(xs) + MOST_TICKS - 1) // MOST_TICKS
        shown = xs[::-1][::every]
        ax.set_xticks(shown, [_short(x) for x in shown])
    elif len(xs) <= MOST_TICKS and all(float(x).is_integer() for x in xs):
        ax.set_xticks(xs, [_short(x) for x in xs])
    else:
        whole = all(float(x).is_integer() for x in xs)
        ax.xaxis.set_major_locator(ticker.MaxNLocator(6, integer=whole))


def _y_axis(panels: Sequence[Panel], ax: Any) -> None:
    low, high = _range(panels)
    percent_axis(ax.yaxis, low, high)
    ax.set_ylim(low - 0.04 * (high - low), high + 0.04 * (high - low))


def _short(x: float) -> str:
    """Write a number for a tick: 8000 is 8k, 3000000 is 3M."""
    for size, letter in ((1e9, "B"), (1e6, "M"), (1e4, "k")):
        if abs(x) >= size:
            size = 1e3 if letter == "k" else size
            return f"{x / size:.3g}{letter}"
    return f"{x:g}"


def _range(panels: Sequence[Panel]) -> tuple[float, float]:
    """Return the lowest and highest share of all points, intervals and levels."""
    shares: list[float] = [panel.level[0] for panel in panels if panel.level is not None]
    for panel in panels:
        for series in panel.series:
            shares += chain.from_iterable(map(_bounds, series.points))
    low, high = min(shares, default=0.0), max(shares, default=1.0)
    return (low, high) if high - low > 0.01 else (max(0.0, low - 0.02), min(1.0, high + 0.02))


def _bounds(point: Point) -> tuple[float, ...]:
    return (point.share, *(point.interval or ()))
