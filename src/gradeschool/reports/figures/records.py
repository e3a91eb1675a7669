"""Figures as records, without a plotting library, and the figures of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gradeschool.reports.page.verdicts import (
    HEADLINE,
    Judged,
    Share,
    alike,
    column_of,
    finds_answers,
    samples_of,
    share_of,
)
from gradeschool.scoring.at_k import ballots_of, curve
from gradeschool.scoring.statistics import Interval
from gradeschool.scoring.table import CORRECT, ERROR

LINEAR, DOUBLING, TENFOLD = "linear", "log2", "log10"


@dataclass(frozen=True, slots=True)
class Point:
    """A share (0..1) at x; `interval` is its 95 % interval or None."""

    x: float
    share: float
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """A named curve. baseline: the others are compared with it; drawn dashed and in grey."""

    name: str
    points: tuple[Point, ...]
    baseline: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes. scale: "linear", "log2" (ticks where points are) or "log10".

    x, y: labels of the axes. title: above the panel, "" for no title. level: a share drawn as a
    named horizontal line, or None.
    """

    series: tuple[Series, ...]
    x: str
    y: str = "Accuracy (%)"
    title: str = ""
    scale: str = LINEAR
    level: tuple[float, str] | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of one or several panels side by side.

    name: its name in a paper or a file name. shared: all panels share one axis of accuracy.
    """

    name: str
    panels: tuple[Panel, ...]
    shared: bool = True


MOST_SCORERS, MOST_AGREEING, MOST_CAUSES = 24, 12, 12


class ScorerRow(NamedTuple):
    """Scorers that agree on every completion: one name, how many more, and their accuracy."""

    name: str
    others: int
    share: Share
    headline: bool


class CauseRow(NamedTuple):
    """A cause of misses and its count."""

    name: str
    completions: int


class Agreement(NamedTuple):
    """Scorers, and the share of judged completions on which each pair agrees on the outcome."""

    names: tuple[str, ...]
    shares: tuple[tuple[float, ...], ...]


class Lengths(NamedTuple):
    """Lengths of correct and of other completions, in tokens or characters."""

    unit: str
    correct: tuple[int, ...]
    others: tuple[int, ...]


def scorer_rows(judged: Judged) -> list[ScorerRow]:
    """Return the sets of scorers that agree, by accuracy, highest first.

    Scorers that find no answer in most completions, or nothing correct, are left out. The headline
    scorer's set is always included, under its name, if it has a verdict at all.
    """
    rows = []
    for group in alike(judged):
        own = HEADLINE in group
        if own or finds_answers(column_of(judged, group[0])):
            share = share_of(judged, group[0])
            row = ScorerRow(judged.scorers[group[0]], len(group) - 1, share, own)
            rows += [row] if share.judged else []
    rows.sort(key=lambda row: (-row.share.accuracy, row.name))
    own_first = sorted(rows, key=lambda row: not row.headline)[:MOST_SCORERS]
    return [row for row in rows if row in own_first]


def run_rows(runs: Sequence[Judged]) -> list[ScorerRow]:
    """Return the runs under their headline scorer, as rows like scorers', highest first.

    Runs without a judged completion are left out.
    """
    shares = {judged.name: share_of(judged) for judged in runs}
    rows = [ScorerRow(name, 0, share, False) for name, share in shares.items() if share.judged]
    return sorted(rows, key=lambda row: (-row.share.accuracy, row.name))


def agreement(judged: Judged) -> Agreement:
    """Return how often each pair of the first rows' scorers agrees on the outcome."""
    names = [row.name for row in scorer_rows(judged)][:MOST_AGREEING]
    columns = [column_of(judged, judged.scorers.index(name)) for name in names]
    return Agreement(
        tuple(names),
        tuple(tuple(_same(row, column) for column in columns) for row in columns),
    )


def _same(a: bytes, b: bytes) -> float:
    """Return the share of equal outcomes, without the samples that neither scorer can judge."""
    pairs = [pair for pair in zip(a, b, strict=True) if pair != (ERROR, ERROR)]
    return sum(ours == theirs for ours, theirs in pairs) / len(pairs) if pairs else 1.0


def cause_rows(judged: Judged) -> list[CauseRow]:
    """Return the causes under the headline scorer, most frequent first, the rest combined."""
    causes = Counter(each.cause for each in judged.completions if each.cause).most_common()
    rows = [CauseRow(name, count) for name, count in causes[:MOST_CAUSES]]
    rest = sum(count for _, count in causes[MOST_CAUSES:])
    return [*rows, CauseRow("other causes", rest)] if rest else rows


def curves_over_k(runs: Sequence[Judged]) -> Figure | None:
    """Return maj@k and pass@k of the runs with several samples; None if there are no such runs."""
    sampled = [
        (judged, points)
        for judged in runs
        if samples_of(judged)[1] > 1 and (points := curve(ballots_of(judged.headline)))
    ]
    if not sampled:
        return None
    maj = tuple(
        Series(judged.name, tuple(Point(item.k, item.maj, item.maj_ci95) for item in points))
        for judged, points in sampled
    )
    any_of = tuple(
        Series(judged.name, tuple(Point(item.k, item.pass_any, item.pass_ci95) for item in points))
        for judged, points in sampled
    )
    x = "Samples k"
    if len(sampled) == 1:
        both = (Series("pass@k", any_of[0].points), Series("maj@k", maj[0].points))
        return Figure("curves", (Panel(both, x, scale=DOUBLING),))
    panels = (
        Panel(maj, x, title="maj@k", scale=DOUBLING),
        Panel(any_of, x, title="pass@k", scale=DOUBLING),
    )
    return Figure("curves", panels)


def lengths(judged: Judged) -> Lengths:
    """Return the lengths of a run's completions: in tokens if all are recorded, else characters."""
    texts = [each for each in judged.completions if not each.sample.error]
    counted = bool(texts) and all(each.sample.usage.completion_tokens is not None for each in texts)
    results: dict[bool, list[int]] = {True: [], False: []}
    for each in texts:
        if each.outcome == ERROR:
            continue
        tokens = each.sample.usage.completion_tokens if counted else None
        size = len(each.sample.text) if tokens is None else tokens
        results[each.outcome == CORRECT].append(size)
    unit = "tokens" if counted else "characters"
    return Lengths(unit, tuple(sorted(results[True])), tuple(sorted(results[False])))
