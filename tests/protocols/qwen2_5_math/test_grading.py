"""Tests how Qwen2.5-Math's evaluation extracts, cleans and compares an answer."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gradeschool import Problem
from gradeschool.protocols.qwen2_5_math.grading import (
    CLEANING_UNITS,
    ZERO_DECIMALS,
    ZERO_DECIMALS_AT_THE_END,
    decide,
    extract,
    number_of,
    reference,
    strip_string,
    word_number,
)
from gradeschool.scorer import ScorerFailure


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("eighteen", "18"),
        ("She has eighteen dollars", "18"),
        ("twenty-five", "25"),
        ("one hundred twenty", "120"),
        ("two thousand five", "2005"),
        ("two hundred thousand", "200000"),
        ("three point five", "3.5"),
        ("two million three thousand", "2004003"),  # upstream's own fault
        ("one point two point three", "one point two point three"),
        ("thousand million", "thousand million"),
        ("eggs", "eggs"),
        ("²", "²"),
    ],
)
def test_a_number_in_words(words: str, number: str) -> None:
    assert word_number(words) == number


@pytest.mark.parametrize(
    ("answer", "clean"),
    [
        ("18 apples", "18"),
        ("18 km", "18"),
        ("18 degrees", "18"),
        ("18\\text{ eggs}", "18"),
        ("$18$.", "18"),
        ("18\\%", "18"),
        ("x=18", "18"),
        ("18.00", "18"),
        (".5", "0.5"),
        ("1/2", "\\frac{1}{2}"),
        ("\\tfrac12", "\\frac{1}{2}"),
        ("\\sqrt2", "\\sqrt{2}"),
        ("1,250", "1,250"),
    ],
)
def test_what_is_cleaned_off_an_answer(answer: str, clean: str) -> None:
    assert strip_string(answer) == clean


@pytest.mark.parametrize(
    ("value", "gold", "decided"),
    [
        ("18", "18", True),
        ("0.18", "18", True),  # also a hundredth and the hundredfold
        ("1800", "18", True),
        ("180", "18", False),
        ("18.001", "18", True),
        ("18.01", "18", False),
        ("1,250", "1250", True),
        ("50%", "0.5", True),
        ("(18)", "18", True),
        ("y=18", "18", True),
        ("y=19", "18", False),
        ("", "18", False),
        ("\\frac{1}{2}", "0.5", ("\\frac{1}{2}", "0.5")),
    ],
)
def test_numbers_are_decided_and_expressions_are_left_to_sympy(
    value: str, gold: str, decided: bool | tuple[str, str]
) -> None:
    assert decide(value, gold) == decided


def test_a_percent_sign_divides_by_a_hundred() -> None:
    assert [number_of(text) for text in ("50%", "50\\%", "1,250", "%", "x%", "x")] == [
        0.5, 0.5, 1250, None, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "piece", "value"),
    [
        ("So the final answer is $18$. I hope it is correct.", "18", "18"),
        ("\\boxed{9} and \\boxed{18 apples}", "18 apples", "18"),
        ("The answer is 18 apples.", "18 apples.", "18"),
        ("答案是 18\n\nand 7", "18", "18"),
        ("She has 1,250 eggs", "1250", "1250"),
    ],
)
def test_the_place_that_is_read(text: str, piece: str, value: str) -> None:
    answer = extract(text, "18")
    assert answer is not None
    assert (answer.text, answer.value) == (piece, value)


def test_the_gold_of_a_solution_with_two_marks_is_refused() -> None:
    assert reference(Problem.from_row("0", "?", "So.\n#### 1,250")) == "1,250"
    with pytest.raises(ScorerFailure, match="2 '####' in the solution"):
        reference(Problem("0", "?", "18", "#### 7\n#### 18"))


PIECES = st.lists(st.sampled_from(["boxed{", "boxed", "{", "}", "$", " ", "18", "x", "\n"]))


def published_box(text: str) -> str:
    """Return the box that `extract_answer` reads in a text with "boxed"."""
    tail = text.split("boxed")[-1]
    if tail[:1] != "{":
        return tail.split("$")[0].strip()
    depth, content = 1, ""
    for character in tail[1:]:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth == 0:
            break
        content += character
    return content


@given(PIECES.map("".join))
def test_the_box_is_that_of_the_published_loop(text: str) -> None:
    answer = extract(f"boxed{text}", "")
    assert answer is not None
    assert answer.text == published_box(f"boxed{text}")


@given(st.text("0123.x \n٣", max_size=12))
def test_zero_decimals_are_those_of_the_published_patterns(text: str) -> None:
    published = re.sub(r"(\d+)\.0*$", r"\1", re.sub(r"(\d+)\.0*([^\d])", r"\1\2", text))
    assert ZERO_DECIMALS_AT_THE_END.sub("", ZERO_DECIMALS.sub(r"\1", text)) == published


WORDS = [*CLEANING_UNITS, *(f"{unit}s" for unit in CLEANING_UNITS)]
QUANTITIES = st.lists(st.sampled_from([*WORDS, " ", " ", "18", "-"]), min_size=1, max_size=6)


def published_units(text: str) -> str:
    """Remove each unit in turn, twice over; a unit that would leave nothing stays."""
    for _ in range(2):
        for unit in WORDS:
            text = re.sub(r"(^|\W)" + unit + r"($|\W)", r"\1\2", text) or text
    return text


@given(QUANTITIES.map("".join))
def test_units_are_those_of_the_published_loop(text: str) -> None:
    """What the loop leaves is cleaned the same, if a second pass leaves it alone."""
    cleaned = published_units(text.strip().rstrip("."))
    assume(published_units(cleaned.strip().rstrip(".")) == cleaned)
    assert strip_string(text) == strip_string(cleaned)
