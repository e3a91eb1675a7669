"""Markup of the page: texts, axes."""

from hypothesis import given
from hypothesis import strategies as st

from gradeschool.reports.page.markup import Html, axis_over, el, text
from gradeschool.reports.printable import printable
from gradeschool.scoring.statistics import Interval, wilson
from tests.reports.page.test_write import TEXTS, Elements


@given(TEXTS)
def test_markup_gives_back_the_text(value: str) -> None:
    """What a parser reads in an element and in an attribute is the printable text, nothing else."""
    parsed = Elements(el("p", value, title=value))
    ((tag, attributes),) = parsed.elements
    shown = printable(value, keep="\n\t")
    assert tag == "p"
    assert attributes["title"] == shown
    assert "".join(parsed.texts.get("p", [])) == shown
    assert el("p", text(value)) == el("p", value)
    assert isinstance(el("p"), Html)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(50, 90)), min_size=1, max_size=9))
def test_an_axis_holds_its_intervals(counts: list[tuple[int, int]]) -> None:
    """Round ticks around everything, at most seven, all places inside the strip."""
    intervals = [wilson(right, n) for right, n in counts]
    axis = axis_over(intervals)
    assert 2 <= len(axis.ticks) <= 7
    for low, high in intervals:
        assert axis.low <= low + 1e-9
        assert high - 1e-9 <= axis.high
        assert 0 < axis.place(low) <= axis.place(high) < 100
    assert axis_over([Interval(0.5, 0.5)]).low < axis_over([Interval(0.5, 0.5)]).high
