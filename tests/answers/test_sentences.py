"""The closing sentences of a text, and what each of them is."""

from __future__ import annotations

import pytest

from gradeschool.answers.quantities import quantities
from gradeschool.answers.sentences import (
    Sentence,
    announces_step,
    before_check,
    breaks_off,
    first_sentence_end,
    is_aside,
    is_next_item,
    is_repetitive,
    last_sentences,
)


def sentences(text: str) -> list[str]:
    return [text[each.start : each.end].strip() for each in last_sentences(text, 0, len(text))]


def last(text: str) -> Sentence:
    return next(iter(last_sentences(text, 0, len(text))))


def test_sentences_come_from_the_last_one_back() -> None:
    text = "Mrs. Lee has 3.5 cups. She pours 2!\nSo 1.5 are left"
    assert sentences(text) == ["So 1.5 are left", "She pours 2!", "Mrs. Lee has 3.5 cups."]
    assert last(text).cut
    assert not last(f"{text}.").cut
    assert sentences(" \n ") == []


def test_the_number_of_a_list_item_ends_no_sentence() -> None:
    assert sentences("First:\n1. Add 2 and 3.\n2. Double it.") == [
        "2. Double it.",
        "1. Add 2 and 3.",
        "First:",
    ]


def test_the_first_sentence_ends_after_its_mark() -> None:
    text = "\n\nIt is 5. It was 4."
    end = first_sentence_end(text, 0, len(text))
    assert end is not None
    assert text[:end].strip() == "It is 5."
    assert first_sentence_end("no end", 0, 6) is None


@pytest.mark.parametrize(
    ("sentence", "aside"),
    [
        ("Note that a week has 7 days.", True),
        ("Let me know if you need more help!", True),
        ("Is that right?", True),
        ("So she has 7 eggs.", False),
        ("Check: 3 + 4 = 7.", False),
    ],
)
def test_remarks_and_questions_are_asides(sentence: str, aside: bool) -> None:
    assert is_aside(sentence, Sentence(0, len(sentence), False)) is aside


def test_a_check_of_the_result_is_left_out() -> None:
    text = "So she has 7 eggs. Check: 7 - 3 is 4."
    assert text[: before_check(text, 0, len(text))] == "So she has 7 eggs."
    revised = "So she has 7 eggs. Check: 7 - 3 is 5. Wait, she has 8."
    assert before_check(revised, 0, len(revised)) == len(revised)


@pytest.mark.parametrize(
    ("text", "breaks"),
    [
        ("So the total is", True),
        ("She makes 9 * 2 =", True),
        ("So she has 18 eggs.", False),
        ("The box is 7 sq in", False),
    ],
)
def test_a_text_that_breaks_off_before_its_figure(text: str, breaks: bool) -> None:
    number = next(quantities(text), None)
    assert breaks_off(text, last(text), number, "") is breaks


@pytest.mark.parametrize(
    ("sentence", "announces"),
    [
        ("Now, add the 5 to the 8", True),
        ("Add 5 to 8 to get 13.", False),
        ("Find the total: 13.", False),
        ("She adds 5 and 8.", False),
    ],
)
def test_a_step_is_announced_or_carried_out(sentence: str, announces: bool) -> None:
    assert announces_step(sentence, Sentence(0, len(sentence), True)) is announces


def test_the_number_of_the_next_item_is_no_answer() -> None:
    text = "1. Add.\n2. Double.\n3."
    assert is_next_item(text, Sentence(text.rfind("3"), len(text), False), len(text))
    plain = "She has\n3."
    assert not is_next_item(plain, Sentence(plain.rfind("3"), len(plain), False), len(plain))


def test_a_text_that_goes_round() -> None:
    sentence = "So the total number of eggs is 18. "
    round_text = sentence * 5
    assert is_repetitive(round_text, last(round_text), 0, len(round_text))
    assert not is_repetitive(sentence * 2, last(sentence * 2), 0, 2 * len(sentence))
