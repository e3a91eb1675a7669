"""Tests lighteval's prompts and references for sets other than GSM8K."""

from __future__ import annotations

from gradeschool import Problem, get_protocol
from gradeschool.protocols.lighteval.other_sets import labelled_solution


def test_a_solution_without_a_box_gives_its_gold() -> None:
    boxed = Problem.from_row("0", "?", "So it is $\\boxed{\\frac12}$.\n#### \\frac12")
    plain = Problem.from_row("1", "?", "So it is a half.\n#### 1/2")
    assert labelled_solution(boxed) == "ANSWER: So it is $\\boxed{\\frac12}$."
    assert labelled_solution(plain) == "ANSWER: 1/2"


def test_the_prompts_ask_for_the_forms_that_their_scorers_read() -> None:
    problem = Problem.from_row("0", "How many?", "#### 2")
    texts = {}
    for name in ("aime24", "math-500", "gsm-plus"):
        [prompt] = get_protocol(f"lighteval/{name}").render([problem], ())
        texts[name] = prompt.text or prompt.messages[0].content
    assert "the final answer is: $\\boxed{ANSWER}$. I hope it is correct'" in texts["aime24"]
    assert texts["aime24"].endswith("Think step by step before answering.\n\nHow many?\n")
    assert texts["math-500"].endswith("Think step by step before answering.\n\nHow many?")
    assert '\n"ANSWER: $ANSWER" (without quotes)' in texts["math-500"]
    assert texts["gsm-plus"] == "Question: How many?\n\nAnswer:"
