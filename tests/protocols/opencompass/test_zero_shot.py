"""The box, else the sentence that announces an answer; comparisons are in test_forms.py."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gradeschool.protocols.opencompass.zero_shot import announcing_piece, extract, last_box

PIECES = ("18", "8", "1", "the answer is ", "final answer ", "w", "answer is: ", "$", "=", "x = ",
          " ", ",", "eggs", "dollars", "A", "-", "\n", "howard ", "0", "{", "}", "\\")  # fmt: skip


@example("It is. The FINAL ANSWER 18. The answer is 3.")
@given(st.lists(st.sampled_from((*PIECES, ".", "Final Answer", "ANSWER IS", "K")), max_size=12).map(
    "".join
))  # fmt: skip
def test_the_first_piece_that_announces_is_taken_else_the_first(text: str) -> None:
    pieces = text.split(".")
    telling = [piece for piece in pieces if re.search("final answer|answer is", piece.lower())]
    piece = announcing_piece(text)
    assert piece.text == (telling[0] if telling else pieces[0])
    assert text[piece.start : piece.end] == piece.text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"so \boxed{{18}} eggs", "18"),
        (r"\boxed{3} or \boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        ("She has 3. The answer is 18. Good.", "18"),
        ("", None),
    ],
)
def test_the_box_goes_before_the_sentence(text: str, value: str | None) -> None:
    answer = extract(text, "18")
    assert (None if answer is None else answer.value) == value
    box = last_box(text)
    assert (box is not None) is ("boxed" in text)
