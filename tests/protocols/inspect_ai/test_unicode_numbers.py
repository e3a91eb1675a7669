"""Long words of few characters are read as short ones are, without a call for each character."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool import Outcome, all_scorers
from gradeschool.answers.parse import ANY_NUMBER, read_answer
from gradeschool.problem import Problem
from gradeschool.protocols.inspect_ai import unicode_numbers as spelling
from gradeschool.protocols.inspect_ai.unicode_numbers import (
    spelled,
    superscript_number,
    unicode_number,
)
from tests.support.outcomes import judge_against

CHARACTERS = st.sampled_from(
    [*"½⅓²⁻⁰5 ０١一二十百万点.,，'eE+-−负廿零a]^\\", "\0", "\ud800", "\U00010107", "\ufffe"]
)
WORDS = st.lists(CHARACTERS, max_size=30).map("".join)


def digit(char: str) -> str:
    """Stand for what the readers ask of a character."""
    value = unicodedata.digit(char, None)
    return "" if value is None else str(value)


@given(text=st.one_of(WORDS, st.text()), sample=st.integers(1, 5))
def test_a_table_says_what_each_character_says(text: str, sample: int) -> None:
    """NUL, surrogates, astral characters and what a pattern gives a meaning to are there too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spelling, "LONG", 0)
        patch.setattr(spelling, "SAMPLE", sample)
        assert spelled(text, digit) == "".join(map(digit, text))


def outcome(word: str, long: int) -> list[object]:
    """Return what both readers make of a word if those longer than `long` are taken by table."""
    results: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spelling, "LONG", long)
        for read in (unicode_number, superscript_number):
            try:
                results.append(repr(read(word)))
            except (ValueError, ArithmeticError) as error:
                results.append(type(error))
    return results


@given(word=WORDS)
def test_numbers_are_the_same_by_table(word: str) -> None:
    """Of every script, with fractions, superscripts and exponents."""
    assert outcome(word, 0) == outcome(word, 1_000)


@pytest.mark.parametrize(
    "word", ["½", "一二三", "٣", "²", "5²", "一，", "−", "点", "0.", "万千百十"]
)
@pytest.mark.parametrize("end", ["", "½", "5", "a"])
def test_long_words(word: str, end: str) -> None:
    """A word of 6,000 characters is read the same in both ways."""
    text = word * (6_000 // len(word)) + end
    assert outcome(text, 2_000) == outcome(text, 10_000)


def test_many_different_characters() -> None:
    """More than a table has room for: read one by one, to the same outcome."""
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 3_000)))
    assert spelled(text, digit) == "".join(map(digit, text))
    scorer = all_scorers()["inspect/match-numeric@>=0.3.253"]
    assert (
        judge_against(scorer, text, scorer.reference(Problem.from_gold("18"))).outcome
        is Outcome.NO_ANSWER
    )


PIECES = st.sampled_from(
    ["=5", "1", "$", " ", "a", ".", ",", "-", "−", "(", "\n", "5/3", "^2", "٣"]
)


@given(st.lists(PIECES, min_size=60, max_size=200).map("".join))
def test_the_last_number_needs_no_white_space(text: str) -> None:
    """Read from the end or from the start, the last number of a text is the same."""
    with pytest.MonkeyPatch.context() as patch:
        whole = (0,)
        answer = read_answer(text)
        patch.setattr("gradeschool.answers.parse._ends", lambda text: whole)
        assert read_answer(text) == answer
    assert (answer is None) == (ANY_NUMBER.search(text) is None)
