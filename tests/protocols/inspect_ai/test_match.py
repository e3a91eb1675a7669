"""The search for the last number gives what a look at every word gives."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gradeschool.protocols.inspect_ai.match import (
    compare_0_3_220,
    compare_0_3_253,
    extract_0_3_220,
    extract_0_3_253,
    finite,
    is_no_number,
    last_possible_number,
    last_word_with,
    without_punctuation,
)

TEXTS = st.lists(
    st.sampled_from(("18", "1,250", "$5.", "eggs", "x2", "-3", "(42)", "½", "１８", "1e5", "=",
                     "a/b", " ", "\n", "\t", "\x1f", "\u2003", ".", "²", "٣")),
    max_size=30,
).map("".join)  # fmt: skip


@example("18 " + "word " * 40)
@example("18\x1f19")
@given(TEXTS)
def test_the_last_word_that_may_be_a_number_is_that_of_a_whole_split(text: str) -> None:
    words = [word for word in text.split() if not is_no_number(word)]
    possible = last_possible_number(text)
    assert (None if possible is None else possible.text) == (words[-1] if words else None)
    if possible is not None:
        assert text[possible.start : possible.start + len(possible.text)] == possible.text


@given(TEXTS, st.sampled_from(["18", "eggs", "(42)", "none"]))
def test_the_last_word_with_a_value_is_found_in_its_place(text: str, wanted: str) -> None:
    word = last_word_with(text, lambda word: "value" if word == wanted else None)
    assert (word is not None) is (wanted in text.split())
    if word is not None:
        assert (word.text, word.value) == (wanted, "value")
        assert text[word.start :].split()[0] == wanted
        assert wanted not in text[word.start + len(wanted) :].split()


@pytest.mark.parametrize(
    ("text", "gold", "old", "new"),
    [
        ("She makes $18.", "18", True, True),
        ("She makes 18 dollars.", "18", True, True),
        ("It is 711", "11", True, False),  # the old version compares ends
        ("total=18", "18", True, False),  # no word of digits: the last word, by its end
        ("It is 18.0", "18", True, True),
        ("It is (18)", "18", False, True),  # parentheses are part of the word
        ("It is 131254", "131250", True, True),  # 5 significant digits
        ("no number", "18", False, False),
    ],
)
def test_two_versions_on_the_same_text(text: str, gold: str, old: bool, new: bool) -> None:
    before, after = extract_0_3_220(text, gold), extract_0_3_253(text, gold)
    assert (before is not None and compare_0_3_220(before.value, gold)) is old
    assert (after is not None and compare_0_3_253(after.value, gold)) is new


@pytest.mark.parametrize(
    ("word", "cleaned"), [("$1,250.", "1250"), ("1.5", "1.5"), ("**18**", "18"), ("3.x", "3x")]
)
def test_punctuation_that_is_removed(word: str, cleaned: str) -> None:
    assert without_punctuation(word) == cleaned


@pytest.mark.parametrize(
    ("word", "number"), [("(42)", 42.0), ("½", 0.5), ("inf", None), ("1e999", None), ("x", None)]
)
def test_words_that_are_finite_numbers(word: str, number: float | None) -> None:
    assert finite(word) == number
