"""Curves of a figure: ticks, labels."""

from __future__ import annotations

from typing import Any

import pytest

from gradeschool.reports.figures import curves
from gradeschool.reports.figures.records import (
    TENFOLD,
    Panel,
    Point,
    Series,
)
from tests.reports.figures.test_paper import texts_of


@pytest.mark.parametrize(
    ("low", "high", "tick"), [(1e8, 1e11, r"{10^{9}}"), (1.5e13, 9e13, r"{2\times10^{13}}")]
)
def test_many_numbers_at_any_distance_have_round_ticks(low: float, high: float, tick: str) -> None:
    points = tuple(Point(low * (high / low) ** (step / 30) ** 2, 0.5) for step in range(31))
    panel = Panel((Series("a", points),), "FLOPs", scale=TENFOLD)

    def draw(canvas: Any) -> None:
        curves._panel(panel, canvas.subplots())

    shown = texts_of(draw)
    assert any(tick in text for text in shown)
    assert not any("B" in text for text in shown)
