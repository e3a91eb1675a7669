"""The figures of a run: scorers, their agreement, causes, accuracy by class, curves, lengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.errors import InputError
from gradeschool.formats.own_run import slug
from gradeschool.reports.figures import curves
from gradeschool.reports.figures.records import (
    Agreement,
    CauseRow,
    Lengths,
    ScorerRow,
    agreement,
    cause_rows,
    curves_over_k,
    lengths,
    run_rows,
    scorer_rows,
)
from gradeschool.reports.page.verdicts import Judged, Slices, share_of, slices_of

ROW = 0.17  # inches
FEW, MIDDLE = 6, 5.2  # number of scorers that fit into a column; width in inches for more


class SizedFigure(NamedTuple):
    """A figure to draw: its name, its size in inches, and the function that draws it."""

    name: str
    width: float
    height: float
    draw: curves.Draw


def write_figures(runs: Sequence[Judged], folder: Path, endings: Sequence[str]) -> list[Path]:
    """Write every figure of some runs into a folder, in every file form; return the files.

    A figure without data (such as causes of a run without misses) is left out. Raises
    MissingExtraError without matplotlib, InputError if the folder cannot be used.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot use the folder {str(folder)!r}: {error.strerror}; "
                         "give another") from error  # fmt: skip
    figures: list[SizedFigure] = []
    for index, judged in enumerate(runs):
        prefix = "" if len(runs) == 1 else f"{index + 1}-{slug(judged.name)}-"
        figures += (sized._replace(name=prefix + sized.name) for sized in figures_of(judged))
    if len(runs) > 1 and (rows := run_rows(runs)):
        figures.append(_scorers_figure("runs", rows))
    written = []
    for sized in figures:
        for ending in endings:
            path = folder / f"{sized.name}{ending}"
            curves.save_figure(sized.draw, path, sized.width, sized.height)
            written.append(path)
    over_k = curves_over_k(runs)
    if over_k is not None:
        for ending in endings:
            curves.draw(over_k, folder / f"curves{ending}")
            written.append(folder / f"curves{ending}")
    return written


def _scorers_figure(name: str, rows: Sequence[ScorerRow]) -> SizedFigure:
    height = 0.45 + ROW * len(rows)
    return SizedFigure(name, curves.COLUMN, height, partial(draw_scorers, rows))


def figures_of(judged: Judged) -> Iterator[SizedFigure]:
    """Yield the figures of one run."""
    rows = scorer_rows(judged)
    if rows:
        yield _scorers_figure("scorers", rows)
    same = agreement(judged)
    if (n := len(same.names)) > 1:
        width = curves.COLUMN if n <= FEW else MIDDLE
        yield SizedFigure("agreement", width, 0.45 + 1.25 * ROW * n, partial(draw_agreement, same))
    causes = cause_rows(judged)
    if causes:
        height = 0.4 + ROW * len(causes)
        yield SizedFigure("causes", curves.COLUMN, height, partial(draw_causes, causes))
    whole = share_of(judged)
    if whole.judged and (ways := slices_of(judged)):
        yield SizedFigure("slices", curves.PAGE, 2.0, partial(draw_slices, ways, whole.accuracy))
    long = lengths(judged)
    if long.correct or long.others:
        yield SizedFigure("lengths", curves.COLUMN, 2.1, partial(draw_lengths, long))


def draw_scorers(rows: Sequence[ScorerRow], canvas: Any) -> None:
    """Draw a dot and its interval for every row; the headline scorer is marked."""
    ax = canvas.subplots()
    places = range(len(rows) - 1, -1, -1)
    own = next((row.share.accuracy for row in rows if row.headline), None)
    if own is not None:
        ax.axvline(own, color=curves.BLUE, linewidth=0.7, linestyle=(0, (1, 1.5)), zorder=0)
    for place, row in zip(places, rows, strict=True):
        colour = curves.BLUE if row.headline else curves.INK
        ax.hlines(place, *row.share.interval, color=colour, linewidth=1.1)
        ax.plot(row.share.accuracy, place, "D" if row.headline else "o", color=colour,
                markersize=3.6)  # fmt: skip
        ax.annotate(f"{100 * row.share.accuracy:.1f}", (1.02, place),
                    xycoords=("axes fraction", "data"), va="center", fontsize=7,
                    color=colour)  # fmt: skip
    names = [
        curves.plain(row.name, 44) + (f" (+{row.others})" if row.others else "") for row in rows
    ]
    ax.set_yticks(list(places), names, fontsize=7)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(-0.6, len(rows) - 0.4)
    low = min(row.share.interval.low for row in rows)
    high = max(row.share.interval.high for row in rows)
    curves.percent_axis(ax.xaxis, low, high)
    ax.grid(axis="x", color=curves.FAINT, linewidth=0.5)
    ax.set_axisbelow(True)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("Accuracy (%)")


