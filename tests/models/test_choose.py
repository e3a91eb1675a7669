"""`-m` names a model; what it does not know, it answers with the form that was meant."""

import asyncio
from pathlib import Path

import pytest

from gradeschool.completion import Decoding, Finish, Prompt
from gradeschool.errors import InputError, ModelError
from gradeschool.models.base import Reply, Request
from gradeschool.models.choose import RecordedModel, choose_model, find_server
from gradeschool.problem import Problem
from tests.support.files import jsonl

KEY = "sk-choose-4815162342"


def refusal(spec: str) -> str:
    with pytest.raises(InputError) as error:
        choose_model(spec)
    return str(error.value)


@pytest.mark.parametrize(
    ("spec", "base", "model"),
    [
        ("http://localhost:8080/v1", "http://localhost:8080/v1", ""),
        ("http://localhost:8080/v1/", "http://localhost:8080/v1", ""),
        ("http://localhost:8080/v1/org/name", "http://localhost:8080/v1", "org/name"),
        ("HTTPS://host/v1/name ", "HTTPS://host/v1", "name"),
    ],
)
def test_an_address_may_end_in_the_name_of_a_model(spec: str, base: str, model: str) -> None:
    assert find_server(spec)[:2] == (base, model)


def test_openai_alone_needs_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal("openai/gpt-x").startswith("OPENAI_API_KEY is not set; export it")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:9/v1")
    assert find_server("openai/gpt-x")[0] == "http://localhost:9/v1"
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert find_server("openai/gpt-x")[0] == "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ("model.gguf", "llama.cpp/model.gguf"),
        ("localhost:8000", "http://localhost:8000/v1"),
        ("10.0.0.1:8000/v1/name", "http://10.0.0.1:8000/v1/name"),
        ("hf/org/name", "transformers/org/name"),
        ("ollama/llama3", "http://localhost:11434/v1/llama3"),
        ("gpt-5", "openai/gpt-5"),
        ("claude-4", "anthropic/claude-4"),
        ("org/name", "openai/org/name or transformers/org/name"),
    ],
)
def test_an_unknown_form_gets_the_one_that_was_meant(spec: str, meant: str) -> None:
    assert refusal(spec) == f"the model {spec!r} has an unknown form; did you mean {meant}?"


def test_files_and_folders_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text("{}\n")
    assert f"did you mean recorded/{file}?" in refusal(str(file))
    assert f"did you mean transformers/{tmp_path}?" in refusal(str(tmp_path))


def test_the_address_of_requests_is_corrected_and_no_key_in_it_is_shown() -> None:
    assert refusal("http://host/v1/chat/completions") == (
        "'http://host/v1/chat/completions' is the address of requests; give http://host/v1 or "
        "http://host/v1/NAME"
    )
    assert KEY not in refusal(f"http://user:{KEY}@host/v1/models")
    assert KEY not in refusal(f"http://host/v1?key={KEY}")


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
    return jsonl(tmp_path / "answers.jsonl", ROWS)


def matched(spec: str) -> RecordedModel:
    model = RecordedModel(spec)
    model.set_problems(PROBLEMS, "mine")
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
