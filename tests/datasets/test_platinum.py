"""GSM8K-Platinum: the table of changed labels, and the dataset, whose rows keep their numbers."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from gradeschool import Problem, load_dataset
from gradeschool.datasets.platinum import (
    LABELS,
    REMOVED,
    REVISED,
    platinum_changes,
)
from gradeschool.errors import InputError
from gradeschool.formats.samples import Reference
from gradeschool.scoring.matching import Matcher
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.files import jsonl


@pytest.mark.official
def test_the_table_is_that_of_the_data(data: Path) -> None:
    facts = json.loads((data / "platinum.json").read_text())
    labels = LABELS
    assert sorted(row for row, gold in labels.items() if gold is None) == facts["removed"]
    revised = {str(row): gold for row, gold in labels.items() if gold is not None}
    assert revised == {row: change["platinum"] for row, change in facts["revised"].items()}


def test_changes_of_other_problems_are_refused(gsm8k_test: Sequence[Problem]) -> None:
    swapped = [gsm8k_test[1], gsm8k_test[0], *gsm8k_test[2:]]
    for problems in ([], gsm8k_test[:50], swapped):
        with pytest.raises(InputError, match=r"'mine' is not that \(\d+ problems\); leave"):
            platinum_changes(problems, "mine")


def test_the_dataset_is_the_official_split_without_removed_rows(data: Path) -> None:
    official = load_dataset("gsm8k").problems
    kept = load_dataset("gsm8k-platinum").problems
    assert len(kept) == 1209 == 1319 - len(REMOVED)
    assert load_dataset("gsm8k-platinum:test").problems == kept
    assert [problem.id for problem in kept] == [
        problem.id for row, problem in enumerate(official) if row not in REMOVED
    ]
    changed = {
        int(problem.id): problem.gold
        for problem in kept
        if problem.gold != official[int(problem.id)].gold
    }
    assert changed == REVISED
    for problem in kept:
        before = official[int(problem.id)]
        assert problem.question == before.question
        assert problem.meta.get("official gold", problem.gold) == before.gold
        assert problem.solution.endswith(f"#### {problem.gold}")


def test_an_index_is_an_official_row(data: Path) -> None:
    """Counted by places, 1,205 of 1,209 completions would be held to another problem's gold."""
    problems = load_dataset("gsm8k-platinum").problems
    matcher = Matcher(problems, "gsm8k-platinum")
    assert matcher.find(Reference("288")).gold == "4"
    assert matcher.find(Reference(id="gsm8k-1309")).gold == "2180"
    assert matcher.find(Reference(id="288")).gold == "4"
    with pytest.raises(InputError, match="id '4', a row that 'gsm8k-platinum' does not contain"):
        matcher.find(Reference("4"))
    own = [Problem(str(n + 1), f"{n}?", str(n), f"#### {n}") for n in range(3)]
    assert Matcher(own, "own").find(Reference("0")) is own[0]  # as ever: a place


def test_samples_of_the_official_split_are_scored(
    gradeschool: Command, data: Path, tmp_path: Path
) -> None:
    rows = [
        {"index": row, "completion": f"The answer is {REVISED.get(row, '?')}"}
        for row in (*REVISED, REMOVED[0])
    ]
    path = jsonl(tmp_path / "answers.jsonl", rows)
    words = ("score", path, "-d", "gsm8k-platinum", "--scorer", "numeric-equality", "--json")
    result = gradeschool(*words)
    scored = result.json()["runs"][0]["scorers"]["numeric-equality"]
    assert (result.status, scored["correct"], scored["wrong"], scored["error"]) == (3, 10, 0, 1)
