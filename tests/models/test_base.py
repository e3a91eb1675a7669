"""Tests which models are asked for one sample, for several of a prompt, or for a whole run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gradeschool.integrations.callables import CallableModel
from gradeschool.models.base import BulkModel, Model, SeveralModel
from gradeschool.models.choose import choose_model
from gradeschool.models.spread import SpreadModel
from tests.support.fixtures import MODEL_NEEDS, skip_without

URL = "http://127.0.0.1:9/v1/name"


def served(calculator: bool = False) -> Model:
    """The model of a server that is not asked."""
    return choose_model(URL, (), "sample", calculator=calculator)


@pytest.mark.parametrize("calculator", [False, True])
def test_a_server_is_asked_for_several_samples_of_a_prompt(calculator: bool) -> None:
    model = served(calculator)
    assert isinstance(model, SeveralModel)
    assert not isinstance(model, BulkModel)


@pytest.mark.parametrize("make", [
    lambda: CallableModel(str, "str"),
    lambda: SpreadModel([served(), served()]),
])  # fmt: skip
def test_a_function_and_several_servers_are_asked_for_one_sample(make: Callable[[], Model]) -> None:
    model = make()
    assert not isinstance(model, SeveralModel)
    assert not isinstance(model, BulkModel)


def test_a_recording_is_asked_for_one_sample(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"index": 0, "completion": "#### 1"}), "utf-8")
    model = choose_model(f"recorded/{path}", (), "sample")
    assert not isinstance(model, SeveralModel)
    assert not isinstance(model, BulkModel)


@pytest.mark.parametrize("calculator", [False, True])
def test_a_model_run_here_takes_a_whole_run(tiny_model: Path, calculator: bool) -> None:
    skip_without(MODEL_NEEDS, "a model run here")
    model = choose_model(f"transformers/{tiny_model}", (), "sample", calculator=calculator)
    assert isinstance(model, BulkModel)
    assert not isinstance(model, SeveralModel)
