"""Suspect labels: problems that strong runs miss alike."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gradeschool import Problem
from gradeschool.formats.samples import Sample
from gradeschool.scoring.samples import Run
from gradeschool.scoring.suspects import suspects
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture

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


def test_suspects_of_files_with_equal_names_and_of_other_problems_by_the_same_ids(
    gradeschool: Command, tmp_path: Path
) -> None:
    """Each file is a run of its own; rows of two files are one problem only if they are alike."""
    for folder, off, odd in (("x", 0, 9), ("y", 0, 9), ("z", 100, 8), ("w", 100, 7)):
        rows = [
            {"response": f"#### {5 if n == odd else n + off + 2000}", "gold": str(n + off + 2000)}
            for n in range(10)
        ]
        (tmp_path / folder).mkdir()
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / folder / "run.jsonl").write_text(text, "utf-8")
    files = [tmp_path / folder / "run.jsonl" for folder in "xyzw"]
    listed = gradeschool("data", "suspects", *files, "--json").json()["suspects"]
    assert [(suspect["gold"], suspect["value"], len(suspect["agreeing"]), suspect["runs"])
            for suspect in listed] == [("2009", "5", 2, 2)]  # fmt: skip


@pytest.mark.official
def test_suspects_of_real_runs_are_mostly_those_of_platinum(
    gradeschool: Command, data: Path
) -> None:
    path = data / "completions" / "tora.jsonl"
    result = gradeschool("data", "suspects", path, "--json")
    reported = result.json()["suspects"]
    disputed_labels = [suspect for suspect in reported if suspect["platinum"] != "keeps it"]
    assert len(reported) > 20
    assert len(disputed_labels) > 0.2 * len(reported)  # of all problems, 120 in 1,319 are
    assert {"454", "823"} <= {suspect["problem"] for suspect in disputed_labels}
    shown = gradeschool("data", "suspects", path, "-n", "1").out
    assert shown.count("GSM8K-Platinum") == 1
