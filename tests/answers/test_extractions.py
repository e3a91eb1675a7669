"""Scorers that look for the last number from the end find what their pattern finds in the whole."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool.answers.extractions import (
    ends,
    last_match_in_words,
    last_number,
    last_number_without_commas,
)
from gradeschool.answers.search import END, GROWTH, last_match
from gradeschool.protocols import deepseek_math as deepseek
from gradeschool.protocols import (
    helm,
    multi_pattern,
    numeric_equality,
    olmo_eval,
    open_instruct,
    verl,
)
from gradeschool.protocols import olmes as tulu
from gradeschool.protocols.lm_eval import hrm8k
from gradeschool.protocols.lm_eval import scorers as lm_eval
from gradeschool.protocols.opencompass import few_shot as opencompass

PIECES = ["18", "7", "-", ",", ".", " ", "  ", "\n", "a", "ab", "é", "١", "3:30", "1 8", "..", "\t"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@given(TEXTS)
def test_helm_reads_the_last_match(text: str) -> None:
    match = last_match(helm.NUMBER, text)
    number = match.group().replace(",", "") if match else ""
    answer = helm.extract_final_number(text, "")
    if match is None or not number:
        assert answer is None
    else:
        assert answer is not None
        assert (answer.value, answer.span) == (number, match.span())


@given(TEXTS)
def test_verl_reads_the_last_run_that_is_more_than_a_period(text: str) -> None:
    end = text[-verl.CLIP :]
    runs = [match.group() for match in verl.NUMBER.finditer(end)]
    longer = [run for run in runs if run != "."]
    expected = next(reversed(longer or runs), None)
    answer = verl.extract_flexible(text, "")
    assert (answer.value if answer else None) == expected


PATTERNS = {
    "lm-eval": lm_eval.FLEXIBLE_PATTERN,
    "hrm8k": hrm8k.NUMBER,
    "deepseek-math": deepseek.NUMBER,
    "deepseek-math few-shot": deepseek.FEW_SHOT_NUMBER,
    "multi-pattern": multi_pattern.NUMBER,
    "numeric-equality": numeric_equality.NUMBER,
    "opencompass": opencompass.NUMBER,
}
WITHOUT_COMMAS = {
    "olmes": tulu.NUMBER,
    "olmo-eval": olmo_eval.NUMBER,
    "open-instruct": open_instruct.NUMBER,
}
WORDS = st.sampled_from(
    [
        *"0123456789,.$-+ \n\t\r",
        "\u2028",
        "\xa0",
        "٣",
        "a",
        "_",
        "x" * 50,
        " " * 70,
        "1,234.5 ",
        "- 5",
    ]
)
ENDINGS = st.lists(WORDS, max_size=60).map("".join)


@pytest.mark.parametrize("name", PATTERNS)
@given(text=ENDINGS)
def test_the_last_match_is_the_same(name: str, text: str) -> None:
    """The same text at the same place, for every pattern that is read from the end."""
    fast, slow = last_match_in_words(PATTERNS[name], text), last_match(PATTERNS[name], text)
    assert (fast and fast.span()) == (slow and slow.span())
    answer = last_number(PATTERNS[name])(text, "")
    assert (answer and answer[:3]) == (slow and (slow[0], slow[0], slow.span()))


@pytest.mark.parametrize("name", WITHOUT_COMMAS)
@given(text=ENDINGS)
def test_the_last_number_without_commas_is_the_same(name: str, text: str) -> None:
    """A comma goes where digits stand on both sides, once from left to right, in a word alone."""
    pattern = WITHOUT_COMMAS[name]
    slow = last_match(pattern, re.sub(r"(\d),(\d)", r"\1\2", text))
    answer = last_number_without_commas(pattern)(text, "")
    assert (answer and answer.value) == (slow and slow.group())


@pytest.mark.parametrize("pattern", [*PATTERNS.values(), *WITHOUT_COMMAS.values()])
@given(text=ENDINGS)
def test_no_such_pattern_matches_a_space(pattern: re.Pattern[str], text: str) -> None:
    """What the reading from the end relies on."""
    assert not any(
        " " in match.group() or "\n" in match.group() for match in pattern.finditer(text)
    )


@given(text=ENDINGS)
def test_ends(text: str) -> None:
    """Each end begins at a space or line break and is several times as long as the one before."""
    starts = list(ends(text))
    assert starts[-1] == 0
    assert all(text[start] in " \n" for start in starts[:-1])
    lengths = [len(text) - start for start in starts]
    assert all(length > END for length in lengths[:-1])
    assert all(longer > GROWTH * shorter for shorter, longer in pairwise(lengths[:-1]))
