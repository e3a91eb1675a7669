"""Which number of a sentence answers the question."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gradeschool import Problem
from gradeschool.answers.candidates import (
    UNRESOLVED,
    WEIGHTS,
    sentence_numbers,
    stated_number,
)
from gradeschool.answers.features import features

MONEY = "A pen costs $2. How much do 6 pens cost?"
# Each: sentence, question, value.
SENTENCES = [
    ("8 pens will cost $12.00", MONEY, "12"),
    ("720 grams will last 2 days", "How many days will 720 grams last?", "2"),
    ("900 minutes or 15 hours", "How many hours does he sleep?", "15"),
    ("The total is 180 (40+70=110), which equals 290", "", "290"),
    ("12.8 / (2/5) = 12.8 * (5/2) = 32 hectares", "", "32"),
    ("$3200/month + $2400/month = $5600/month", "How much does he pay?", "5600"),
    ("18 = 9 + 9", "", "18"),
    ("so 160 = Y", "", "160"),
    ("768 minutes / 50 = 15.36 minutes, which rounds down to 15 minutes", "", "15"),
    ("She saved 210 / 350 = 0.60 or 60%", "What percentage off did she get?", "60"),
    ("4 of the 24 slices are left", "How many slices are left?", "4"),
    ("Max is 8 and Ella is 24, but Tom is 9", "How old is Ella?", "24"),
    ("4 minutes and 8 seconds", "", "4:08"),
    ("1 foot 5 inches", "", "1 foot 5 inches"),
    ("3 dollars and 50 cents", "", "3.5"),
    ("2 \\(\\frac{2}{3}\\) liters", "", "8/3"),
    ("10/2 = <<10/2=5>>miles", "", "5"),
    ("17 or 18", "", "17 or 18"),
    ("minus 5 of them", "", "5"),
    ("it is minus 5 degrees", "", "-5"),
    ("三十", "", "30"),
    ("dreißig Minuten", "", "30"),
]


@pytest.mark.parametrize(("sentence", "question", "value"), SENTENCES)
def test_the_result_of_a_sentence(sentence: str, question: str, value: str) -> None:
    number = stated_number(sentence, 0, len(sentence), question)
    assert number is not None
    assert number.value == value


@pytest.mark.parametrize("sentence", ["5x - 4 cups", "$2550 - 5x are left", "27 + 2*n eggs"])
def test_an_expression_without_a_result_has_no_value(sentence: str) -> None:
    numbers = sentence_numbers(sentence, 0, len(sentence), "")
    number = stated_number(sentence, 0, len(sentence), "")
    assert number is not None
    assert len(numbers) < 2 or number.value == UNRESOLVED


def test_every_feature_has_a_weight(gsm8k_test: Sequence[Problem]) -> None:
    for problem in gsm8k_test[:200]:
        text = problem.solution
        numbers = sentence_numbers(text, 0, len(text), problem.question)
        for names in features(text, 0, len(text), numbers, problem.question) if numbers else ():
            assert set(names) <= WEIGHTS.keys()
