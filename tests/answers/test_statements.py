"""The last explicit statement of an answer: a marker, a box, a tag, "the answer is"."""

from __future__ import annotations

import pytest

from gradeschool.answers.extractor import extract_final_answer
from gradeschool.answers.statements import (
    AnswerSection,
    Confidence,
    ExtractedAnswer,
    last_statement,
)


def statement(text: str) -> ExtractedAnswer | AnswerSection | None:
    return last_statement(text, 0, len(text), "")


@pytest.mark.parametrize(
    ("text", "value", "how"),
    [
        ("It is 3.\n#### 18", "18", "after the last '####'"),
        (r"So $\boxed{18}$ eggs", "18", "in the last box"),
        ("<answer>18</answer>", "18", "between <answer> tags"),
        ("The answer is 18 eggs.", "18", "after the last 'answer'"),
        ("Answer: 18", "18", "after the last 'answer'"),
        ("The answer is 3. No: the answer is 18.", "18", "after the last 'answer'"),
        ("#### 3\nThe answer is 18.", "18", "after the last 'answer'"),
    ],
)
def test_the_last_statement_counts_whatever_its_form(text: str, value: str, how: str) -> None:
    stated = statement(text)
    assert isinstance(stated, ExtractedAnswer)
    assert (stated.value, stated.how, stated.confidence) == (value, how, Confidence.STATED)
    assert text[stated.start : stated.end] == value


@pytest.mark.parametrize(
    "text",
    [
        "She has 18 eggs.",
        "To answer this, count the 18 eggs.",
        "You might think the answer is 18.",
        "#### 1. Count the eggs",
        "",
    ],
)
def test_what_announces_no_answer_is_no_statement(text: str) -> None:
    assert statement(text) is None


def test_a_longer_text_after_a_marker_is_a_section() -> None:
    text = "<answer>She sells 9 eggs.\nShe makes 18 dollars.</answer>"
    section = statement(text)
    assert isinstance(section, AnswerSection)
    assert text[section.start : section.end].startswith("She sells")
    assert text[section.start : section.end].endswith("dollars.")


@pytest.mark.parametrize(
    ("box", "question", "value"),
    [
        (r"2 \text{ hours and } 30 \text{ minutes}", "How many minutes?", "150"),
        (r"5 \text{ feet } 6 \text{ inches}", "How many inches?", "66"),
        (r"1.5 \text{ million}", "How many people?", "1500000"),
        (r"18 \text{ thousand}", "How many?", "18000"),
        (r"20 \text{ or } 18", "How many?", "20 or 18"),
        (r"18 \text{ out of } 30", "How many?", "18"),
        (r"\text{more than } 18", "How many?", None),
        (r"\text{not } 18", "How many?", None),
        (r"\text{Total: } 18", "How many?", "18"),
        (r"18 \, \text{km/h}", "How fast?", "18"),
        (r"\text{18 dollars}", "How many dollars?", "18"),
    ],
)
def test_words_in_a_box_are_words(box: str, question: str, value: str | None) -> None:
    text = f"So the result is $\\boxed{{{box}}}$."
    answer = extract_final_answer(text, question)
    assert (None if answer is None else answer.value) == value
