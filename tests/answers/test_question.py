"""What a question asks for: its unit, its given quantities, its words."""

from __future__ import annotations

import pytest

from gradeschool.answers.question import (
    groups_by_points,
    question_hints,
    restated_share,
    restates_question,
    stem,
)

EGGS = "Janet's ducks lay 16 eggs per day. She eats 3. How many eggs does she sell in a week?"


@pytest.mark.parametrize(
    ("question", "units"),
    [
        ("How many brown eggs are there?", {"brown", "egg"}),
        ("It takes 2 hours. How long is that in minutes?", {"minute"}),
        ("How much money does she make?", {"dollar"}),
        ("Each costs $3. How much does she need?", {"dollar"}),
        ("What percent of the boxes are red?", {"percent"}),
        ("How many times did he run?", {"time"}),
        ("How long does it take?", {"hour", "minute", "second", "day", "week", "month", "year"}),
        ("Find x.", set()),
        ("", set()),
    ],
)
def test_the_unit_that_is_asked_for(question: str, units: set[str]) -> None:
    assert question_hints(question).units == units


def test_the_quantities_of_a_question() -> None:
    hints = question_hints("A $1,250 bike weighs 9 kg, 12.5 % less than 2 scooters.")
    assert hints.values == {"1250", "9", "12.5", "2"}
    assert {("9", "kg"), ("2", "scooter")} <= hints.givens


def test_the_sentence_that_asks_is_the_last_question() -> None:
    hints = question_hints("Tom has 3. How many has Ann? Show your work.")
    assert hints.asking == "How many has Ann"
    assert hints.name == "Ann"
    assert question_hints("Give it in millions. What is it in millions of dollars?").scale == 6


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        ("boxes", "box"),
        ("Pennies", "penny"),
        ("feet", "foot"),
        ("hrs", "hour"),
        ("¢", "cent"),
        ("cents", "cent"),
        ("glass", "glass"),
        ("gas", "gas"),
        ("eggs'", "egg"),
    ],
)
def test_words_of_one_unit_have_one_stem(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


def test_a_sentence_that_restates_the_question() -> None:
    assert restates_question("So she can sell 91 eggs in that week, does she?", EGGS)
    assert not restates_question("Ducks are birds.", EGGS)
    assert restated_share("anything", "How many?") == 0.0


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("Wie viele Eier sind es zusammen?", True),
        ("¿Cuántos quedan por la tarde?", True),
        ("How many eggs are there?", False),
        ("18", False),
    ],
)
def test_languages_that_group_thousands_by_points(text: str, points: bool) -> None:
    assert groups_by_points(text) is points
