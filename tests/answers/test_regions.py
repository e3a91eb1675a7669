"""The part of a completion that counts (no thinking, no other problem), and its form."""

from __future__ import annotations

import pytest

from gradeschool.answers.regions import answer_region, is_truncated, looks_cut

QUESTION = (
    "Sandra bakes 15 flans of 3 eggs and gets 9 eggs a time. How many times must she babysit?"
)
REGIONS = {
    "The answer is 18.\n\nQ: And what of Tom's 20 cows?\nA: 20": "The answer is 18.\n",
    "18<|im_end|>\n<|im_start|>user\nAnd 20?": "18",
    "<think>It is 17.</think>It is 18.": "It is 18.",
    "<think>a<think>b</think>c</think>It is 18.": "It is 18.",
    "Question: How many? 3 and 4.\nAnswer: 7": "Question: How many? 3 and 4.\nAnswer: 7",
}
SUB_QUESTIONS = (
    "Q1. How many eggs does Sandra need?\n45 eggs.\nQ2. How many eggs does she get?\n9 eggs.\n"
    "Final Answer: How often must she babysit?\n45 / 9 = 5. The answer is 5."
)
RUN_ONS = (
    "The answer is 5.\n\nQ: Tom has 4 cars and sells 1. How many are left?\nA: The answer is 3.",
    "#### 5\n\nQuestion 2: Tom has 4 cars. How many wheels do they have?\n#### 16",
    "5 times.\n\nFollow-up: What if she bakes fewer flans?\n#### 4",
    "#### 5\n\nWhat is the value of $3x$ for $x = 2$?\nAnswer: 6",
    "5 times.\n\nWhat is the capital of Peru?\nAnswer: Lima",
    "5 times.\n\nSolve the equation:\n$2x = 8$\nAnswer:\n\nx = 4",
)


@pytest.mark.parametrize("text", REGIONS)
def test_the_part_that_counts(text: str) -> None:
    region = answer_region(text)
    assert text[region.start : region.end].strip() == REGIONS[text].strip()


def test_sub_questions_are_parts_of_the_problem() -> None:
    assert answer_region(SUB_QUESTIONS, QUESTION).end == len(SUB_QUESTIONS)
    assert answer_region(SUB_QUESTIONS).end == len(SUB_QUESTIONS)


@pytest.mark.parametrize("text", RUN_ONS)
def test_another_problem_is_not(text: str) -> None:
    region = answer_region(text, QUESTION)
    assert region.ran_on
    assert text[: region.end].strip() == text.split("\n")[0]


def test_code_is_blanked_out_character_for_character() -> None:
    text = "See:\n```python\nx = 5\n```\n5 eggs"
    region = answer_region(text)
    assert region.coded
    assert len(region.text) == len(text)
    assert "x = 5" not in region.text
    assert region.text.endswith("5 eggs")


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("So she has 9 eggs left. She sells them for", True),
        ("So she has 16 -", True),
        ("She makes (9", False),
        ("so there are 570 employees", False),
        (r"\boxed{101} square feet", False),
        ("The answer is 18.", False),
        ("**18**", False),
        ("it is **bold** and then goes on and on", True),
        ("A: 18", False),
        ("Or 22 trips. Since", True),
        ("Done", False),
        ("", False),
    ],
)
def test_a_text_that_ends_in_the_middle_looks_cut(text: str, cut: bool) -> None:
    assert looks_cut(text) is cut


@pytest.mark.parametrize(
    ("text", "finish", "truncated"),
    [
        ("", None, False),
        ("A: 18", "length", True),
        ("She has 16 -", "stop", False),
        ("She has 16 -", "unknown", True),
        ("A: 18\n\nQ: How many? 5", None, False),
    ],
)
def test_a_text_cut_by_the_limit_is_told(text: str, finish: str | None, truncated: bool) -> None:
    assert is_truncated(text, finish) is truncated
    assert answer_region(text).ran_on is ("Q:" in text)
    assert not answer_region(text).thinking
    assert answer_region(f"<think>{text}").thinking
