"""Tests rows of ProcessBench: their labels, their form for critics."""

from __future__ import annotations

import hashlib

import pytest

from gradeschool.datasets.load import (
    critic_problem,
    labelled_steps,
    tagged,
)
from gradeschool.errors import DataError
from tests.support.processbench_rows import own_rows as own_rows  # a fixture


def test_the_critics_prompt_is_the_published_one() -> None:
    from gradeschool.protocols.registry import get_protocol

    fields = {"id": "x", "generator": "g", "problem": "P?", "steps": ["One.", "Two."], "label": 1}
    problem = critic_problem(fields)
    assert (problem.gold, problem.meta["generator"]) == ("1", "g")
    [prompt] = get_protocol("processbench/gsm8k").render([problem], [])
    [message] = prompt.messages
    # The template's digest with this problem, from two repositories that quote it.
    text = message.content
    assert text.startswith("The following is a math problem and a solution (split into paragraphs,")
    assert "[Math Problem]\n\nP?\n\n[Solution]\n\n<paragraph_0>\nOne.\n</paragraph_0>\n\n" in text
    assert text.endswith("(i.e., the index) in \\boxed{}.")
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "4fcd1eec7b95bc8a"


def test_rows_that_are_none_are_refused() -> None:
    with pytest.raises(DataError, match="not a row of ProcessBench"):
        labelled_steps({"id": "1"})
    fields = {"id": "1", "generator": "g", "problem": "P?", "steps": ["One."], "label": 1}
    with pytest.raises(DataError, match="1 steps and the label 1"):
        labelled_steps(fields)
    assert tagged(["a", "b"]).endswith("<paragraph_1>\nb\n</paragraph_1>")
