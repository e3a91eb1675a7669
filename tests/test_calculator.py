"""The calculator: GSM8K's own annotations, other spellings, hostile expressions."""

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool.calculator import (
    LONGEST,
    MOST_DIGITS,
    annotation_end,
    evaluate,
    format_result,
    format_value,
)

SIGNS = "0123456789.,+-*/()%$ ="
HOSTILE = (
    "9**9**9**9", "9" * 10_000, "(" * 10_000, "((((" * 49, "-" * 10_000, "1," * 5_000, "1" * 31,
    "9" * 30 + "*" + "9" * 30, "*".join(["99999"] * 40), "/".join(["97"] * 60), "%" * 200,
    "1" + "%" * 199, "." * 200, "1.1.1", "1,1,1", "0x10", "1e9", "1_000", "__import__('os')", "nan",
    "inf", "1/0", "1//0", "0/0*0", "1/(1-1)", "\ud800", "\0", "१+१", "²", "1\n+1", "1<<9", "(1)(2)",
)  # fmt: skip


def annotations(data: Path) -> Iterator[tuple[str, str]]:
    """The annotations of GSM8K's solutions: expression, result."""
    for split in ("train", "test"):
        with (data / "gsm8k" / f"{split}.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                yield from re.findall(r"<<(.*?)=([^=>]*)>>", json.loads(line)["answer"], re.DOTALL)


@pytest.mark.official
def test_every_annotation_of_gsm8k_computes_to_its_result(data: Path) -> None:
    """All but one: its result is written as a fraction, and is the right value even so."""
    every = list(annotations(data))
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
        ("2(3)", None), ("(1+2", None), ("3=3", None), ("007+1", None), ("1+00", "1"),
        ("0.5+007.5", "8"), ("1,007+0", "1007"), ("10+0", "10"),
    ],
)  # fmt: skip
def test_an_expression_gives_its_result_as_gsm8k_writes_it(
    expression: str, result: str | None
) -> None:
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
