"""Tests the examples in inspect's prompts."""

from collections.abc import Sequence

import pytest

from gradeschool import Problem
from gradeschool.protocols.inspect_ai.prompts import SHOT_ROWS
from tests.support.prompts import render

Problems = Sequence[Problem]


@pytest.mark.official
def test_the_inspect_system_message_holds_its_5872_characters(
    gsm8k_test: Problems, gsm8k_train: Problems
) -> None:
    prompts = render("inspect/gsm8k", gsm8k_test[:3])
    systems = {prompt.messages[0].content for prompt in prompts}
    assert len(systems) == 1  # the same ten shots for every problem
    system = systems.pop()
    assert len(system) == 5_872
    assert [system.count(gsm8k_train[row].question) for row in SHOT_ROWS] == [1] * 10
    assert prompts[0].messages[1].content.endswith("\n\nReasoning:")
