"""The environment gsm8k-olmes for verifiers: rows, decoding, reward."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest

from gradeschool.errors import InputError
from gradeschool.integrations.verifiers import (
    exact_match,
    load_environment,
    rows,
    sampling,
)


@pytest.mark.usefixtures("data")
def test_the_rows_of_gsm8k_olmes_are_our_prompts() -> None:
    first = rows("sample", system_prompt="Be brief.")[0]
    assert [turn["role"] for turn in first["prompt"]][:3] == ["system", "user", "assistant"]
    assert first["prompt"][-1] == {"role": "assistant", "content": "Answer:"}
    assert first["prompt"][1:] == rows("sample")[0]["prompt"]
    assert len(first["prompt"]) == 1 + 8 * 2 + 2


def test_its_decoding_is_that_of_olmes() -> None:
    assert sampling() == {
        "temperature": 0.0,
        "max_tokens": 512,
        "stop": ["Question:", "</s>", "<|im_end|>"],
        "extra_body": {"continue_final_message": True, "add_generation_prompt": False},
    }


@pytest.mark.parametrize(
    ("said", "answer", "value"),
    [
        ("<think>maybe 7</think> So the answer is 18.", "18", 1.0),
        ("<think>18</think> no", "18", 0.0),
        ("1,250 in all", "1250", 1.0),
        ("it is 10", "-10", 1.0),
        ("18.00", "18", 0.0),
        ("", "18", 0.0),
    ],
)
def test_its_reward_is_the_last_number(said: str, answer: str, value: float) -> None:
    assert exact_match(said, answer) == value
    assert exact_match([{"role": "assistant", "content": said}], answer, state={}) == value


def test_verifiers_without_environments_names_a_version(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("verifiers", "datasets"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
        monkeypatch.setattr(sys.modules[name], "__spec__", ModuleSpec(name, None, origin="memory"))
    monkeypatch.setattr(sys.modules["verifiers"], "__version__", "0.4.0", raising=False)
    monkeypatch.setattr(sys.modules["datasets"], "Dataset", object, raising=False)
    with pytest.raises(InputError, match=r"0\.4\.0 .* pip install 'verifiers<0\.4'"):
        load_environment(dataset="sample")
