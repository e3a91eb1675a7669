"""A file of completions answers like a model."""

import asyncio
import json
from pathlib import Path

import pytest

from gradeschool.completion import Decoding, Finish, Prompt
from gradeschool.errors import ModelError
from gradeschool.models.base import Reply, Request
from gradeschool.models.recorded import RecordedModel
from gradeschool.problem import Problem

PROBLEMS = tuple(
    Problem.from_row(str(number), f"What is {number} + 1?", f"#### {number + 1}")
    for number in range(3)
)
ROWS = [
    {"run": "a", "index": 0, "completion": "#### 1", "finish": "length", "model": "m"},
    {"run": "a", "index": 0, "completion": "#### 2"},
    {"run": "a", "index": 1, "error": "timeout: no answer"},
    {"run": "b", "index": 0, "completion": "#### 9"},
    {"run": "b", "index": 77, "completion": "#### 9"},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    return path


def matched(spec: str) -> RecordedModel:
    model = RecordedModel(spec)
    model.match(PROBLEMS, "mine")
    return model


def answer(model: RecordedModel, problem: int, sample: int = 0) -> Reply:
    request = Request(PROBLEMS[problem], Prompt(text="ignored"), Decoding(), "key", sample)
    return asyncio.run(model.complete(request))


def test_samples_without_numbers_come_in_the_order_of_the_file(file: Path) -> None:
    model = matched(f"{file}#a")
    assert answer(model, 0) == Reply("#### 1", Finish.LENGTH, model="m")
    assert answer(model, 0, 1).text == "#### 2"
    assert answer(matched(f"{file}#b"), 0).text == "#### 9"
    assert (model.name, model.identity) == ("recorded-a", f"recorded/{file}#a")


def test_what_is_not_recorded_and_what_failed_are_errors(file: Path) -> None:
    model = matched(f"{file}#a")
    with pytest.raises(ModelError, match="no completion of problem '2', sample 0, is recorded"):
        answer(model, 2)
    with pytest.raises(ModelError, match="timeout: no answer") as error:
        answer(model, 1)
    assert error.value.cause == "recorded error"
