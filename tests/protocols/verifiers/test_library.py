"""Tests which part of a reply verifiers' rubrics read, and what they accept as equal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("math_verify", reason="needs the extra math-verify")

from gradeschool.protocols.verifiers.library import (
    BOX,
    LONGEST,
    MOST_CHARACTERS,
    gsm8k_v1,
    last_box,
    math_rubric,
    math_rubric_lenient,
)

PIECES = st.lists(st.sampled_from(["\\boxed{", "\\boxed", "{", "}", "\\", " ", "18", "\n"]))


def published_box(text: str) -> str | None:
    """Return what `extract_boxed_answer` returns, None where it returns "" or the whole text."""
    start = text.rfind("\\boxed{")
    if start == -1:
        return None
    inside = at = start + len("\\boxed{")
    count = 1
    while at < len(text) and count > 0:
        count += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return text[inside : at - 1] if count == 0 else None


@given(PIECES.map("".join))
def test_the_last_box_is_that_of_the_published_search(text: str) -> None:
    assert last_box(text) == published_box(text)


@pytest.mark.parametrize(
    ("text", "read", "right"),
    [
        ("\\boxed{7}, no: \\boxed{18}", "18", True),
        ("\\boxed{18}, no: \\boxed{7}", "7", False),
        ("\\boxed{\\frac{36}{2}}", "\\frac{36}{2}", True),
        ("<think>\\boxed{7}</think> \\boxed{18}", "18", True),
        ("<think>\\boxed{18}</think> \\boxed{7}", "7", False),
        ("<think>a</think> \\boxed{7} </think> \\boxed{18}", "18", True),
        ("\\boxed{}", None, False),
    ],
)
def test_both_rubrics_read_the_last_box_behind_the_thinking(
    text: str, read: str | None, right: bool
) -> None:
    assert math_rubric(text, "18") == (read, right)
    assert math_rubric_lenient(text, "18") == (read, right)


@pytest.mark.parametrize(
    ("text", "read", "right"),
    [
        ("18", "18", True),
        ("7 + 11 </think>\n18\n", "18", True),
        ("\\boxed{18}</think> so 18", "so 18", False),
        ("\\boxed{18} and \\boxed{7", "\\boxed{18} and \\boxed{7", False),
    ],
)
def test_without_a_closed_box_the_lenient_rubric_alone_reads_the_reply(
    text: str, read: str, right: bool
) -> None:
    assert math_rubric(text, "18") == (None, False)
    assert math_rubric_lenient(text, "18") == (read, right)


def test_an_answer_of_more_than_fifty_thousand_characters_is_wrong() -> None:
    longest = "18" + " " * (MOST_CHARACTERS - 2)
    for length, right in ((MOST_CHARACTERS, True), (MOST_CHARACTERS + 1, False)):
        text = f"{BOX}{longest.ljust(length)}}}"
        assert math_rubric(text, "18") == (longest[:LONGEST], right)


@pytest.mark.parametrize(
    ("text", "read", "right"),
    [
        ("#### 7\n#### 18", "18", True),
        ("#### 18\n#### 7", "7", False),
        ("####18\nThen 9 more.", "18", True),
        ("####\n18", "18", True),  # the white space behind the mark may be a new line
        ("#### 1,8", "1,8", False),
        ("#### 18 eggs", "18 eggs", False),
        ("18", "18", True),
        ("So 18 eggs", "So 18 eggs", False),
        ("####", "####", False),
        ("", None, False),
    ],
)
def test_version_1_reads_the_line_behind_the_last_mark_or_the_whole_reply(
    text: str, read: str | None, right: bool
) -> None:
    assert gsm8k_v1(text, "18") == (read, right)
