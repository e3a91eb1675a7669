"""Expressions: the calculator's annotations, exact values, slips of arithmetic."""

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool.arithmetic import first_slip
from gradeschool.calculator import (
    DEEPEST,
    EXACT,
    LONGEST,
    MOST_DIGITS,
    annotation_end,
    evaluate,
    evaluate_tokens,
    format_result,
    format_value,
    tokenize,
)

SLIPS = [
    ("She has 8 * 4 = 36 eggs.", "8 * 4 = 36", 32),
    ("<<16-3-4=8>>", "16-3-4=8", 9),
    ("Each costs 3, so 15 * 3 = 40", "15 * 3 = 40", 45),
    ("5 apples + 3 apples = 9 apples", "5 apples + 3 apples = 9", 8),
    (r"\( 4 \times \$2.50 = \$12 \)", r"4 \times \$2.50 = \$12", 10),
    (r"\frac{1}{2} \times 90 = 200", r"\frac{1}{2} \times 90 = 200", 45),
    ("10 ÷ 4 = 3.5", "10 ÷ 4 = 3.5", Fraction(5, 2)),
    ("1,250 + 1 = 1,261", "1,250 + 1 = 1,261", 1251),
    ("2 + 2 = 4, and 3 x 3 = 6.", "3 x 3 = 6", 9),
    ("5 * 3 = 15 + 2 = 18", "15 + 2 = 18", 17),
    ("20% of it: 20% * 50 = 25", "20% * 50 = 25", 10),
]
NO_SLIPS = [
    "8 * 4 = 32",
    "10 / 3 = 3.33",
    "2 / 3 * 100 = 66.7",
    "20% * 50 = 10",
    "10 / 50 = 20%",
    "5 + 3 * 2 = 16",  # from left to right
    "5 * 3 = 15 + 2 = 17",
    "28 / 1/5 = 140",
    "- 16 - 3 = 13",  # a bullet
    "3 * 25 cents = $0.75",
    "90 minutes / 1 = 1.5 hours",
    "4 pounds - 6 ounces = 58 ounces",
    "half of 10 + 4 = 9",
    "3 and 1/2 * 2 = 7",
    "2x + 3 = 11",
    "10^2 * 3 = 300",
    "3:30 + 2 = 5:30",
    "0900 - 0130 = 0730",
    "days 1-8 = 8 days",
    "50 + 30% = 65",
    "2 * 3 == 7",
    "2 * 3 = 7 times 4",
    "9 - 7 = 2 *",
    "2 * (3 = 7",
    "1/0 = 3",
]


@pytest.mark.parametrize(("text", "written", "value"), SLIPS)
def test_a_false_equation_is_found(text: str, written: str, value: int | Fraction) -> None:
    slip = first_slip(text)
    assert slip is not None
    assert (slip.text, slip.value) == (written, value)
    assert text[slip.start : slip.end] == slip.text


@pytest.mark.parametrize("text", NO_SLIPS)
def test_what_may_be_meant_otherwise_is_no_slip(text: str) -> None:
    assert first_slip(text) is None


@given(
    st.integers(0, 10**6),
    st.integers(1, 10**6),
    st.sampled_from("+*"),
    st.integers(-3, 3),
    st.sampled_from(
        ["{} {} {} = {}", "<<{}{}{}={}>>", "so ${} {} ${} = ${}.", "{} {} {} = {} eggs"]
    ),
)
def test_a_sum_is_a_slip_exactly_when_false(a: int, b: int, sign: str, off: int, form: str) -> None:
    result = (a + b if sign == "+" else a * b) + off
    text = form.format(a, sign, b, result)
    if result >= 0 and "$" not in form and "eggs" not in form:
        assert (first_slip(text) is None) is (off == 0)
    if off == 0:
        assert first_slip(text) is None


@given(st.text(alphabet="0123456789.,+-*/x×÷()=$% \n\\{}abc<>", max_size=80))
def test_no_text_makes_it_raise_and_a_slip_stands_where_it_says(text: str) -> None:
    slip = first_slip(text)
    assert slip is None or (text[slip.start : slip.end] == slip.text and "=" in slip.text)


def value(expression: str, **options: bool) -> Fraction | None:
    return evaluate_tokens(tokenize(expression), EXACT, **options)


def test_the_caller_chooses_percent_and_order() -> None:
    assert value("50%", percent=False) == 50
    assert value("2+3*4", in_order=True) == 20
    assert value("2(3+4)") is None


