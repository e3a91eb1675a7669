"""GSM8K-Platinum as a layer over the official labels."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from gradeschool.datasets.platinum import (
    platinum_changes,
    platinum_labels,
    platinum_problems,
)
from gradeschool.errors import InputError
from gradeschool.problem import Problem


@pytest.mark.official
def test_the_table_is_that_of_the_data(data: Path) -> None:
    facts = json.loads((data / "platinum.json").read_text())
    labels = platinum_labels()
    assert sorted(row for row, gold in labels.items() if gold is None) == facts["removed"]
    revised = {str(row): gold for row, gold in labels.items() if gold is not None}
    assert revised == {row: change["platinum"] for row, change in facts["revised"].items()}


def test_it_holds_as_many_problems_as_the_published_file(gsm8k_test: Sequence[Problem]) -> None:
    problems = platinum_problems(gsm8k_test)
    assert len(problems) == 1209
    assert [int(problem.id) for problem in problems] == sorted(int(p.id) for p in problems)


@pytest.mark.official
def test_a_revised_problem_has_its_new_gold_in_its_solution_too(
    gsm8k_test: Sequence[Problem], data: Path
) -> None:
    facts = json.loads((data / "platinum.json").read_text())["revised"]
    changes = platinum_changes(gsm8k_test, "gsm8k")
    for row, change in facts.items():
        problem = changes[row]
        assert problem is not None
        assert problem.meta["official gold"] == change["official"] == gsm8k_test[int(row)].gold
        assert problem.gold == change["platinum"]
        assert problem.solution.endswith(f"#### {change['platinum']}")
        assert problem.question == gsm8k_test[int(row)].question


def test_other_problems_are_refused(gsm8k_test: Sequence[Problem]) -> None:
    swapped = [gsm8k_test[1], gsm8k_test[0], *gsm8k_test[2:]]
    for problems in ([], gsm8k_test[:50], swapped):
        with pytest.raises(InputError, match=r"'mine' is not that \(\d+ problems\); leave"):
            platinum_changes(problems, "mine")


def test_the_socratic_file_has_the_same_questions_and_labels(data: Path) -> None:
    from gradeschool import load_gsm8k

    assert platinum_problems(load_gsm8k(config="socratic"))[0].gold == "18"
