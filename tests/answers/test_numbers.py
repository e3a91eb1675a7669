"""Numbers in any spelling: exact, total, and compared as the documents say."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gradeschool import answers_match, judge, normalize
from gradeschool.answers.golds import read_gold
from gradeschool.answers.numbers import parse_decimal
from gradeschool.answers.quantities import (
    canonical,
    canonical_gold,
    exact,
    quantities,
    same_answer,
    same_value,
    word_quantities,
)
from gradeschool.errors import InputError
from gradeschool.integrations.rewards import Grader
from gradeschool.scorer import Outcome

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


@example("\x1c１")
@given(TEXTS)
def test_parse_decimal_takes_what_float_takes(text: str) -> None:
    try:
        float(text)
    except ValueError:
        assert parse_decimal(text) is None
    else:
        number = parse_decimal(text)
        assert number is not None or "n" in text.lower()  # "inf", "nan"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("She has $1,250 and 3 hens.", ["1250", "3"]),
        ("1{,}250 or 1\\,250", ["1250", "1250"]),
        ("It costs -$5.", ["-5"]),
        ("x = −2.50", ["-2.5"]),
        ("2 1/2 cups and ¾ of one", ["5/2", "3/4"]),
        (r"\frac{8}{3} and 2\frac12", ["8/3", "5/2"]),
        ("1.5 million people, 3k views", ["1500000", "3k"]),
        ("at 3:30", ["3:30"]),
        ("3 x 10^4", ["30000"]),
        ("１８ eggs, ४२ hens", ["18", "42"]),
        ("x2, m^2 and H2O", []),
    ],
)
def test_numbers_are_read_in_their_spellings(text: str, values: list[str]) -> None:
    assert [number.value for number in quantities(text)] == values


@given(st.fractions(min_value=-(10**9), max_value=10**9, max_denominator=10**4))
def test_values_are_exact(number: Fraction) -> None:
    assert exact(str(number)) == number
    (quantity,) = quantities(f"It is {number}.")
    assert exact(quantity.value) == number


@given(st.decimals(-(10**12), 10**12, places=3))
def test_a_canonical_decimal_is_that_number(number: object) -> None:
    assert exact(canonical(str(number))) == Fraction(str(number))
    assert canonical(canonical(str(number))) == canonical(str(number))


def test_golds_are_read_as_values() -> None:
    golds = {"1,250": "1250", " -10 ": "-10", "18.00": "18", "3/4": "3/4", "blue": "blue"}
    assert {gold: canonical_gold(gold) for gold in golds} == golds
    assert same_answer("2:00", "2")
    assert not same_answer("2:30", "2")


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("twenty-five of two hundred and six", ["25", "206"]),
        ("minus eight", ["-8"]),
        ("nobody phones", []),
    ],
)
def test_numbers_in_words(words: str, values: list[str]) -> None:
    assert [number.value for number in word_quantities(words, 0, len(words))] == values


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [("0.5", "1/2", True), ("18.0", "18", True), ("1/3", "0.333", False), ("3:30", "3.5", False)],
)
def test_values_are_compared_as_fractions(left: str, right: str, same: bool) -> None:
    assert same_value(left, right) is same


CASES = Path(__file__).parents[3] / "shared" / "cases"
READ = {
    "18": "18", "18.": "18", "$18": "18", "(18)": "18", "[18]": "18", r"\boxed{18}": "18",
    r"$\boxed{18}$": "18", "#### 18": "18", "18 eggs": "18", "1/2": "1/2", r"50,\!625": "50,625",
    "50{,}625": "50,625", "1 000": "1000", "1'250'000": "1250000", "12 3/5": "12.6",
    r"1\frac{1}{4}": "1.25", "6\u00bd": "6.5",
    "3 1/3": "10/3", "10%": "10", r"18\%": "18", r"\$18": "18", "x=5": "5",
    "\u22125": "-5", "5.0": "5",
    "1.5e3": "1500", r"5\text{ cm}": "5", "5 cm^2": "5", r"\dfrac{3}{4}": "3/4", "+18": "18",
    r"-\frac{3}{4}": "-3/4", "20 (twenty)": "20", "The answer is 18.": "18", "5kg": "5",
    "There are 18 eggs left.": "18", "9 eggs are left, so she earns 9 * 2 = $18 each day.": "18",
    r"We get 3 rows of 6, thus $3 \cdot 6=\boxed{18}$.": "18", "6 hats\nThe answer is 18": "18",
    "work\n#### 20 eggs": "20", "$1,234.50": "1,234.5",
}  # fmt: skip
REFUSED = {
    **dict.fromkeys((r"7\pi", r"2^{10}", r"3\sqrt{2}", "4a-2", "x^2+1", "1-1/e"), "expression"),
    "12:30": "expression",
    **dict.fromkeys(("18 or 19", "(1,2)", "3,5", "2 hours 30 minutes"), "several numbers"),
    **dict.fromkeys(("1.5 million", "2 dozen eggs", "#### $3 thousand"), "multiplies"),
    **dict.fromkeys(("3k", "$2.5K", "1.5M", "2 bn", "3 (thousand)", "5万", "2 Millionen"),
                    "multiplies"),
    **dict.fromkeys(("A", "twenty", r"\pi"), "no number"), "": "empty", "1/0": "divides by zero",
    "He has 3 hats and 4 caps, then buys 5. What a day.": "several numbers",
}  # fmt: skip


@pytest.mark.parametrize(("gold", "number"), READ.items())
def test_a_gold_is_read(gold: str, number: str) -> None:
    assert read_gold(gold) == number
    assert read_gold([gold]) == number
    assert judge(f"#### {number}", gold).correct
    assert Grader().grade(f"#### {number}", {"answer": gold}).value == 1.0


@pytest.mark.parametrize(("gold", "reason"), REFUSED.items())
def test_an_uncertain_gold_is_refused_with_the_reason(gold: str, reason: str) -> None:
    for read in (read_gold, lambda gold: judge("#### 18", gold)):
        with pytest.raises(InputError, match=reason):
            read(gold)
    reward = Grader().grade("#### 18", gold)
    assert (reward.value, reason in reward.reason) == (None, True)


def test_an_expression_is_kept_where_scorers_take_it() -> None:
    assert read_gold(r"so $\boxed{7\pi}$", expressions=True) == r"7\pi"


@pytest.mark.skipif(not CASES.exists(), reason="the cases are not in this checkout")
def test_gold_forms_of_the_cases() -> None:
    for line in (CASES / "reports.jsonl").read_text().splitlines():
        case = json.loads(line)
        if case["class"] == "gold-forms":
            assert judge(case["completion"], case["gold"]).outcome is Outcome.CORRECT
            assert Grader().grade(case["completion"], case["gold"]).value == 1.0
    for line in (CASES / "files" / "golds.jsonl").read_text().splitlines():
        gold = json.loads(line)["gold"]
        try:
            assert read_gold(gold)
        except InputError as error:
            assert "the gold" in str(error)