def test_brackets_are_counted_and_not_followed_without_end() -> None:
    def nested(depth: int) -> Fraction | None:
        return value("(" * depth + "1" + ")" * depth)

    assert nested(DEEPEST) == 1
    assert nested(DEEPEST + 1) is None
    assert nested(50_000) is None


SIGNS = "0123456789.,+-*/()%$ ="
HOSTILE = (
    "9**9**9**9", "9" * 10_000, "(" * 10_000, "((((" * 49, "-" * 10_000, "1," * 5_000, "1" * 31,
    "9" * 30 + "*" + "9" * 30, "*".join(["99999"] * 40), "/".join(["97"] * 60), "%" * 200,
    "1" + "%" * 199, "." * 200, "1.1.1", "1,1,1", "0x10", "1e9", "1_000", "__import__('os')", "nan",
    "inf", "1/0", "1//0", "0/0*0", "1/(1-1)", "\ud800", "\0", "१+१", "²", "1\n+1", "1<<9", "(1)(2)",
)  # fmt: skip


def annotated(data: Path) -> Iterator[tuple[str, str]]:
    """The annotations of GSM8K's solutions: expression, result."""
    for split in ("train", "test"):
        with (data / "gsm8k" / f"{split}.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                yield from re.findall(r"<<(.*?)=([^=>]*)>>", json.loads(line)["answer"], re.DOTALL)


@pytest.mark.slow
@pytest.mark.official
def test_every_annotation_of_gsm8k_computes_to_its_result(data: Path) -> None:
    """All but one: its result is written as a fraction, and is the right value even so."""
    every = list(annotated(data))
    assert len(every) == 27_998
    numbers = [(expression, result) for expression, result in every if "/" not in result]
    assert [pair for pair in every if pair not in numbers] == [("3/4", "3/4")]
    assert len(numbers) == 27_997
    assert [pair for pair in numbers if evaluate(pair[0]) != Fraction(pair[1])] == []
    assert evaluate("3/4") == Fraction(3, 4)


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("48/2", "24"), ("1/2", "0.5"), ("0.1+0.2", "0.3"), ("1/3", "0.333333"),
        ("2/3", "0.666667"),
        ("1,234*2", "2468"), ("$5*50%", "2.5"), ("-5--3", "-2"), ("2*(3+4)", "14"), ("7//2", "3"),
        ("-7//2", "-4"), (".5*4", "2"), ("5.", "5"), ("1-1", "0"), ("0-0.0000001", "0"),
        ("8 * 2 / 4", "4"), ("3×4÷6", "2"), ("100*20%%", "0.2"), ("1,234,567+0", "1234567"),
        ("2**3", None), ("12,34", None), ("5 5", None), ("", None), ("1/0", None), ("x", None),
        ("2(3)", None), ("(1+2", None), ("2+", None), ("2)", None), ("3=3", None),
        ("007+1", None), ("1+00", "1"), ("0.5+007.5", "8"), ("1,007+0", "1007"), ("10+0", "10"),
    ],
)  # fmt: skip
def test_results_are_written_as_in_gsm8k(expression: str, result: str | None) -> None:
    assert format_result(expression) == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("He has <<48/2=", "24>>"), ("<<1+1=2>>2 and <<2*2=", "4>>"), ("<<1+1==", "2>>"),
        ("<<3+4=7=", "7>>"), ("1+1=", ""),
        ("<<1+1=2>>=", ""), ("<<1+1=2", ""), ("<<x=", ""), ("<<<<3*3=", "9>>"), ("", ""), ("=", ""),
        ("<<" + "1+" * LONGEST + "1=", ""),
    ],
)  # fmt: skip
def test_the_calculator_inserts_the_result_after_an_open_annotation(text: str, result: str) -> None:
    assert annotation_end(text) == result


@pytest.mark.parametrize("expression", HOSTILE)
def test_hostile_expressions_have_no_result(expression: str) -> None:
    assert evaluate(expression) is None


@given(st.text(st.sampled_from(SIGNS), max_size=2 * LONGEST))
def test_nothing_raises_and_values_are_bounded(text: str) -> None:
    value = evaluate(text)
    if value is not None:
        assert max(abs(value.numerator), value.denominator) < 10**MOST_DIGITS
        assert re.fullmatch(r"-?\d+(\.\d{1,6})?", format_value(value))
        assert annotation_end(f"<<{text}=") in ("", f"{format_value(value)}>>")
