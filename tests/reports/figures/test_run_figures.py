"""Figures of a run: agreement of scorers, causes."""

from __future__ import annotations

from gradeschool.reports.figures.records import (
    Agreement,
    CauseRow,
)
from gradeschool.reports.figures.run_figures import draw_agreement, draw_causes
from tests.reports.figures.test_paper import texts_of


def test_agreement_below_all_is_never_written_as_all() -> None:
    same = Agreement(("a", "b", "c"), ((1, 0.9999, 0.5), (0.9999, 1, 1), (0.5, 1, 1)))
    texts = texts_of(lambda canvas: draw_agreement(same, canvas))
    assert [text for text in texts if "9.9" in text or text in ("100", "50.0")] == [
        "99.9",
        "50.0",
        "100",
    ]


def test_causes_show_counts_and_shares() -> None:
    rows = [CauseRow("wrong value", 996), CauseRow("empty", 4)]
    texts = texts_of(lambda canvas: draw_causes(rows, canvas))
    assert {"996  (100%)", "4  (<1%)"} <= set(texts)
