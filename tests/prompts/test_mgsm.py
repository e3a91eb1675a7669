"""Tests the instructions for MGSM in 11 languages."""

from __future__ import annotations

import pytest

from gradeschool import Problem
from gradeschool.prompts.mgsm import LANGUAGES, instructed


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_instruction_names_the_label_that_scorers_look_for(language: str) -> None:
    label, instruction = LANGUAGES[language]
    assert label in instruction


def test_labels_and_instructions_differ_from_language_to_language() -> None:
    labels, instructions = zip(*LANGUAGES.values(), strict=True)
    assert len(set(labels)) == len(set(instructions)) == len(LANGUAGES) == 11


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_prompt_is_the_instruction_and_the_question_in_one_message(language: str) -> None:
    problems = [Problem.from_row(str(n), f"{n} + 1?", f"#### {n + 1}") for n in range(2)]
    prompts = list(instructed(language)(problems, problems))
    assert [prompt.as_messages() for prompt in prompts] == [
        [{"role": "user", "content": f"{LANGUAGES[language][1]}\n\n{n} + 1?"}] for n in range(2)
    ]
