"""What a sentence says about each of its numbers."""

from __future__ import annotations

import pytest

from gradeschool.answers.features import features, has_unit, is_given, skip_lead, unit_words
from gradeschool.answers.quantities import quantities

EGGS = "Ducks lay 16 eggs. She eats 3 and sells the rest for $2 each. How many eggs does she sell?"


def named(sentence: str, question: str = EGGS) -> dict[str, list[str]]:
    numbers = list(quantities(sentence))
    rows = features(sentence, 0, len(sentence), numbers, question)
    return {number.value: names for number, names in zip(numbers, rows, strict=True)}


@pytest.mark.parametrize(
    ("sentence", "value", "expected", "absent"),
    [
        ("16 - 3 = 13 eggs", "13", {"result", "unit asked", "last"}, {"operand"}),
        ("16 - 3 = 13 eggs", "16", {"operand"}, {"result"}),
        ("She sells **13** of 16 eggs.", "13", {"bold"}, {"boxed"}),
        ("She sells 13 eggs after 4 days.", "4", {"setting"}, {"unit asked"}),
        ("She sells 13 eggs (4 a day).", "4", {"in parentheses"}, {"bold"}),
        ("Since 16 eggs were laid, 13 are sold.", "16", {"leading", "given"}, {"result"}),
    ],
)
def test_each_number_has_its_features(
    sentence: str, value: str, expected: set[str], absent: set[str]
) -> None:
    names = set(named(sentence)[value])
    assert expected <= names
    assert not absent & names


def test_the_name_that_is_asked_for_and_units_of_others() -> None:
    question = "Tom has 3 coins and Ann 4. How many coins has Ann now?"
    names = named("Tom has 5 coins and Ann has 7 coins.", question)
    assert "asked name" in names["7"]
    assert "asked name" not in names["5"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("18 brown eggs are left", ["brown", "eggs", "are", "left"]),
        ("18% of them", ["percent"]),
        (r"18 \text{ eggs}", ["eggs"]),
        ("18.", []),
    ],
)
def test_the_words_after_a_number(text: str, words: list[str]) -> None:
    number = next(quantities(text))
    assert unit_words(text, number, len(text)) == words


def test_the_requested_unit_and_what_the_question_gives() -> None:
    text = "16 eggs, 3 hens, $2"
    eggs, hens, dollars = quantities(text)
    assert [has_unit(text, number, len(text), EGGS) for number in (eggs, hens, dollars)] == [
        True, False, False,
    ]  # fmt: skip
    assert has_unit(text, dollars, len(text), "How much money does she make?")
    assert not has_unit(text, eggs, len(text), "")
    assert [is_given(text, number, len(text), EGGS) for number in (eggs, hens)] == [True, False]


@pytest.mark.parametrize("lead", ["", " ", ": ", " **", r" \(", " about ", " $\\text{", "= "])
def test_what_stands_before_a_number_is_skipped(lead: str) -> None:
    text = f"{lead}18"
    assert skip_lead(text, 0, len(text)) == len(lead)
