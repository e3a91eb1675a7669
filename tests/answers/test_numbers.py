"""normalize, answers_match and parse_decimal: exact, total, and as the documents show them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool import answers_match, normalize
from gradeschool.answers.numbers import parse_decimal

TEXTS = st.text(st.sampled_from("0123456789.,-+_ eE\n\t\u3000infaxN٣３−"), max_size=40) | st.text()
WHOLE = st.integers(-(10**40), 10**40)
HOSTILE = (
    *("inf", "-inf", "Infinity", "nan", "sNaN", "-nan", "nan123"),
    *("1e999999999", "-1e999999999", "1e-999999999", "1e9999999999999999999999", "0e999999999"),
    *("1e5006", "1e5004", "1_000", "1__000", "_1", "1_", "٣٤", "１８", "\ud800", "1\x00", ""),
    *("9" * 10_000, "-" + "9" * 10_000, "0." + "0" * 10_000 + "1", "1" + ",000" * 3_000),
)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("1,234", "1234"),
        ("42.", "42"),
        ("72.00", "72"),
        (" 1,200 ", "1200"),
        ("-10", "-10"),
        ("-0", "0"),
        ("+5", "5"),
        ("1e3", "1000"),
        ("1_000", "1000"),
        ("17.5", "17.5"),
        ("inf", "inf"),
        ("x", "x"),
        ("...", ""),
        ("٣٤", "34"),
        ("１８", "18"),
        ("1__0", "1__0"),
    ],
)
def test_normalize_gives_the_form_that_is_compared(text: str, normal: str) -> None:
    assert normalize(text) == normal


@given(TEXTS)
def test_normalize_is_idempotent_on_any_text(text: str) -> None:
    once = normalize(text)
    assert normalize(once) == once


@given(WHOLE, st.integers(-2_000, 2_000))
def test_answers_match_up_to_a_difference_of_1e_6_exactly(billionths: int, gap: int) -> None:
    close = answers_match(f"{billionths}e-9", f"{billionths + gap}e-9")
    assert close is (abs(gap) < 1_000)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("72", "72.00", True),
        ("17.9999999", "18", True),
        ("17.99999", "18", False),
        ("10", "-10", False),
        ("131254", "131250", False),
        ("18.00001", "18", False),
        ("nan", "nan", True),
        ("inf", "1e999999999", False),
        ("0e999999999", "0", True),
        ("1e999999999", "1", False),
        ("9" * 10_000, "9" * 10_000 + ".0", True),
        ("9" * 10_000, "9" * 9_999 + "8", False),
        ("18", "18." + "0" * 10_000, True),
        ("", "0", False),
    ],
)
def test_answers_match_compares_numbers_alone(first: str, second: str, same: bool) -> None:
    assert answers_match(first, second) is same


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:12]))
def test_hostile_numbers_raise_nowhere_and_are_not_the_gold(text: str) -> None:
    assert isinstance(normalize(text), str)
    assert not answers_match(text, "19")
    assert answers_match(text, text)


@given(TEXTS)
def test_parse_decimal_takes_what_float_takes(text: str) -> None:
    try:
        float(text)
    except ValueError:
        assert parse_decimal(text) is None
    else:
        number = parse_decimal(text)
        assert number is not None or "n" in text.lower()  # "inf", "nan"
