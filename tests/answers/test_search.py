"""Boxes and last numbers are those of the published regexes that they stand for."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool.answers.search import TextMatch, last_box, last_match
from gradeschool.latex import math_box
from gradeschool.protocols import deepseek_math, extractions, lm_eval, opencompass

PIECES = st.lists(st.sampled_from(["\\boxed{", "\\boxed", "{", "}", " ", "a", "1", "\\"]))
TEXTS = PIECES.map("".join) | st.text(st.sampled_from("\\boxed{} a1"), max_size=60)
PATTERNS = [
    lm_eval.FLEXIBLE_PATTERN,
    lm_eval.NUMBER,
    deepseek_math.NUMBER,
    deepseek_math.FEW_SHOT_NUMBER,
    extractions.LOOSE_NUMBER,
    extractions.GROUPED_NUMBER,
    opencompass.PLAIN_NUMBER,
]
WITHOUT_COMMAS = [extractions.OLMES_NUMBER, extractions.SIGNED_NUMBER]
WORDS = [*"0123456789,.$-+ \n\t\r", "\u2028", "\xa0", "٣", "a", "_", "x" * 50, " " * 70, "1,234.5 "]
ENDINGS = st.lists(st.sampled_from(WORDS), max_size=60).map("".join)


@given(TEXTS)
def test_boxes_are_those_of_the_published_patterns(text: str) -> None:
    matches = extractions.BOXED.findall(text)
    flat = last_match(extractions.BOXED, text[: text.rfind("}") + 1])
    assert (flat and flat[1]) == (matches[-1] if matches else None)
    box = last_box(text)
    assert box is None or text[box.start : box.end] == box.text


@given(TEXTS)
def test_math_box_counts_braces_from_the_command_on(text: str) -> None:
    start, depth, end = text.rfind("\\boxed"), 0, -1
    for place in range(start, len(text)) if start >= 0 else ():
        depth += (text[place] == "{") - (text[place] == "}")
        if text[place] == "}" and depth == 0:
            end = place
            break
    box = math_box(text)
    if end < 0 or not text.startswith("\\boxed{", start):
        assert box is None
    else:
        assert box == TextMatch(text[start + 7 : end], start + 7, end)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"\boxed{18}", "18"),
        (r"\boxed{\text{18}}", r"\text{18}"),
        (r"\boxed{\frac{36}{2}} and so on}", r"\frac{36}{2}"),
        (r"\boxed{9}, finally \boxed{18}", "18"),
        (r"\boxed{}", ""),
        (r"\boxed{18", "18"),
        (r"\boxed{1 \boxed{2}}", "2"),
        ("boxed{18}", None),
        (r"\boxed 18", None),
        (r"\fbox{18}", None),
    ],
)
def test_last_box_counts_braces(text: str, content: str | None) -> None:
    box = last_box(text)
    assert (box and box.text) == content


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=ENDINGS)
def test_the_last_number_is_the_last_match_of_all(pattern: re.Pattern[str], text: str) -> None:
    slow = last_match(pattern, text)
    answer = extractions.last_number(pattern)(text, "")
    assert (answer and answer[:3]) == (slow and (slow[0], slow[0], slow.span()))
    assert slow is None or not {" ", "\n"} & set(slow[0])


@pytest.mark.parametrize("pattern", WITHOUT_COMMAS)
@given(text=ENDINGS)
def test_commas_between_digits_go_once_rightwards(pattern: re.Pattern[str], text: str) -> None:
    slow = last_match(pattern, re.sub(r"(\d),(\d)", r"\1\2", text))
    answer = extractions.last_number_without_commas(pattern)(text, "")
    assert (answer and answer.value) == (slow and slow.group())
