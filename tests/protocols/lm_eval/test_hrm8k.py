"""HRM8K's extraction: the published patterns, and the linear code in their place."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gradeschool.problem import Problem
from gradeschool.protocols.lm_eval.hrm8k import (
    HRM8K_SCORER,
    NUMBER,
    as_number,
    compare,
    find_answer,
)

PUBLISHED_NUMBER = re.compile(r"(?:\$)?\d+(?:\.\d+)?(?![\w\d])")
PUBLISHED_DOLLARS = re.compile(r"\$(.*)\$")
PIECES = ("1", "23", ".", "$", "x", "_", " ", ",", "\n", "é", "४", "%")
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@example("1.2.3x")
@example("12x 3.4_ $5.6")
@given(TEXTS)
def test_numbers_are_those_of_the_published_pattern(text: str) -> None:
    assert [match.span() for match in NUMBER.finditer(text)] == [
        match.span() for match in PUBLISHED_NUMBER.finditer(text)
    ]


@example("$1$ $2$\n$3")
@given(TEXTS)
def test_the_text_between_dollars_is_that_of_the_published_pattern(text: str) -> None:
    published = PUBLISHED_DOLLARS.findall(text)
    answer = find_answer(text)
    between = answer is not None and answer[1].startswith("between the dollar signs")
    assert between is bool(published and published[-1])
    if between and answer is not None:
        assert answer[0].text == published[-1]
        assert text[answer[0].start : answer[0].end] == answer[0].text


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        (r"so \boxed{x = 18}", "18"),
        ("3 + 15 = 18.", "18"),
        ("She has 7 of 18 eggs", "18"),
        (r"an open \boxed{18", None),
        ("none", None),
    ],
)
def test_where_the_answer_is_looked_for(text: str, piece: str | None) -> None:
    answer = find_answer(text)
    assert (None if answer is None else answer[0].text) == piece


@pytest.mark.parametrize(
    ("value", "gold", "same"),
    [("18.00", "18", True), ("018", "18", True), ("eggs", "18", False), (r"\frac12", "0.5", True)],
)
def test_answers_are_compared_as_numbers(value: str, gold: str, same: bool) -> None:
    assert compare(value, gold) is same
    assert as_number("18.50") == "18.5"


def test_the_gold_loses_its_sign_as_upstream() -> None:
    assert HRM8K_SCORER.judge("It is 10", Problem.from_gold("-10")).correct
