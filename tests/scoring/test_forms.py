"""Forms of an answer, in words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gradeschool.scoring.forms import Forms, notes_from, words_of


@given(st.integers(0, 15))
def test_the_words_of_a_form_are_read_back(bits: int) -> None:
    assert notes_from(words_of(bytes([bits]))) == bytes([bits])


def test_forms_of_no_known_form_are_none() -> None:
    from gradeschool.scoring.forms import forms_of

    assert forms_of({("0", b"\0", b""): 3}) is None
    assert forms_of({("0", b"\0", b"\x03"): 3, ("0", b"\0", b"\xff"): 1}) == Forms(3, 3, 3, 0, 0)
