"""Boxes and last matches are those of the regexes that they stand for, also from the end."""

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool.answers.search import (
    END,
    GROWTH,
    TextMatch,
    ends,
    last_box,
    last_flat_box,
    last_match,
    last_match_in_words,
)
from gradeschool.protocols.deepseek_math import gsm8k as deepseek
from gradeschool.protocols.lm_eval import hrm8k
from gradeschool.protocols.lm_eval import scorers as lm_eval
from gradeschool.protocols.multi_pattern import scorers as multi_pattern
from gradeschool.protocols.numeric_equality import scorers as numeric_equality
from gradeschool.protocols.olmes import gsm8k as tulu
from gradeschool.protocols.olmo_eval import gsm8k as olmo_eval
from gradeschool.protocols.open_instruct import verifier as open_instruct
from gradeschool.protocols.opencompass import few_shot as opencompass

FLAT = re.compile(r"\\boxed\{([^}]+)\}")
PIECES = st.lists(st.sampled_from(["\\boxed{", "\\boxed", "{", "}", " ", "a", "1", "\\"]))
TEXTS = PIECES.map("".join) | st.text(st.sampled_from("\\boxed{} a1"), max_size=60)


@given(TEXTS)
def test_last_flat_box_is_the_last_match_of_the_documented_pattern(text: str) -> None:
    matches = FLAT.findall(text)
    found = last_flat_box(text)
    assert (found.text if found else None) == (matches[-1] if matches else None)


@given(TEXTS)
def test_boxes_stand_where_they_say(text: str) -> None:
    for found in (last_flat_box(text), last_box(text)):
        assert found is None or text[found.start : found.end] == found.text


@given(TEXTS)
def test_last_box_is_balanced_or_reaches_to_the_end(text: str) -> None:
    found = last_box(text)
    if found is None:
        assert "\\boxed{" not in text
        return
    assert text[: found.start].endswith("\\boxed{")
    assert "\\boxed{" not in text[found.start :]
    depths = [
        found.text[:at].count("{") - found.text[:at].count("}") for at in range(len(found.text))
    ]
    assert min(depths, default=0) >= 0
    if found.end < len(text):
        assert text[found.end] == "}"
        assert found.text.count("{") == found.text.count("}")


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"\boxed{18}", "18"),
        (r"\boxed{\text{18}}", r"\text{18}"),
        (r"\boxed{\frac{36}{2}} and so on}", r"\frac{36}{2}"),
        (r"\boxed{9}, finally \boxed{18}", "18"),
        (r"\boxed{}", ""),
        (r"\boxed{18", "18"),
        (r"\boxed{\text{18}", r"\text{18}"),
        (r"\boxed{1 \boxed{2}}", "2"),
    ],
)
def test_last_box_counts_braces(text: str, content: str) -> None:
    found = last_box(text)
    assert found is not None
    assert found.text == content


@pytest.mark.parametrize("text", ["", "boxed{18}", r"\boxed 18", r"\fbox{18}"])
def test_there_is_no_box_without_its_opening(text: str) -> None:
    assert last_box(text) is None
    assert last_flat_box(text) is None


def test_the_documented_pattern_loses_nested_braces() -> None:
    assert last_flat_box(r"\boxed{\text{18}}") == TextMatch(r"\text{18", 7, 15)
    assert last_box(r"\boxed{\text{18}}") == TextMatch(r"\text{18}", 7, 16)


@pytest.mark.parametrize("piece", ["\\boxed{", "\\boxed{}", "\\boxed{1}", "\\boxed{{", "{", "}"])
def test_boxes_of_ten_megabytes_are_found_in_one_pass(piece: str) -> None:
    text = piece * (10_000_000 // len(piece))
    flat = last_flat_box(text)
    assert (flat is not None) is (piece == "\\boxed{1}")
    assert (last_box(text) is not None) is piece.startswith("\\boxed{")


@given(st.text(st.sampled_from("a1 ")), st.sampled_from(["1+", "a*", "a|a1", "(1)|a"]))
def test_last_match_is_the_last_that_finditer_lists(text: str, pattern: str) -> None:
    matches = list(re.finditer(pattern, text))
    found = last_match(re.compile(pattern), text)
    assert (found.span() if found else None) == (matches[-1].span() if matches else None)


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


@pytest.mark.parametrize("name", WITHOUT_COMMAS)
@given(text=ENDINGS)
def test_the_last_number_without_commas_is_the_same(name: str, text: str) -> None:
    """A comma goes where digits stand on both sides, once from left to right, in a word alone."""
    last_number, pattern = WITHOUT_COMMAS[name]
    slow = last_match(pattern, re.sub(r"(\d),(\d)", r"\1\2", text))
    assert last_number(text) == (slow and slow.group())


@pytest.mark.parametrize("pattern", [*PATTERNS.values(), *(p for _, p in WITHOUT_COMMAS.values())])
@given(text=ENDINGS)
def test_no_such_pattern_matches_a_space(pattern: re.Pattern[str], text: str) -> None:
    """What the reading from the end relies on."""
    assert not any(
        " " in found.group() or "\n" in found.group() for found in pattern.finditer(text)
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
