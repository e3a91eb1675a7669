"""Tests which values lighteval's patterns extract, and how it cleans LaTeX."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("math_verify", reason="needs the extra math-verify")

from latex2sympy2_extended.sets import FiniteSet
from sympy import Integer, Rational

from gradeschool.protocols.lighteval.extraction import (
    answer_patterns,
    boxed,
    cleaned,
    expression_patterns,
    extracted,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("#### 18", Integer(18)),
        ("She has 9 eggs and 18 hens", Integer(18)),
        ("The answer is 7. She has 18", Integer(7)),
        ("The answer is 7. The final answer is 18. I hope it is correct.", Integer(18)),
        ("It is 1,250 in all", Integer(1250)),
        ("First \\boxed{9}, finally \\boxed{18}", Integer(18)),
        ("\\boxed{9} and \\boxed{18}", FiniteSet(9, 18)),
        ("So it is $\\frac{1}{2}$", Rational(1, 2)),
        ("nothing", None),
        ("(18)", None),
    ],
)
def test_the_value_of_a_completion(text: str, value: Any) -> None:
    items = extracted(text, answer_patterns(), first_match=False)
    assert items[:1] == ([] if value is None else [value])


def test_the_characters_come_after_the_value() -> None:
    assert extracted("#### 1,250", expression_patterns(), first_match=True) == [
        Integer(1250), "1250",
    ]  # fmt: skip
    assert extracted("#### 018", expression_patterns(), first_match=True)[1] == "18"


def test_a_percentage_is_not_multiplied_out() -> None:
    value, read = extracted("It is 60%", expression_patterns(), first_match=True)
    assert read == "60"
    assert value != Rational(3, 5)
    assert value.doit() == Rational(3, 5)


@pytest.mark.parametrize(
    ("text", "last", "content"),
    [
        ("\\boxed{9}, then \\boxed{18}", True, "18"),
        ("\\boxed{9} and \\fbox{18}", True, "9,18"),
        ("\\boxed{9}, then \\boxed{18}", False, "9,18"),
        ("\\boxed {\\frac{1}{2}}", True, "\\frac{1}{2}"),
        ("\\boxed{9} \\boxed{18", True, "{18"),
        ("18", True, "18"),
    ],
)
def test_the_contents_of_boxes(text: str, last: bool, content: str) -> None:
    assert boxed(text, last) == content


def test_cleaning_removes_units_and_joins_answers_by_semicolons() -> None:
    assert cleaned("18 \\text{ eggs}", last_box=True) == "18"
    assert cleaned("9 and 18", last_box=True).replace(" ", "") == "9;18"
