"""Boxes and last matches are those of the regexes that they stand for."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool.answers.search import (
    TextMatch,
    any_of,
    compiled_later,
    last_box,
    last_flat_box,
    last_match,
    last_plain_box,
    math_box,
)

PLAIN = re.compile(r"boxed\{([^{}]*)\}")
FLAT = re.compile(r"\\boxed\{([^}]+)\}")
PIECES = st.lists(st.sampled_from(["\\boxed{", "\\boxed", "{", "}", " ", "a", "1", "\\"]))
TEXTS = PIECES.map("".join) | st.text(st.sampled_from("\\boxed{} a1"), max_size=60)


@given(TEXTS)
def test_last_flat_box_is_the_last_match_of_the_documented_pattern(text: str) -> None:
    matches = FLAT.findall(text)
    box = last_flat_box(text)
    assert (box.text if box else None) == (matches[-1] if matches else None)


@given(TEXTS)
def test_a_plain_box_is_the_last_box_if_no_brace_is_inside(text: str) -> None:
    start = text.rfind("boxed")
    match = PLAIN.match(text, start) if text[:start].endswith("\\") and start > 0 else None
    box = last_plain_box(text)
    assert box == (None if match is None else TextMatch(match[1], *match.span(1)))


@given(TEXTS)
def test_boxes_stand_where_they_say(text: str) -> None:
    for box in (last_flat_box(text), last_box(text)):
        assert box is None or text[box.start : box.end] == box.text


@given(TEXTS)
def test_last_box_is_balanced_or_reaches_to_the_end(text: str) -> None:
    box = last_box(text)
    if box is None:
        assert "\\boxed{" not in text
        return
    assert text[: box.start].endswith("\\boxed{")
    assert "\\boxed{" not in text[box.start :]
    depths = [box.text[:end].count("{") - box.text[:end].count("}") for end in range(len(box.text))]
    assert min(depths, default=0) >= 0
    if box.end < len(text):
        assert text[box.end] == "}"
        assert box.text.count("{") == box.text.count("}")


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
    box = last_box(text)
    assert box is not None
    assert box.text == content


@given(TEXTS)
def test_math_box_is_the_box_of_the_evaluation_of_math(text: str) -> None:
    """Its rule character by character: braces are counted from the command on."""
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
    assert (math_box(text) is not None) is (piece in ("\\boxed{}", "\\boxed{1}"))


@given(st.text(st.sampled_from("a1 ")), st.sampled_from(["1+", "a*", "a|a1", "(1)|a"]))
def test_last_match_is_the_last_that_finditer_lists(text: str, pattern: str) -> None:
    matches = list(re.finditer(pattern, text))
    match = last_match(re.compile(pattern), text)
    assert (match.span() if match else None) == (matches[-1].span() if matches else None)


def test_any_of_reads_what_the_plain_alternatives_read() -> None:
    pieces = (r"is(?:\sworth)? in costs? cost a an and kilo", "éclair once")
    plain = re.compile(r"(?i)\b(?:" + "|".join(" ".join(pieces).split()) + ")")
    quick = re.compile(any_of(*pieces))
    words = (
        "Is\tworth",
        "İn",
        "ın",
        "coſts",
        "COSTs",
        "a",
        "AN",
        "and",
        "\u212ailo",
        "ÉCLAIR",
        "On",
    )
    for word in words:
        for text in (word, f"{word}s", word.swapcase(), f"x{word}"):
            match, expected = quick.match(text), plain.match(text)
            assert (match and match[0]) == (expected and expected[0]), text


def test_a_pattern_is_compiled_when_it_is_first_used() -> None:
    letter = compiled_later("a", re.IGNORECASE)
    assert letter.findall("aAb") == ["a", "A"]
    assert (letter.pattern, letter.flags) == ("a", re.compile("a", re.IGNORECASE).flags)
    assert letter.search("b") is None
    broken = compiled_later("(")
    with pytest.raises(re.error):
        broken.search("")
