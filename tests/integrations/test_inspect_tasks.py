"""Tests our tasks for inspect_ai, with a stand-in for the library: samples, decoding, scorers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gradeschool import get_protocol, load_dataset
from gradeschool.errors import InputError
from tests.support.lent_modules import imported_anew, lend_inspect

NAMES = ("inspect_scorers", "inspect_tasks")


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module, imported with inspect's names; its scorers are known by their names."""
    lend_inspect(monkeypatch)
    with imported_anew(*(f"gradeschool.integrations.{name}" for name in NAMES)) as [_, module]:
        known = {name: (lambda name=name: name) for name in module.SCORERS}
        monkeypatch.setattr(module, "SCORERS", known)
        yield module


@pytest.fixture
def aime(tmp_path: Path) -> str:
    """A file as the benchmark's."""
    rows = [{"id": "1", "problem": "One?", "answer": 11}, {"id": "2", "problem": "?", "answer": 49}]
    path = tmp_path / "aime.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return str(path)


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("name", ["inspect/gsm8k", "olmes/gsm8k-tulu", "verifiers/gsm8k@<=0.3.0"])
def test_a_task_has_the_prompts_and_scorers_of_its_protocol(tasks: Any, name: str) -> None:
    protocol, problems = get_protocol(name), load_dataset("sample").problems
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    task = tasks.gsm8k(name, dataset="sample")
    prompts = [prompt.as_messages() for prompt in protocol.render(problems, shots)]
    assert [[dict(zip(("role", "content"), turn, strict=True)) for turn in sample.input]
            for sample in task.dataset] == prompts  # fmt: skip
    assert [(sample.id, sample.target) for sample in task.dataset] == [
        (problem.id, problem.gold) for problem in problems
    ]
    assert task.dataset[0].metadata == {
        "question": problems[0].question, "solution": problems[0].solution,
    }  # fmt: skip
    assert task.scorer == list(protocol.scorers)
    assert task.version == task.metadata["protocol_digest"] == protocol.digest()
    assert task.metadata["protocol"] == name


@pytest.mark.usefixtures("data")
def test_what_a_protocol_leaves_open_is_left_to_inspect(tasks: Any) -> None:
    olmes = vars(tasks.gsm8k("olmes/gsm8k-tulu", dataset="sample").config)
    assert olmes == {
        "temperature": 0.0,
        "top_p": get_protocol("olmes/gsm8k-tulu").decoding.top_p,
        "max_tokens": 512,
        "stop_seqs": ["Question:", "</s>", "<|im_end|>"],
        "seed": None,
        "extra_body": {"continue_final_message": True, "add_generation_prompt": False},
    }
    open_ended = vars(tasks.gsm8k("verifiers/gsm8k-v1", dataset="sample").config)
    assert open_ended == dict.fromkeys(olmes)


@pytest.mark.parametrize(
    ("scorers", "names"),
    [
        ("", ["numeric-equality"]),
        ("numeric-equality", ["numeric-equality"]),
        ("openai/2021, gradeschool/reader", ["openai/2021", "gradeschool/reader"]),
        (["openai/2021"], ["openai/2021"]),
    ],
)
def test_scorers_are_named_in_a_list_or_with_commas(
    tasks: Any, aime: str, scorers: Any, names: list[str]
) -> None:
    chosen = {"scorers": scorers} if scorers else {}
    assert tasks.aime2025(dataset=aime, **chosen).scorer == names


def test_aime2025_takes_a_file(tasks: Any, aime: str) -> None:
    first, second = tasks.aime2025(dataset=aime).dataset
    assert (first.target, second.target) == ("11", "49")
    assert "One?" in first.input[-1][1]


def test_aime2025_fetches_the_revision_of_inspect_evals(
    tasks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"id": 3, "problem": "Three?", "answer": 711}]
    asked: dict[str, object] = {}

    def fetch(path: str, sample_fields: Callable[[Any], SimpleNamespace], **given: object) -> Any:
        asked.update(given, path=path)
        return [sample_fields(row) for row in rows]

    monkeypatch.setattr(tasks, "hf_dataset", fetch)
    [sample] = tasks.aime2025().dataset
    assert (sample.id, sample.target) == ("3", "711")
    assert sample.metadata == {"question": "Three?", "solution": "#### 711"}
    assert asked == {
        "path": "math-ai/aime25",
        "split": "test",
        "revision": "563bb8404243c5f09de6ec262f2db674fe5bce9b",
    }


def test_a_completion_protocol_is_refused_with_the_names_of_others(tasks: Any, aime: str) -> None:
    with pytest.raises(InputError, match=r"'lm-eval/gsm8k' is not a chat .*inspect/gsm8k"):
        tasks.aime2025("lm-eval/gsm8k", dataset=aime)
