"""Tests the filters and votes of lm-evaluation-harness's GSM8K tasks."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool import Problem
from gradeschool.protocols.lm_eval.scorers import (
    FLEXIBLE,
    INVALID,
    MAJ_8,
    STRICT,
    ballot,
    cleaned,
    extract_cot,
    extract_cot_llama,
    extract_flexible,
    extract_llama,
    extract_self_consistency,
    extract_strict,
    gold_alone,
    whole_answer,
)
from gradeschool.verdict import Answer

PIECES = st.sampled_from([*"18,$.# \n", "#### ", "####", "a", "A", "\r"])


@given(st.lists(PIECES, max_size=12).map("".join))
def test_cleaning_does_what_the_published_patterns_do(text: str) -> None:
    """The filter's `regexes_to_ignore`, applied one after the other, and ignore_case."""
    expected = text
    for pattern in (",", r"\$", "(?s).*#### ", r"\.$"):
        expected = re.sub(pattern, "", expected)
    assert cleaned(text) == expected.lower()


@pytest.mark.parametrize(
    ("extract", "text", "read"),
    [
        (extract_strict, "#### 7\n#### 18", "7"),
        (extract_strict, "The answer is 18", None),
        (extract_flexible, "#### 7 and 18 eggs", "18"),
        (extract_flexible, "It costs $18.50.", "$18.50."),
        (extract_cot, "The answer is 18. The answer is 7.", "18."),
        (extract_cot, "The answer is 18", "1"),  # one more character must follow
        (extract_cot, "the answer is 18.", None),
        (extract_self_consistency, "The answer is 18", "18"),
        (extract_self_consistency, "The answer is 18.", "18"),
        (extract_self_consistency, "The answer is 18.5.", "18.5"),
        (extract_cot_llama, "The final answer is 7. The final answer is $18", "$18"),
        (extract_llama, "The final answer is $18", None),
        (extract_llama, "My final answer is 7, no, the final answer is 18", "18"),
    ],
)
def test_the_text_that_a_filter_reads(
    extract: Callable[[str, str], Answer | None], text: str, read: str | None
) -> None:
    answer = extract(text, "18")
    assert (answer and answer.text) == read


def test_the_gold_is_cut_out_of_the_solution_or_stands_alone() -> None:
    problem = Problem.from_row("0", "?", "2 * 625 = 1,250.\n#### 1,250")
    assert whole_answer(problem) == gold_alone(problem) == "1250"
    assert FLEXIBLE.judge("It is $1,250.", problem).correct
    assert not STRICT.judge("It is $1,250.", problem).correct


def test_a_ballot_is_the_number_as_it_is_written() -> None:
    texts = ["The answer is 1,000", "The answer is 1000.", "no", "The answer is 7"]
    assert [ballot(text) for text in texts] == ["1,000", "1000", INVALID, "7"]
    assert MAJ_8.compare("1,000", "1000")
    assert not MAJ_8.compare(INVALID, "1000")
