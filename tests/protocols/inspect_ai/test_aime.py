"""The last line with more than marks, without its box."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gradeschool.protocols.inspect_ai.aime import MARKS_ALONE, extract, last_line, without_box

PIECES = ("18", "eggs", "$", "**", "---", "#", " ", "\n", "\n\n", "\r\n", "\u2028", "\x0b")


@example("18\n***\n")
@example("***")
@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_the_last_line_is_that_of_all_lines(text: str) -> None:
    lines = text.strip().splitlines()
    telling = [line for line in lines if not MARKS_ALONE.match(line)]
    assert last_line(text) == (telling[-1] if telling else lines[-1] if lines else "")


@pytest.mark.parametrize(
    ("line", "opened"),
    [
        (r"ANSWER: $\boxed{18}$", "ANSWER: $18$"),
        (r"\boxed{\frac{1}{2}} is it", r"\frac{1}{2} is it"),
        (r"\boxed{18", r"\boxed{18"),
        (r"} \boxed{", r"} \boxed{"),
        ("18", "18"),
    ],
)
def test_a_box_extends_to_the_last_brace(line: str, opened: str) -> None:
    assert without_box(line) == opened


def test_the_answer_has_its_place_in_the_text() -> None:
    text = "It is 3.\nANSWER: $18$\n---"
    answer = extract(text, "18")
    assert answer is not None
    assert answer.span is not None
    assert text[slice(*answer.span)] == answer.text
    assert extract("only words", "18") is None
