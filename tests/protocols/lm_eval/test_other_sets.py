"""Tests lm-evaluation-harness's prompts and filters for sets other than GSM8K."""

from __future__ import annotations

import pytest

from gradeschool import Problem, get_protocol
from gradeschool.protocols.lm_eval.other_sets import (
    asdiv_prompts,
    between_dollars,
    compare,
    extract_aime,
    extract_math,
    last_box,
)


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("It is $18$.", "18"),
        ("First $9$, then $18$.", "9$, then $18"),
        ("It costs $18", "It costs $18"),
        ("18", "18"),
        ("$$", ""),
    ],
)
def test_the_text_between_the_first_and_the_last_dollar(text: str, piece: str) -> None:
    match = between_dollars(text)
    assert match.text == text[match.start : match.end] == piece
    assert (extract_math(text, "") is None) is (piece == "")


@pytest.mark.parametrize(
    ("text", "box"),
    [
        ("\\boxed{9}, then \\boxed{18}", "18"),
        ("\\boxed{9}, then $\\boxed 18$.", "18"),
        ("$\\boxed 9$, then \\boxed{18}", "9"),  # the spaced form counts wherever it is
        ("18", None),
    ],
)
def test_the_last_box(text: str, box: str | None) -> None:
    match = last_box(text)
    assert (match and match.text) == box


def test_aime_prefers_a_box_to_what_is_between_dollars() -> None:
    for text, value in (
        ("$9$ or \\boxed{18}", "18"),
        ("It is $18$.", "18"),
        ("18", "18"),
        ("$9$ or \\boxed{}", None),
    ):
        answer = extract_aime(text, "")
        assert (answer and answer.value) == value


@pytest.mark.parametrize(
    ("value", "gold", "same"),
    [
        ("\\frac12", "\\frac{1}{2}", True),
        ("\\dfrac{1}{2}", "\\frac{1}{2}", True),
        ("1/2", "\\frac{1}{2}", True),
        ("18\\%", "18", True),
        ("18.0", "18", False),
        ("\\frac", "\\frac", True),  # a form that fails: the texts themselves
        ("\\frac", "18", False),
    ],
)
def test_forms_are_compared(value: str, gold: str, same: bool) -> None:
    assert compare(value, gold) is same


def test_asdiv_asks_with_two_spaces_in_the_examples_alone() -> None:
    shot = Problem.from_row("0", "How many?", "1 + 1 = 2.\n#### 2")
    [prompt] = asdiv_prompts([Problem.from_row("1", "How much?", "#### 3")], [shot])
    text = prompt.text or ""
    assert "Problem:  How many?\n" in text
    assert "Problem: How much?\n" in text


def test_the_plain_prompts_are_the_question_between_two_labels() -> None:
    problem = Problem.from_row("0", "Find $x$.", "#### 3")
    texts = [
        next(iter(get_protocol(f"lm-eval/{name}").render([problem], ()))).text
        for name in ("hendrycks-math500", "aime24", "aime25")
    ]
    assert texts == ["Problem: Find $x$.\nAnswer:", *["Question: Find $x$.\nAnswer:"] * 2]
