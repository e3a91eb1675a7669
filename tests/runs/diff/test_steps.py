"""Where two texts part."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gradeschool.runs.diff.steps import cut_at


@given(st.text(max_size=30), st.lists(st.text(max_size=3), max_size=3))
def test_a_cut_text_holds_no_stop_string_and_is_a_start(text: str, stops: list[str]) -> None:
    cut = cut_at(text, stops)
    assert text.startswith(cut)
    assert not any(stop in cut for stop in stops if stop)
