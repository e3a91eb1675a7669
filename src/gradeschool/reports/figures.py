"""Figures for papers, drawn by matplotlib: curves, and what a report shows of runs."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.atomic import replacing, writing_output
from gradeschool.errors import require_packages
from gradeschool.formats.run_folder import slug
from gradeschool.printable import bounds, printable
from gradeschool.reports.report import JudgedRun, scorer_groups
from gradeschool.scorer import clip
from gradeschool.scoring.at_k import ballots_by_problem, curve
from gradeschool.scoring.score import ScorerResult
from gradeschool.scoring.statistics import Interval


class Dot(NamedTuple):
    """A share (0..1) at x, with its 95 % interval."""

    x: float
    share: float
    interval: Interval


class Panel(NamedTuple):
    """One pair of axes with named curves; x, by doubling, and y are the labels of the axes."""

    series: Mapping[str, Sequence[Dot]]
    x: str
    y: str = "Accuracy (%)"
    title: str = ""


COLUMN, PAGE = 3.35, 6.9  # inches: one column, and the width of a page of two
HEIGHT, LEGEND_ROW, ROW = 2.25, 0.16, 0.17  # inches: of curves, and of a line of text
INK, BLUE, RED = "#1a1a1a", "#0072b2", "#d55e00"
# Colour, marker and dashes of each curve: to be told apart without colours, too.
STYLES: Sequence[tuple[str, str, Any]] = (
    (BLUE, "o", "-"), (RED, "s", (0, (5, 1.5))), ("#009e73", "^", (0, (1, 1))),
    ("#cc79a7", "D", (0, (5, 1, 1, 1))), ("#e69f00", "v", "-"), ("#56b4e9", "P", (0, (3, 1))),
    ("#5e3c99", "<", "-"), ("#7f5539", ">", (0, (1, 1))), (INK, "d", "-"),
)  # fmt: skip
RC: Mapping[str, Any] = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    **dict.fromkeys(("font.size", "axes.labelsize", "axes.titlesize"), 8.5),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 7.5),
    **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.6),
    **dict.fromkeys(("xtick.major.size", "ytick.major.size"), 2.5),
    **dict.fromkeys(
        ("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color"), INK
    ),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
    "axes.axisbelow": True,
    "grid.color": "#dcdcdc",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.6,
    "lines.markeredgewidth": 0,
    "legend.handlelength": 2.2,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,  # TrueType: searchable text, which journals accept
    "svg.fonttype": "path",
    "svg.hashsalt": "gradeschool",
    "path.simplify": False,
}
# By the ending of a file, the fields that must not change from one run to the next.
UNDATED: Mapping[str, dict[str, None]] = {
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".png": {"Software": None},
}
MOST_TICKS = 9
MOST_NAMES = 6  # in the legend of a figure that is one column wide

Draw = Callable[[Any], None]


def save_figure(draw: Draw, path: Path, width: float, height: float) -> int:
    """Draw a figure of this size in inches and write it atomically; return its size in bytes.

    The path ends in one of UNDATED. Raises MissingExtraError without matplotlib, InputError if the
    file cannot be written.
    """
    require_packages("drawing figures", "report", "matplotlib")
    matplotlib = import_module("matplotlib")
    with matplotlib.rc_context({}):
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC)
        canvas = import_module("matplotlib.figure").Figure((width, height), layout="constrained")
        draw(canvas)
        with writing_output(path), replacing(path) as part:
            canvas.savefig(part, metadata=UNDATED[path.suffix])
            return part.stat().st_size


def plain(text: str, limit: int = 60) -> str:
    """Return a text for a figure: one line, without anything that matplotlib reads as math."""
    return clip(printable(text, keep=""), limit).replace("$", r"\$")


def percent_axis(axis: Any) -> None:
    """Give an axis of shares round percentages, inside of 0 to 100."""
    ticker = import_module("matplotlib.ticker")
    low, high = axis.get_view_interval()
    limit = getattr(axis.axes, f"set_{axis.axis_name}lim")  # for axes that share it, too
    limit(max(-0.02, low), min(1.02, high))  # a marker at the edge is not cut
    axis.set_major_locator(ticker.MaxNLocator(5, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(ticker.FuncFormatter(lambda share, _: f"{100 * share:.4g}"))


def draw_curves(panels: Sequence[Panel], path: Path) -> int:
    """Draw panels side by side on one axis of shares, write the file, return its size in bytes.

    An interval is a band along the curve, or a bar at a single point. One legend above the figure
    has the names of all curves.
    """
    names = list(dict.fromkeys(name for panel in panels for name in panel.series))
    wide = len(panels) > 1 or len(names) > MOST_NAMES
    room, longest = 96 if wide else 44, max((len(plain(name)) for name in names), default=1) + 7
    columns = max(1, min(len(names), room // longest))
    rows = -(-len(names) // columns) if len(names) > 1 else 0

    def drawn(canvas: Any) -> None:
        axes, lines = canvas.subplots(1, len(panels), sharey=True, squeeze=False)[0], {}
        for panel, ax in zip(panels, axes, strict=True):
            ax.grid(axis="y")
            for name, dots in panel.series.items():
                colour, marker, dash = STYLES[names.index(name) % len(STYLES)]
                spans = [(dot.x, *dot.interval) for dot in dots]
                if len(spans) == 1:
                    ax.vlines(*spans[0], color=colour, linewidth=1.0)
                else:
                    band = zip(*spans, strict=True)
                    ax.fill_between(*band, color=colour, alpha=0.16, linewidth=0)
                [lines[name]] = ax.plot(
                    [dot.x for dot in dots], [dot.share for dot in dots],
                    color=colour, marker=marker, linestyle=dash,
                )  # fmt: skip
            ax.set_xlabel(panel.x)
            ax.set_title(plain(panel.title), pad=4)
            xs = sorted({dot.x for dots in panel.series.values() for dot in dots})
            ax.set_xscale("log", base=2)
            ax.xaxis.set_minor_locator(import_module("matplotlib.ticker").NullLocator())
            ticks = xs[:: -(-len(xs) // MOST_TICKS)]
            ax.set_xticks(ticks, map(tick_label, ticks))
        percent_axis(axes[0].yaxis)
        axes[0].set_ylabel(panels[0].y)
        if rows:
            canvas.legend([lines[name] for name in names], map(plain, names), ncols=columns,
                          loc="outside upper center", columnspacing=1.2, handletextpad=0.5,
                          borderpad=0.1)  # fmt: skip

    return save_figure(drawn, path, PAGE if wide else COLUMN, HEIGHT + rows * LEGEND_ROW)


def tick_label(x: float) -> str:
    """Write a number for a tick: 7473 is 7,473, 24000 is 24k, 3000000 is 3M."""
    sizes = ((1e9, 1e9, "B"), (1e6, 1e6, "M"), (1e4, 1e3, "k"), (0, 1, ""))
    return next(f"{x / unit:,.4g}{letter}" for least, unit, letter in sizes if abs(x) >= least)


def draw_accuracies(rows: Sequence[tuple[str, ScorerResult, bool]], canvas: Any) -> None:
    """Draw a dot and its interval for every row, the first on top.

    rows: a name, a result, and whether it is that of the headline scorer, which is marked.
    """
    ax = canvas.subplots()
    places = range(len(rows) - 1, -1, -1)
    ax.set_yticks(places, [plain(name, 50) for name, *_ in rows], fontsize=7)
    ax.tick_params(axis="y", length=0)
    for place, (_, result, own) in zip(places, rows, strict=True):
        colour, marker = (BLUE, "D") if own else (INK, "o")
        if own:
            dotted = (0, (1, 1.5))
            ax.axvline(result.accuracy, color=BLUE, linewidth=0.7, linestyle=dotted, zorder=0)
        ax.hlines(place, *result.ci95, color=colour, linewidth=1.1)
        ax.plot(result.accuracy, place, marker, color=colour)
        shown = bounds(result.accuracy_bounds or [result.accuracy], 1, "–")
        ax.annotate(shown, (1.02, place), va="center", fontsize=7,
                    xycoords=("axes fraction", "data"), color=colour)  # fmt: skip
    ax.set_ylim(-0.6, len(rows) - 0.4)
    percent_axis(ax.xaxis)
    ax.grid(axis="x")
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("Accuracy (%)")


def write_figures(runs: Sequence[JudgedRun], folder: Path) -> list[Path]:
    """Write every figure of some runs into a folder, as SVG, PDF and PNG; return the files.

    A figure without data is left out, as are scorers that find no answer in most completions, or
    nothing correct; the headline scorer is always shown if it has a verdict at all. Raises
    MissingExtraError without matplotlib, InputError if the folder cannot be used.
    """
    with writing_output(folder):
        folder.mkdir(parents=True, exist_ok=True)
    accuracies: dict[str, list[tuple[str, ScorerResult, bool]]] = {}
    curves: dict[str, dict[str, list[Dot]]] = {"maj@k": {}, "pass@k": {}}
    for index, judged in enumerate(runs):
        prefix = "" if len(runs) == 1 else f"{index + 1}-{slug(judged.name)}-"
        accuracies[f"{prefix}scorers"] = [
            (f"{clip(each.names[0], 44)}"
             f"{f' (+{len(each.names) - 1})' if len(each.names) > 1 else ''}",
             each.result, each.own)
            for each in scorer_groups(judged)
            if each.result.judged and (each.own or each.finds)
        ]  # fmt: skip
        if judged.samples[1] > 1 and (points := curve(ballots_by_problem(judged.headline))):
            curves["maj@k"][judged.name] = [Dot(at.k, at.maj, at.maj_ci95) for at in points]
            curves["pass@k"][judged.name] = [Dot(at.k, at.pass_any, at.pass_ci95) for at in points]
    results = [(judged.name, judged.result, False) for judged in runs if judged.result.judged]
    if len(runs) > 1:
        accuracies["runs"] = sorted(results, key=lambda row: (-row[1].accuracy, row[0]))
    panels = [Panel(series, "Samples k", title=name) for name, series in curves.items() if series]
    if len(curves["maj@k"]) == 1:  # of one run: both in one panel
        panels = [Panel({name: dots for name, series in curves.items() for dots in series.values()},
                        "Samples k")]  # fmt: skip
    written = []
    for ending in UNDATED:
        for name, rows in accuracies.items():
            if rows:
                written.append(folder / f"{name}{ending}")
                height = 0.45 + ROW * len(rows)
                save_figure(partial(draw_accuracies, rows), written[-1], COLUMN, height)
        if panels:
            written.append(folder / f"curves{ending}")
            draw_curves(panels, written[-1])
    return written
