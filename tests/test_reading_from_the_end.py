"""Reading the last match from the end of a text gives what reading all of it gives."""

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool.answers.search import END, GROWTH, ends, last_match, last_match_in_words
from gradeschool.protocols.deepseek_math import gsm8k as deepseek
from gradeschool.protocols.lm_eval import hrm8k
from gradeschool.protocols.lm_eval import scorers as lm_eval
from gradeschool.protocols.multi_pattern import scorers as multi_pattern
from gradeschool.protocols.numeric_equality import scorers as numeric_equality
from gradeschool.protocols.olmes import tulu
from gradeschool.protocols.olmo_eval import gsm8k as olmo_eval
from gradeschool.protocols.open_instruct import verifier as open_instruct
from gradeschool.protocols.opencompass import scorers as opencompass

PATTERNS = {
    "lm-eval": lm_eval.FLEXIBLE_PATTERN,
    "hrm8k": hrm8k.NUMBER,
    "deepseek-math": deepseek.NUMBER,
    "deepseek-math few-shot": deepseek.FEW_SHOT_NUMBER,
    "multi-pattern": multi_pattern.NUMBER,
    "numeric-equality": numeric_equality.NUMBER,
    "opencompass": opencompass.NUMBER,
}
WITHOUT_COMMAS: dict[str, tuple[Callable[[str], str | None], re.Pattern[str]]] = {
    "olmes": (tulu.last_number, tulu.NUMBER),
    "olmo-eval": (olmo_eval.last_number, olmo_eval.NUMBER),
    "open-instruct": (open_instruct.last_number, open_instruct.NUMBER),
}
PIECES = st.sampled_from(
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
TEXTS = st.lists(PIECES, max_size=60).map("".join)


@pytest.mark.parametrize("name", PATTERNS)
@given(text=TEXTS)
def test_the_last_match_is_the_same(name: str, text: str) -> None:
    """The same text at the same place, for every pattern that is read from the end."""
    fast, slow = last_match_in_words(PATTERNS[name], text), last_match(PATTERNS[name], text)
    assert (fast and fast.span()) == (slow and slow.span())


@pytest.mark.parametrize("name", WITHOUT_COMMAS)
@given(text=TEXTS)
def test_the_last_number_without_commas_is_the_same(name: str, text: str) -> None:
    """A comma goes where digits stand on both sides, once from left to right, in a word alone."""
    last_number, pattern = WITHOUT_COMMAS[name]
    slow = last_match(pattern, re.sub(r"(\d),(\d)", r"\1\2", text))
    assert last_number(text) == (slow and slow.group())


@pytest.mark.parametrize("pattern", [*PATTERNS.values(), *(p for _, p in WITHOUT_COMMAS.values())])
@given(text=TEXTS)
def test_no_such_pattern_matches_a_space(pattern: re.Pattern[str], text: str) -> None:
    """What the reading from the end relies on."""
    assert not any(
        " " in found.group() or "\n" in found.group() for found in pattern.finditer(text)
    )


@given(text=TEXTS)
def test_ends(text: str) -> None:
    """Each end begins at a space or line break and is several times as long as the one before."""
    starts = list(ends(text))
    assert starts[-1] == 0
    assert all(text[start] in " \n" for start in starts[:-1])
    lengths = [len(text) - start for start in starts]
    assert all(length > END for length in lengths[:-1])
    assert all(longer > GROWTH * shorter for shorter, longer in pairwise(lengths[:-1]))
