"""Models from Python: functions and objects with `gradeschool.evaluate`, under a protocol."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import gradeschool as package
from gradeschool import Scores
from gradeschool.errors import InputError


def test_a_function_gets_the_text_of_a_completion_protocol() -> None:
    prompts: list[object] = []

    def model(prompt: object) -> str:
        prompts.append(prompt)
        return "#### 600"

    scores = package.evaluate(model, "gradeschool/few-shot-cot", "sample", limit=2)
    assert isinstance(scores, Scores)
    assert (len(scores), scores.correct) == (2, 1)
    assert all(isinstance(prompt, str) for prompt in prompts)


def test_what_the_function_raises_is_raised() -> None:
    def broken(messages: object) -> str:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        package.evaluate(broken, dataset="sample", limit=1)
    with pytest.raises(InputError, match=r"returned a int: '?3"):
        package.evaluate(lambda messages: 3, dataset="sample", limit=1)  # type: ignore[arg-type]


def test_an_own_protocol_object_is_evaluated_and_recorded(tmp_path: Path) -> None:
    from gradeschool.protocols.registry import get_protocol

    protocol = get_protocol("zero-shot/chat").with_changes(system="Think.")
    seen: list[Any] = []

    def model(messages: Any) -> str:
        seen.append(messages)
        return "#### 1"

    package.evaluate(model, protocol, "sample", limit=2, output=tmp_path / "run")
    assert seen[0][0] == {"role": "system", "content": "Think."}
    fields = json.loads((tmp_path / "run" / "run.json").read_text())["protocol"]
    assert (fields["base"], fields["changes"]) == ("zero-shot/chat", {"system": "Think."})