def draw_agreement(same: Agreement, canvas: Any) -> None:
    """Draw the share of equal outcomes of each pair of scorers, below the diagonal."""
    ax = canvas.subplots()
    n = len(same.names)
    shares = [[same.shares[row][column] if column < row else float("nan") for column in range(n)]
              for row in range(n)]  # fmt: skip
    measured_shares = [share for row in shares for share in row if share == share]
    low = min(measured_shares)
    lightest = low - 0.3 * (1 - low) - 0.01
    ax.imshow(shares, cmap="Blues", vmin=lightest, vmax=1.0, aspect="auto")
    for row in range(n):
        for column in range(row):
            share = shares[row][column]
            dark = (share - lightest) / (1 - lightest) > 0.6
            ax.text(column, row, _whole(share), ha="center", va="center", fontsize=6.5,
                    color="white" if dark else curves.INK)  # fmt: skip
    names = [f"{curves.plain(name, 44)}  {index}" for index, name in enumerate(same.names, start=1)]
    ax.set_yticks(range(n), names, fontsize=7)
    ax.set_xticks(range(n - 1), [str(index) for index in range(1, n)], fontsize=7)
    ax.set_xlim(-0.5, n - 1.5)
    ax.set_ylim(n - 0.5, -0.5)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    canvas.supxlabel("Completions with the same outcome (%)", fontsize=8.5)


def _rounded(share: float) -> str:
    return "<1" if share < 0.005 else f"{100 * share:.0f}"


def _whole(share: float) -> str:
    """Write a percentage, 100 only for the exact total."""
    return "100" if share == 1 else f"{min(100 * share, 99.9):.1f}"


def draw_causes(rows: Sequence[CauseRow], canvas: Any) -> None:
    """Draw a bar for each cause, with its count."""
    ax = canvas.subplots()
    places = list(range(len(rows) - 1, -1, -1))
    counts = [row.completions for row in rows]
    ax.barh(places, counts, height=0.62, color=curves.SKY, linewidth=0)
    total = sum(counts)
    for place, count in zip(places, counts, strict=True):
        ax.annotate(f"{count:,}  ({_rounded(count / total)}%)", (count, place), (3, 0),
                    textcoords="offset points", va="center", fontsize=7)  # fmt: skip
    ax.set_yticks(places, [curves.plain(row.name, 44) for row in rows], fontsize=7)
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0, max(counts) * 1.28)
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.set_xlabel("Completions")


def draw_slices(ways: Sequence[Slices], level: float, canvas: Any) -> None:
    """Draw accuracy by steps, answer size and question length side by side."""
    axes = canvas.subplots(1, len(ways), sharey=True, squeeze=False)[0]
    intervals = [
        division.share.interval for way in ways for division in way.classes if division.share.judged
    ]
    low = min(interval.low for interval in intervals)
    high = max(interval.high for interval in intervals)
    for way, ax in zip(ways, axes, strict=True):
        ax.grid(axis="y", color=curves.FAINT, linewidth=0.5)
        ax.set_axisbelow(True)
        ax.axhline(level, color=curves.SOFT, linewidth=0.8, linestyle=(0, (1, 1.5)))
        for place, item in enumerate(way.classes):
            if item.share.judged:
                ax.vlines(place, *item.share.interval, color=curves.BLUE, linewidth=1.1)
                ax.plot(place, item.share.accuracy, "o", color=curves.BLUE, markersize=3.6)
        labels = [_label(division.label) for division in way.classes]
        ax.set_xticks(range(len(labels)), labels, fontsize=7)
        ax.set_xlim(-0.6, len(labels) - 0.4)
        ax.set_xlabel(f"{way.title}{f' ({way.unit})' if way.unit == 'words' else ''}")
    curves.percent_axis(axes[0].yaxis, low, high)
    axes[0].set_ylim(low - 0.04 * (high - low), high + 0.04 * (high - low))
    axes[0].set_ylabel("Accuracy (%)")


SHORT = {"1,000 to 9,999": "1k–10k", "10,000 and more": "≥10k"}


def _label(words: str) -> str:
    """Write a class for a tick: "8 and more" is "≥8", "10 to 99" is "10–99", "up to 29" "≤29"."""
    if words in SHORT:
        return SHORT[words]
    if words.endswith(" and more"):
        return f"≥{words.removesuffix(' and more')}"
    if words.startswith("up to "):
        return f"≤{words.removeprefix('up to ')}"
    return words.replace(" to ", "–")


def draw_lengths(long: Lengths, canvas: Any) -> None:
    """Draw the cumulative distribution of length, for correct and other completions."""
    ax = canvas.subplots()
    for name, sizes, colour, dash in (
        ("correct", long.correct, curves.BLUE, "-"),
        ("not correct", long.others, curves.RED, (0, (5, 1.5))),
    ):
        if sizes:
            shares = [index / len(sizes) for index in range(1, len(sizes) + 1)]
            ax.step(sizes, shares, where="post", color=colour, linestyle=dash,
                    label=f"{name} ({len(sizes):,})")  # fmt: skip
    ax.grid(axis="y", color=curves.FAINT, linewidth=0.5)
    ax.set_axisbelow(True)
    curves.percent_axis(ax.yaxis, 0.0, 1.0)
    ax.set_ylim(0, 1.02)
    everything = sorted((*long.correct, *long.others))
    ax.set_xlim(0, max(1, everything[int(0.995 * (len(everything) - 1))] * 1.05))
    ax.set_xlabel(f"Length of the completion ({long.unit})")
    ax.set_ylabel("At most so long (%)")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 0.99), ncols=2, borderpad=0.1)
