"""Answers in MGSM's eleven languages, in each language's own phrases, digits and grouping."""

import json
from pathlib import Path

import pytest

from gradeschool.answers.extractor import extract_final_answer

PHRASES: dict[str, list[str]] = json.loads(
    Path(__file__).with_name("languages.json").read_text("utf-8")
)
# What a question of the language looks like, and 70,000 and 18 as it may write them.
QUESTIONS = {
    "de": "Wie viele Dollar verdient die Frau jeden Tag, wenn das die Regel ist?",
    "es": "¿Cuántos dólares gana por día? Las cuentas son de la tienda y el mercado.",
    "fr": "Combien de dollars gagne-t-elle, si les oeufs sont vendus et une partie est mangée ?",
    "ru": "Сколько долларов она зарабатывает каждый день?",
}
THOUSANDS = {"de": "70.000", "es": "70.000", "fr": "70 000", "ru": "70 000"}
ZEROS = {"bn": "০", "te": "౦", "th": "๐", "ja": "０", "zh": "０"}


def in_script(number: int, language: str) -> str:
    """A number in the digits of a language's script."""
    zero = ord(ZEROS.get(language, "0"))
    return "".join(chr(zero + int(digit)) for digit in str(number))


@pytest.mark.parametrize("language", PHRASES)
def test_answers_in_their_own_words_and_digits(language: str) -> None:
    question = QUESTIONS.get(language, "")
    for phrase in PHRASES[language][:3]:
        for written, value in (
            (in_script(18, language), "18"),
            (THOUSANDS.get(language, "70,000"), "70000"),
        ):
            extracted = extract_final_answer("5 + 6 = 11. " + phrase.format(written), question)
            assert extracted is not None
            assert extracted.value == value


@pytest.mark.parametrize("language", PHRASES)
def test_a_further_problem_does_not_count(language: str) -> None:
    phrase, _, _, label = PHRASES[language]
    text = f"{phrase.format(18)}\n\n{label} 7 + 2\n{phrase.format(9)}"
    extracted = extract_final_answer(text, QUESTIONS.get(language, ""))
    assert extracted is not None
    assert extracted.value == "18"


def test_thousands_are_grouped_by_the_language_of_the_question() -> None:
    values = {
        question: extracted.value
        for question in ("", *QUESTIONS.values())
        if (extracted := extract_final_answer("\\boxed{5.600}", question))
    }
    assert values == {"": "5.6"} | dict.fromkeys(QUESTIONS.values(), "5600")
