"""Tests lm-eval 0.3.0's GSM8K: the order of its draws, and its scorer."""

from __future__ import annotations

import random

import pytest

from gradeschool import Problem
from gradeschool.protocols.lm_eval.version_0_3 import GSM8K_0_3_SCORER, prompts, reference
from gradeschool.scorer import ScorerFailure
from gradeschool.verdict import Outcome

PROBLEMS = [Problem.from_row(str(n), f"Problem {n}?", f"#### {n}") for n in range(6)]
SHOTS = [Problem.from_row(str(n), f"Shot {n}?", f"So.\n#### {n}") for n in range(30)]


def test_shots_are_drawn_in_the_order_of_the_shuffled_problems() -> None:
    stream = random.Random(42)
    order = [0, 1, 2, 3, 4, 5]
    stream.shuffle(order)
    texts = [prompt.text or "" for prompt in prompts(PROBLEMS, SHOTS)]
    for place in order:
        examples = [
            f"Question: Shot {n}?\nAnswer: So.\n#### {n}\n\n" for n in stream.sample(range(30), 5)
        ]
        assert texts[place] == "".join(examples) + f"Question: Problem {place}?\nAnswer:"


def test_the_first_marked_number_is_compared_as_a_string() -> None:
    problem = Problem.from_gold("1,250")
    for text, outcome in (
        ("#### 1,250", Outcome.CORRECT),
        ("#### 1250 or\n#### 7", Outcome.CORRECT),
        ("#### 1250.0", Outcome.WRONG),
        ("1250", Outcome.NO_ANSWER),
    ):
        assert GSM8K_0_3_SCORER.judge(text, problem).outcome is outcome


def test_a_solution_without_a_mark_is_refused() -> None:
    with pytest.raises(ScorerFailure, match="AssertionError"):
        reference(Problem("0", "?", "18", "18"))
