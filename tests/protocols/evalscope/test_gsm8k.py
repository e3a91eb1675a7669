"""Tests the prompt of evalscope's GSM8K."""

from __future__ import annotations

from gradeschool import Problem
from gradeschool.protocols.evalscope.gsm8k import GSM8K_PROMPTS, prompts

PROBLEM = Problem.from_row("0", "How many eggs?", "1 + 1 = 2\n#### 2")
SHOTS = [Problem.from_row(str(n), f"Is {n}?", f"It is {n}.\n#### {n}") for n in range(1, 7)]


def test_the_first_four_shots_the_question_and_the_request_are_one_message() -> None:
    [prompt] = prompts([PROBLEM], SHOTS)
    [message] = prompt.messages
    opening, *examples, last = message.content.split("\n\nIs ")
    assert (message.role, opening) == (
        "user",
        "Here are some examples of how to solve similar problems:",
    )
    assert [example.partition("?")[0] for example in (*examples, last)] == ["1", "2", "3", "4"]
    assert last == (
        "4?\n\nReasoning:\nIt is 4.\n\nANSWER: \\boxed{4}\n\nHow many eggs?\n"
        "Please reason step by step, and put your final answer within \\boxed{}."
    )
    assert GSM8K_PROMPTS.shot_count == 4


def test_every_problem_gets_the_same_shots() -> None:
    first, second = prompts([PROBLEM, SHOTS[5]], SHOTS)
    assert first.messages[0].content.replace("How many eggs?", "Is 6?") == (
        second.messages[0].content
    )
