"""Models from Python: functions and objects with `gradeschool.evaluate`, under a protocol."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradeschool as package
from gradeschool import Scores, load_dataset
from gradeschool.answers.numbers import normalize
from gradeschool.errors import InputError


def knows(golds: dict[str, str]) -> Callable[[object], str]:
    """A model that knows these answers and nothing else."""

    def model(prompt: object) -> str:
        text = prompt if isinstance(prompt, str) else json.dumps(prompt, ensure_ascii=False)
        results = [gold for question, gold in golds.items() if question[:40] in text]
        return f"#### {results[0]}" if results else "I do not know."

    return model


@pytest.mark.parametrize("protocol", ["zero-shot/chat", "gradeschool/few-shot-cot"])
def test_evaluate_asks_a_function_under_a_protocol(protocol: str) -> None:
    problems = load_dataset("sample").problems[:6]
    model = knows({problem.question: problem.gold for problem in problems[:4]})
    scores = package.evaluate(model, protocol, "sample", limit=6)
    assert isinstance(scores, Scores)
    assert (len(scores), scores.correct) == (6, 4)
    assert [normalize(v.answer.value) for v in scores.verdicts[:4] if v.answer] == [
        normalize(problem.gold) for problem in problems[:4]
    ]


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
