"""Check a verifier's values of tokens, and which part of a text belongs to each token."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from gradeschool.reports.page.gather import MOST_TOKENS, pieces, token_values
from tests.support.report_page import rows


def decoded(text: str, cuts: Sequence[int]) -> list[str]:
    """The tokens of a byte-level tokenizer, each decoded by itself, as transformers does."""
    raw = text.encode()
    edges = sorted({0, len(raw), *(cut % (len(raw) + 1) for cut in cuts)})
    return [raw[a:b].decode("utf-8", "replace") for a, b in pairwise(edges)]


@given(st.text(st.characters(exclude_categories=["Cs"])), st.lists(st.integers(0, 999)))
def test_pieces_are_one_for_each_token(text: str, cuts: list[int]) -> None:
    tokens = decoded(text, cuts)
    shown_pieces = pieces(text, [*tokens, "<eos>"])
    assert len(shown_pieces) == len(tokens) + 1
    if "\ufffd" not in "".join(tokens):
        assert shown_pieces == [*tokens, "<eos>"]
        assert "".join(shown_pieces[:-1]) == text


@given(st.text("aé😀 7", max_size=12), st.lists(st.integers(0, 999)))
def test_characters_torn_between_tokens_are_put_together(text: str, cuts: list[int]) -> None:
    """Where whole tokens of the same character stand beside torn ones, tokens stay as they are."""
    tokens = decoded(text, cuts)
    shown_pieces = pieces(text, tokens)
    assert "".join(shown_pieces) == text or shown_pieces == tokens
    if len(set(text) - {"a", "7", " "}) == len([char for char in text if char not in "a7 "]):
        assert "".join(shown_pieces) == text


def test_tokens_of_another_text_stay_as_they_are() -> None:
    assert pieces("It is 5.", ["It", " was", " 5."]) == ["It", " was", " 5."]
    assert pieces("abc", ["a", "\ufffd", "z"]) == ["a", "\ufffd", "z"]


def test_rows_that_do_not_fit_are_passed_over_and_the_last_verifier_counts(tmp_path: Path) -> None:
    row = {"key": "k", "verifier": "a", "score": 0.5, "values": [0.1, 0.5], "tokens": ["x", "y"]}
    bad = [
        {**row, "values": [0.1]},
        {**row, "values": [0.1, "0.5"]},
        {**row, "values": [0.1, float("nan")]},
        {**row, "tokens": ["x", 5]},
        {**row, "tokens": [], "values": []},
        {**row, "score": float("inf")},
        {**row, "tokens": ["x"] * (MOST_TOKENS + 1), "values": [0.5] * (MOST_TOKENS + 1)},
        {"key": "k", "verifier": "a", "score": 0.5},
    ]
    rows(tmp_path / "verifier-scores.jsonl", bad)
    assert token_values(tmp_path, print) == {}
    warnings: list[str] = []
    rows(tmp_path / "verifier-scores.jsonl", [row, {**row, "verifier": "b", "score": 0.7}, *bad])
    values = token_values(tmp_path, warnings.append)
    assert (values["k"].verifier, values["k"].score) == ("b", 0.7)
    assert "those by 'b' are shown, not by 'a'" in warnings[0]
    assert token_values(tmp_path / "absent", print) == {}
