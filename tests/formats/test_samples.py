"""Golds of a sample, as people write them."""

from __future__ import annotations

import pytest

from gradeschool.formats.samples import gold_in


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("#### 1,234", "1234"), (18, "18"), (18.0, "18"), ("18.50", "18.50"), ([7], "7"),
        ("so it is \\boxed{-3}", "-3"), ("The answer is 5.", "5"), ("x", "x"), ("", None),
        (None, None), (True, None), (float("nan"), None), ([], None),
        ([{"output": "4", "tags": []}, {"output": {"text": "5"}, "tags": ["correct"]}], "5"),
    ],
)  # fmt: skip
def test_gold_of_a_value(value: object, expected: str | None) -> None:
    """A number, or the one at the end of a solution."""
    assert gold_in(value) == expected


@pytest.mark.parametrize(
    ("value", "gold"),
    [
        (r"\frac{1}{2}", "1/2"), (r"\boxed{\frac{7}{8}}", "7/8"), ("1/2 cup", "1/2"),
        ("-$5", "-5"), ("\u22125", "-5"), (".5", "0.5"), (1e16, "10000000000000000"),
        ("1.5e3", "1500"), ("36/2 = 18", "18"), ("$1,200.50", "1200.50"), ("18 eggs", "18"),
    ],
)  # fmt: skip
def test_golds_are_read_as_people_write_them(value: object, gold: str) -> None:
    assert gold_in(value) == gold
