"""Tests the draws of lighteval's shots, and its prompts."""

from __future__ import annotations

import random

from gradeschool import Problem
from gradeschool.protocols.lighteval.gsm8k import drawn, inspect_prompts, plain_prompts, turns

PROBLEMS = [Problem.from_row(str(n), f"Problem {n}?", f"#### {n}") for n in range(6)]
SHOTS = [Problem.from_row(str(n), f"Shot {n}?", f"It is {n}.\n#### {n}") for n in range(30)]


def test_problems_draw_in_the_shuffled_order_from_one_generator() -> None:
    rows = drawn(6, 30)
    stream = random.Random(42)
    order = [0, 1, 2, 3, 4, 5]
    stream.shuffle(order)
    assert order != sorted(order)
    assert [rows[problem] for problem in order] == [stream.sample(range(30), 5) for _ in order]


def test_a_run_over_fewer_problems_draws_other_shots() -> None:
    assert drawn(9, 30)[:6] != drawn(6, 30)


def test_the_text_and_the_turns_show_the_shots_drawn() -> None:
    texts = [prompt.text or "" for prompt in plain_prompts(PROBLEMS, SHOTS)]
    chats = [prompt.messages for prompt in turns(PROBLEMS, SHOTS)]
    for problem, rows, text, chat in zip(PROBLEMS, drawn(6, 30), texts, chats, strict=True):
        examples = [f"Question: Shot {n}?\nAnswer: It is {n}.\n#### {n}\n\n" for n in rows]
        question = f"Question: {problem.question}\nAnswer:"
        assert text == "".join(examples) + question
        assert [message.role for message in chat] == ["user", "assistant"] * 5 + ["user"]
        assert [message.content for message in chat[1::2]] == [
            f" It is {n}.\n#### {n}" for n in rows
        ]
        assert chat[-1].content == question


def test_the_inspect_back_end_asks_for_a_last_line_twice() -> None:
    [prompt] = inspect_prompts(PROBLEMS[:1], ())
    [message] = prompt.messages
    assert message.content.count('"ANSWER: $ANSWER"') == 2
    assert "\n\nProblem 0?\n\n" in message.content
    assert message.content.endswith("\n\nReasoning:")
