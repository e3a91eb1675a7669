"""GSM8K-Platinum as a dataset of its own: official rows keep their numbers, labels change."""

from pathlib import Path

import pytest

from gradeschool import Problem, load_dataset
from gradeschool.datasets.platinum import REMOVED, REVISED
from gradeschool.errors import InputError
from gradeschool.formats.samples import Reference
from gradeschool.scoring.matching import Matcher
from tests.formats.test_read import jsonl
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture


def test_the_rows_that_are_left(data: Path) -> None:
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
    assert all(problem.question == official[int(problem.id)].question for problem in kept)


def test_an_index_is_an_official_row(data: Path) -> None:
    """Counted by places, 1,205 of 1,209 completions would be held to another problem's gold."""
    problems = load_dataset("gsm8k-platinum").problems
    matcher = Matcher(problems, "gsm8k-platinum")
    assert matcher.find(Reference(position=288)).gold == "4"
    assert matcher.find(Reference(id="gsm8k-1309")).gold == "2180"
    assert matcher.find(Reference(id="288")).gold == "4"
    with pytest.raises(InputError, match="index 4, a row that 'gsm8k-platinum' does not hold"):
        matcher.find(Reference(position=4))
    own = [Problem(str(n + 1), f"{n}?", str(n), f"#### {n}") for n in range(3)]
    assert Matcher(own, "own").find(Reference(position=0)) is own[0]  # as ever: a place


def test_recordings_of_the_official_split_are_scored(
    gradeschool: Command, data: Path, tmp_path: Path
) -> None:
    rows = [
        {"index": row, "completion": f"The answer is {REVISED.get(row, '?')}"}
        for row in (*REVISED, REMOVED[0])
    ]
    path = jsonl(tmp_path / "answers.jsonl", rows)
    words = ("score", path, "-d", "gsm8k-platinum", "--scorer", "numeric-equality", "--json")
    ended = gradeschool(*words)
    scored = ended.json()["runs"][0]["scorers"]["numeric-equality"]
    assert (ended.status, scored["correct"], scored["wrong"], scored["error"]) == (3, 10, 0, 1)


def test_a_protocol_is_asked_on_its_own_dataset(
    gradeschool: Command, data: Path, tmp_path: Path
) -> None:
    rows = [{"index": row, "completion": "The answer is 1."} for row in range(1319)]
    path = jsonl(tmp_path / "model.jsonl", rows)
    words = ("eval", "-m", f"recorded/{path}", "-p", "lm-eval/gsm8k-platinum-cot", "-n", 6)
    ended = gradeschool(*words, "-o", tmp_path / "run", "--json", "--quiet")
    assert ended.status == 0
    assert ended.json()["runs"][0]["n"] == 6
    prompts = gradeschool("protocols", "prompts", "lm-eval/gsm8k-platinum-cot", "-n", 6).out
    assert [line.partition('"id": "')[2][0] for line in prompts.splitlines()] == list("012356")
