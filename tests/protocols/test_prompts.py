"""The published prompts in their words and turns, and the digests of protocols."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from gradeschool import Problem, Prompt, Protocol, all_protocols, get_protocol, load_dataset
from gradeschool.completion import Decoding, Message
from gradeschool.datasets.load import is_here
from tests.conftest import SHARED
from tests.support.prompts import render, text_of
from tests.support.stand_in import protocols_here

Problems = Sequence[Problem]


def test_olmes_messages_are_turns_that_end_in_a_user_turn_and_a_prefix(
    gsm8k_test: Problems,
) -> None:
    (prompt,) = render("olmes/gsm8k-tulu", gsm8k_test[:1])
    assert prompt.is_chat
    assert [message.role for message in prompt.messages] == ["user", "assistant"] * 8 + ["user"]
    assert prompt.messages[-1] == Message("user", f"Question: {gsm8k_test[0].question}")
    assert prompt.prefix == "Answer:"
    for user, assistant in zip(prompt.messages[0:16:2], prompt.messages[1:16:2], strict=True):
        assert user.content.startswith("Question: ")
        assert not user.content.rstrip().endswith("Answer:")
        assert assistant.content.startswith("Answer: ")


def test_the_official_prompt_is_the_question_and_a_line_break(gsm8k_test: Problems) -> None:
    assert [text_of(prompt) for prompt in render("openai/2021", gsm8k_test)] == [
        f"{problem.question}\n" for problem in gsm8k_test
    ]


def test_the_ai_benchmarks_prompt_asks_for_a_marked_number(gsm8k_test: Problems) -> None:
    system, user = render("ai-benchmarks/gsm8k", gsm8k_test[:1])[0].messages
    assert system.role == "system"
    assert "append a newline and '#### <response number>'" in system.content
    assert "end your response with '\n#### 42'. Do not add" in system.content
    assert user == Message("user", gsm8k_test[0].question)


@pytest.mark.parametrize("name", list(protocols_here(SHARED)))
def test_every_protocol_renders_each_problem_once_and_in_order(name: str, data: object) -> None:
    sample = load_dataset("sample").problems
    if (shots := get_protocol(name).shots) and not is_here(shots):
        pytest.skip(f"{shots} is not on this machine")
    prompts = render(name, sample)
    assert len(prompts) == len(sample)
    for problem, prompt in zip(sample, prompts, strict=True):
        last = prompt.messages[-1].content if prompt.is_chat else text_of(prompt)
        assert problem.question in last
        assert prompt.is_chat is get_protocol(name).is_chat
        assert prompt.is_chat or not prompt.messages
        everything = text_of(prompt) if not prompt.is_chat else json.dumps(prompt.messages)
        assert problem.solution not in everything  # no prompt gives its own answer away


@pytest.mark.parametrize("name", ["openai/2021", "lm-eval/gsm8k", "inspect/gsm8k", "zero-shot/cot"])
def test_the_digest_of_a_protocol_is_stable_and_changes_with_what_it_does(name: str) -> None:
    protocol = get_protocol(name)
    digest = protocol.digest()
    assert len(digest) == 12
    assert protocol.digest() == digest
    changed: list[Protocol] = [
        replace(protocol, decoding=replace(protocol.decoding, max_tokens=7)),
        replace(protocol, decoding=replace(protocol.decoding, stop=("#",))),
        replace(protocol, scorers=(*protocol.scorers, "another")),
        replace(protocol, render=lambda problems, shots: (Prompt(text="?") for _ in problems)),
    ]
    assert digest not in {other.digest() for other in changed}
    assert replace(protocol, summary="said otherwise").digest() == digest


def test_no_two_protocols_have_the_same_digest() -> None:
    digests = [protocol.digest() for protocol in all_protocols().values()]
    assert len(set(digests)) == len(digests) > 8


def test_a_prompt_is_either_a_text_or_messages() -> None:
    assert not Prompt(text="").is_chat
    assert Prompt(messages=(Message("user", "?"),)).is_chat
    assert Decoding() == Decoding(0.0, 1.0, None, (), None)
