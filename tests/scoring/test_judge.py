"""judge: what a gold may be."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from gradeschool import Problem, judge
from gradeschool.errors import InputError
from gradeschool.scorer import Answer, Outcome, Verdict
from tests.support.scorers import in_words, last_word

ROW = {"question": "How many minutes does she need?", "answer": "2*60=120\n#### 120"}
HOURS = "She needs 2 hours (120 minutes)."


def test_the_question_of_a_row_counts_as_that_of_a_problem_does() -> None:
    assert judge(HOURS, Problem.from_row("1", ROW["question"], ROW["answer"])).correct
    assert judge(HOURS, ROW).correct
    assert not judge(HOURS, ROW["answer"]).correct


@pytest.mark.parametrize("answer", [18, 18.0, "18", ["18"]])
def test_the_answer_of_a_row_may_be_a_number(answer: Any) -> None:
    assert judge("#### 18", {"question": "", "answer": answer}).correct


@pytest.mark.parametrize(
    "gold",
    [
        *(True, None, b"18", 18 + 0j, float("nan"), float("inf"), Decimal("inf"), [18, 19]),
        *({"gold": "18"}, {"answer": None}, 10**5000, Decimal("1e999999")),
        *("", "  ", "so ####", {"question": "How?"}),
    ],
    ids=lambda gold: type(gold).__name__,
)
def test_what_is_no_gold_is_refused(gold: Any) -> None:
    with pytest.raises(InputError):
        judge("#### 18", gold)


@pytest.mark.parametrize(
    "gold",
    [
        "1,250",
        "1250",
        1250,
        "so\n#### 1,250",
        Problem.from_gold("1250"),
        {"question": "How?", "answer": "so\n#### 1,250"},
    ],
)
def test_judge_takes_a_gold_in_any_form(gold: Any) -> None:
    """The number, the solution, a row and a problem give the same verdict."""
    assert judge("#### 1,250", gold, scorer="openai/2021").correct
    verdict = judge("#### 1,251", gold, scorer="openai/2021")
    assert verdict == Verdict(
        "openai/2021",
        Outcome.WRONG,
        Answer("1,251", "1251", (5, 10), "the first '#### N'"),
        "the first '#### N': '1251' is not '1250'",
    )


@pytest.mark.parametrize("text", [None, 18, b"18", ["18"], float("nan")])
def test_judge_refuses_what_is_no_text(text: Any) -> None:
    """A column of a data frame holds None and NaN; the message shows the value."""
    with pytest.raises(InputError, match=r"the completion is a \w+: .*; give its text"):
        judge(text, "18")


def test_judge_reads_the_last_message_of_the_assistant() -> None:
    chat = [{"role": "user", "content": "7?"}, {"role": "assistant", "content": "#### 18"}]
    assert judge(chat, "18").correct
    with pytest.raises(InputError, match="messages with one of the assistant"):
        judge(chat[:1], "7")


@pytest.mark.parametrize("scorer", [last_word, "tests/support/scorers.py:last_word"])
def test_judge_takes_a_function_of_ones_own(scorer: Any) -> None:
    assert judge("it is 18", "18", scorer).correct
    assert judge("18 it is", "18", scorer).reason.endswith("last_word returned: 'is' is not '18'")


def test_a_verdict_in_words_is_no_answer() -> None:
    verdict = judge("it is 18", "18", in_words)
    assert verdict.outcome is Outcome.ERROR
    assert "returned 'correct', no number and no part of the text" in verdict.reason


def test_judge_takes_one_scorer() -> None:
    with pytest.raises(InputError, match="give one name or function"):
        judge("18", "18", ["openai/2021"])  # type: ignore[arg-type]
