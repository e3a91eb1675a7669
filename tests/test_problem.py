"""A problem from a row or a gold, and questions with several golds."""

from __future__ import annotations

import pytest

from gradeschool.errors import InputError
from gradeschool.problem import Problem, several_golds


def test_a_row_keeps_its_gold_as_the_data_writes_it() -> None:
    problem = Problem.from_row("7", "How much?", "1,000 + 1,125 = 2,125\n#### 2,125 ")
    assert (problem.id, problem.gold) == ("7", "2,125")
    assert problem["question"] == "How much?"
    assert problem["answer"] == problem.solution
    with pytest.raises(KeyError):
        problem["gold"]


@pytest.mark.parametrize("answer", ["2 + 2 = 4", "2 + 2\n####", "#### 4\n####  "])
def test_a_row_without_a_gold_is_refused_with_its_end(answer: str) -> None:
    with pytest.raises(InputError, match="the answer of problem '7' has no '#### N'"):
        Problem.from_row("7", "How much?", answer)


@pytest.mark.parametrize(
    ("gold", "number", "solution"),
    [
        ("18", "18", "#### 18"),
        (18, "18", "#### 18"),
        ("9 * 2 = 18\n#### 18", "18", "9 * 2 = 18\n#### 18"),
    ],
)
def test_a_gold_may_be_a_number_or_a_solution(gold: str | int, number: str, solution: str) -> None:
    problem = Problem.from_gold(gold)
    assert (problem.gold, problem.solution) == (number, solution)


@pytest.mark.parametrize("gold", ["", "  ", "9 * 2 = 18\n####"])
def test_an_empty_gold_is_refused(gold: str) -> None:
    with pytest.raises(InputError, match="the gold answer is empty"):
        Problem.from_gold(gold)


def test_a_question_with_two_golds_is_named_with_both() -> None:
    rows = [("How many?", "5"), ("How  many?", "6"), ("How much?", "1,000"), ("How much?", "1000")]
    problems = [
        Problem(str(number), question, gold, f"#### {gold}")
        for number, (question, gold) in enumerate(rows)
    ]
    assert several_golds(problems).startswith("several golds for 1 question of the dataset")
    assert "'5' (problem 0) and '6' (problem 1)" in several_golds(problems)
    assert several_golds(problems[2:]) == ""
    assert several_golds([Problem("a", "", "1", ""), Problem("b", "", "2", "")]) == ""
