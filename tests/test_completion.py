"""Finish reasons in every tool's words, the messages of a prompt, the cause of an error."""

from __future__ import annotations

import pytest

from gradeschool.completion import Finish, Message, Prompt, finish_of


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", Finish.STOP),
        ("STOP", Finish.STOP),
        ("end_turn", Finish.STOP),
        ("eos_token", Finish.STOP),
        ("MAX_TOKENS", Finish.LENGTH),
        ("model_context_window_exceeded", Finish.LENGTH),
        ("content_filter", Finish.FILTER),
        ("tool_calls", Finish.UNKNOWN),
        ("", Finish.UNKNOWN),
        (None, Finish.UNKNOWN),
        (7, Finish.UNKNOWN),
    ],
)
def test_the_words_of_servers_and_engines_mean_the_same(reason: object, finish: Finish) -> None:
    assert finish_of(reason) is finish


def test_a_prefix_is_sent_as_the_last_turn_of_the_assistant() -> None:
    prompt = Prompt(messages=(Message("user", "2 + 2?"),), prefix="The answer is")
    assert prompt.is_chat
    assert prompt.as_messages() == [
        {"role": "user", "content": "2 + 2?"},
        {"role": "assistant", "content": "The answer is"},
    ]
    assert not Prompt(text="Q: 2 + 2?\nA:").is_chat
