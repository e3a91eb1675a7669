"""Check the names and folders of evaluations, and settings that contradict each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradeschool.errors import InputError
from gradeschool.protocols.registry import get_protocol
from gradeschool.runs.job import EvalJob, decoding_of, default_folder, model_label, prepare

RECORDED = "recorded/sample#handwritten/chat"


@pytest.mark.parametrize(
    ("spec", "label"),
    [
        ("http://localhost:8080/v1", "localhost:8080"),
        ("https://host:1/v1/org/name", "host:1 org/name"),
        ("openai/gpt-4.1", "gpt-4.1"),
        ("transformers/models/mine", "mine"),
        ("llama.cpp/models/SmolLM2-135M.Q4_1.gguf", "SmolLM2-135M.Q4_1"),
        ("recorded/runs/answers.jsonl#a|b", "answers a|b"),
        ("tiny", "tiny"),
        ("unknown/name", "unknown/name"),
        ("openai/", "openai/"),
    ],
)
def test_a_model_has_a_short_name(spec: str, label: str) -> None:
    assert model_label(spec) == label


def folder_of(**settings: object) -> str:
    job = EvalJob(**{"model": RECORDED, "dataset": "sample", **settings})  # type: ignore[arg-type]
    return default_folder(job, prepare(job).plan).as_posix()


def test_settings_that_differ_from_the_protocol_are_in_the_folders_name(tmp_path: Path) -> None:
    usual = "runs/sample-handwritten-chat_zero-shot-chat_sample"
    chosen = get_protocol("zero-shot/chat").decoding
    assert folder_of() == usual
    assert folder_of(max_tokens=chosen.max_tokens, temperature=chosen.temperature) == usual
    assert folder_of(max_tokens=60, seed=3) == f"{usual}_max-tokens-60_seed-3"
    assert folder_of(calculator=False) == usual
    problems = tmp_path / "my sums.jsonl"
    problems.write_text('{"question": "1 + 1?", "answer": "2"}\n')
    assert folder_of(dataset=str(problems)) == usual.replace("_sample", "_my-sums")


def test_the_built_in_model_has_a_protocol_and_a_calculator_of_its_own() -> None:
    tiny, other = EvalJob("tiny"), EvalJob(RECORDED)
    assert (tiny.protocol_name, tiny.calculates) == ("openai/2021", True)
    assert (other.protocol_name, other.calculates) == ("zero-shot/chat", False)
    assert EvalJob("tiny", "zero-shot/cot", calculator=False).protocol_name == "zero-shot/cot"
    assert not EvalJob("tiny", calculator=False).calculates


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_cost": 5.0}, "--max-cost 5.0 needs the price of tokens; give --price"),
        ({"batch": True, "choices": 2}, "--batch cannot be combined with --choices or --max-cost"),
        ({"choices": 4}, "gives one sample per request; leave --choices out"),
        ({"batch": True}, "has no batches; leave --batch out"),
        ({"samples": 2, "temperature": 0.0}, "temperature"),
        ({"calculator": True}, "cannot be used with the chat zero-shot/chat"),
        (
            {"calculator": True, "protocol": "zero-shot/cot", "choices": 2},
            "cannot be used with --choices",
        ),
        ({"model": "anthropic/x", "protocol": "zero-shot/cot"}, "anthropic answers only chats"),
        ({"servers": ("transformers/x",)}, "several local models are given"),
        ({"protocol": "absent"}, "no protocol is called 'absent'"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(
    settings: dict[str, object], message: str
) -> None:
    job = EvalJob(**{"model": RECORDED, "dataset": "sample", **settings})  # type: ignore[arg-type]
    with pytest.raises(InputError) as refused:
        prepare(job)
    assert message in str(refused.value)


def test_a_contradiction_is_found_before_a_dataset_is_fetched() -> None:
    """gsm8k is not here, and the web is refused."""
    with pytest.raises(InputError, match="give --price"):
        prepare(EvalJob(RECORDED, dataset="gsm8k", max_cost=1.0))


def test_settings_that_are_not_given_are_those_of_the_protocol() -> None:
    protocol = get_protocol("lm-eval/gsm8k-cot-self-consistency")
    usual = decoding_of(protocol, 1, None, None, None)
    assert usual == protocol.decoding
    changed = decoding_of(protocol, 1, 0.0, 9, 4)
    assert (changed.temperature, changed.max_tokens, changed.seed) == (0.0, 9, 4)
    assert changed.stop == protocol.decoding.stop
