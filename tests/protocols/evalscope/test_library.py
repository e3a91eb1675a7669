"""Tests which answers evalscope's two numeric metrics read, and which forms they accept."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("math_verify", reason="needs the extra math-verify")

from gradeschool.protocols.evalscope.library import LONGEST, accuracy, integer_accuracy


@pytest.mark.parametrize(
    ("text", "reference", "read", "right"),
    [
        ("\\boxed{18}", "18", "18", True),
        ("\\boxed{7} then 18", "18", "7", False),
        ("The answer is 18.", "18", "18", True),
        ("18 cm", "18", "18", True),
        ("\\boxed{\\frac{36}{2}}", "18", "\\frac{36}{2}", True),
        ("\\boxed{1,250}", "1250", "1,250", True),
        ("0.5", "1/2", "0.5", True),
        ("50%", "0.5", "50%", True),
        ("\\boxed{18\\%}", "18", "18\\%", True),
        ("18", "eggs", "18", False),
        ("nothing", "18", None, False),
        ("", "18", None, False),
    ],
)
def test_the_answer_is_extracted_and_parsed_again(
    text: str, reference: str, read: str | None, right: bool
) -> None:
    assert accuracy(text, reference) == (read, right)


@pytest.mark.parametrize("judge", [accuracy, integer_accuracy])
@pytest.mark.parametrize(
    ("text", "read", "right"),
    [
        ("1.8e3", "1.8e3", True),
        (" 18E+2\n", "18E+2", True),
        ("\\boxed{1.8e3}", "1.8e3", True),
        ("1.8e4", "1.8e4", False),
        ("It is 1.8e3", "1.8", False),  # among words it is a product with Euler's number
    ],
)
def test_an_exponent_is_read_in_a_number_that_stands_alone(
    judge: Callable[[str, str], tuple[str | None, bool]], text: str, read: str, right: bool
) -> None:
    assert judge(text, "1800") == (read, right)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("\\boxed{18}", True),
        ("\\boxed{018}", True),
        ("\\boxed{18.0}", True),
        ("\\boxed{\\frac{36}{2}}", False),
        ("\\boxed{18\\%}", False),
        ("\\boxed{17}", False),
        ("nothing", False),
    ],
)
def test_the_answers_to_aime_are_written_as_integers(text: str, right: bool) -> None:
    assert integer_accuracy(text, "18")[1] is right


def test_an_integer_may_have_commas() -> None:
    assert integer_accuracy("\\boxed{1,250}", "1250") == ("1,250", True)


def test_a_reference_that_cannot_be_parsed_is_an_error() -> None:
    with pytest.raises(ValueError, match="the reference cannot be parsed: ''"):
        accuracy("18", "")
    for reference in ("2.5", "1/2", "eggs"):
        with pytest.raises(ValueError, match=f"the reference cannot be parsed: '{reference}'"):
            integer_accuracy("18", reference)


def test_a_long_answer_is_shown_by_its_beginning() -> None:
    number = "1" * (LONGEST + 1)
    assert accuracy(f"\\boxed{{{number}}}", number) == (number[:-1], True)
