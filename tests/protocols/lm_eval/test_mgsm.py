"""Tests lm-evaluation-harness's MGSM: its prompts and filters, language by language."""

from __future__ import annotations

import pytest

from gradeschool import Problem, get_protocol, get_scorer
from gradeschool.protocols.lm_eval.mgsm import (
    ENGLISH_ANSWER,
    TASKS,
    compared,
    extract_whole,
    first_match,
)

PROBLEM = Problem.from_row("0", "2 + 2?", "#### 4")


@pytest.mark.parametrize("language", TASKS)
def test_the_three_tasks_of_a_language_differ_in_what_is_asked_for(language: str) -> None:
    before, answer, reasoning, _ = TASKS[language]
    for kind, behind in (
        ("direct", answer),
        ("native-cot", reasoning),
        ("en-cot", ENGLISH_ANSWER),
    ):
        protocol = get_protocol(f"lm-eval/mgsm-{kind}-{language}")
        [prompt] = protocol.render([PROBLEM], ())
        assert prompt.text == f"{before}2 + 2?\n{behind}"
        assert protocol.decoding.stop[0] == before.strip()
        assert protocol.dataset == f"mgsm:{language}"


@pytest.mark.parametrize("language", TASKS)
def test_the_first_sentence_in_the_language_is_read(language: str) -> None:
    words, _, behind = TASKS[language][3].partition(r"(\-?[0-9\.\,]+)")
    scorer = get_scorer(f"lm-eval/mgsm-native-cot-{language}/strict-match")
    text = f"2 + 2 = 4. {words}4{behind} {words}7{behind}"
    assert scorer.judge(text, PROBLEM).correct
    assert not scorer.judge("#### 4", PROBLEM).correct


def test_signs_commas_and_points_are_lost_in_the_comparison() -> None:
    assert [compared(text) for text in ("-1,250", "12.50", "Zwölf!", "4\0")] == [
        "1250", "1250", "zwölf", "4",
    ]  # fmt: skip


def test_the_whole_text_is_read_without_white_space_at_its_ends() -> None:
    answer = extract_whole(" 4.\n", "4")
    assert answer is not None
    assert (answer.text, answer.value, answer.span) == ("4.", "4", (1, 3))
    assert extract_whole(" \n", "4") is None


def test_the_first_match_of_a_pattern_is_read_where_it_stands() -> None:
    text = "The answer is 1,250. The answer is 7."
    answer = first_match(r"The answer is (\-?[0-9\.\,]+)")(text, "")
    assert answer is not None and answer.span is not None
    assert (answer.text, answer.value) == ("1,250.", "1250")
    assert text[slice(*answer.span)] == answer.text
