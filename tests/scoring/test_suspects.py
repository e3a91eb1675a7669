"""Suspect labels: problems that strong runs miss alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradeschool import Problem
from gradeschool.formats.samples import Sample
from gradeschool.scoring.samples import Run
from gradeschool.scoring.suspects import suspects

PROBLEMS = [
    Problem.from_row(str(index), f"Question {index}?", f"#### {index}") for index in range(10)
]


def runs_that_say(values: dict[str, Sequence[Any]]) -> list[Run]:
    return [
        Run(
            name,
            [
                Sample(index, problem=PROBLEMS[index], sample=0, text=f"#### {answer}")
                for index, answer in enumerate(all_)
            ],
        )
        for name, all_ in values.items()
    ]


def test_a_problem_that_strong_runs_miss_alike_is_a_suspect() -> None:
    runs = runs_that_say(
        {
            "a": [0, 1, 2, 3, 4, 5, 6, 7, 8, 77],
            "b": [0, 1, 2, 3, 4, 5, 6, 7, 66, 77],
            "c": [0, 1, 2, 3, 4, 5, 6, 7, 55, 77],
            "weak": [99] * 10,
            "weaker": [99] * 10,
        }
    )
    [suspect] = suspects(runs, {"9": None})
    assert (suspect.problem.id, suspect.value, suspect.agreeing) == ("9", "77", ("a", "b", "c"))
    assert (suspect.right, suspect.runs, suspect.platinum) == (0, 3, "removed it")
    assert suspect.strongest == 0.9
    assert suspects(runs, {}, strong=0.95) == []


def test_an_answer_that_runs_write_differently_is_one_answer() -> None:
    first, last = list(range(9)), [[*range(9), text] for text in ("37/2", "18.5", "18.50")]
    runs = runs_that_say({**dict(zip("abc", last, strict=True)), "d": [*first, 9]})
    [suspect] = suspects(runs, {})
    assert (suspect.value, suspect.agreeing, suspect.right) == ("37/2", ("a", "b", "c"), 1)


def test_the_sample_of_the_lowest_number_counts_for_a_suspect() -> None:
    runs = runs_that_say({name: [*range(9), 77] for name in "ab"})
    for run in runs:
        run.samples.insert(0, Sample(10, problem=PROBLEMS[9], sample=1, text="#### 9"))
    [suspect] = suspects(runs, {})
    assert (suspect.value, suspect.right) == ("77", 0)


def test_what_most_runs_have_right_is_no_suspect() -> None:
    right = list(range(10))
    runs = runs_that_say({"a": right, "b": right, "c": [*range(9), 77], "d": [*range(9), 77]})
    assert suspects(runs, {}) == []
