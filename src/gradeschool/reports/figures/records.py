"""What a figure shows, as plain records: no plotting library, no model."""

from __future__ import annotations

from dataclasses import dataclass

from gradeschool.scoring.statistics import Interval

LINEAR, DOUBLING, TENFOLD = "linear", "log2", "log10"


@dataclass(frozen=True, slots=True)
class Point:
    """A share (0..1) at x; `interval` is its 95 % interval, None where there is none."""

    x: float
    share: float
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """A named curve. baseline: what the others are held against, drawn dashed and in grey."""

    name: str
    points: tuple[Point, ...]
    baseline: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes. scale: "linear", "log2" (ticks where points are) or "log10".

    x, y: labels of the axes. title: above it, "" for none. level: a share drawn across, with its
    name, None for none.
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

    name: what it is called in a paper or a file name. shared: one axis of accuracy for all panels.
    """

    name: str
    panels: tuple[Panel, ...]
    shared: bool = True
