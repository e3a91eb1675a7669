"""Tests gradeschool's own scorers: which golds they take, and answers that there is none."""

import pytest

from gradeschool import Problem, get_scorer
from gradeschool.protocols.gradeschool import gold_and_question
from gradeschool.scorer import Outcome, ScorerFailure

UNANSWERABLE = Problem.from_gold("None")


@pytest.mark.parametrize(
    "text",
    [
        "#### None",
        "The answer is None.",
        "\\boxed{\\text{None}}",
        "We do not know how much she paid, so the total cannot be determined.",
        "There isn't enough information to solve this.",
        "The problem does not specify how many eggs were left, so I can't calculate it.",
        "It is impossible to find the answer: the price is missing.",
    ],
)
def test_a_completion_that_says_so_is_right(text: str) -> None:
    assert get_scorer("gradeschool/reader").judge(text, UNANSWERABLE).correct


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("She pays 5 + 3 = 8 dollars.\n#### 8", Outcome.WRONG),
        ("The price is not given, so we take 5. The answer is 8.", Outcome.WRONG),
        ("", Outcome.NO_ANSWER),
        ("Nobody said anything.", Outcome.NO_ANSWER),
    ],
)
def test_a_number_is_wrong_and_silence_no_answer(text: str, outcome: Outcome) -> None:
    assert get_scorer("gradeschool/reader").judge(text, UNANSWERABLE).outcome is outcome


def test_such_a_sentence_is_no_answer_where_there_is_one() -> None:
    text = "The total cannot be determined."
    verdict = get_scorer("gradeschool/reader").judge(text, Problem.from_gold("8"))
    assert verdict.outcome is Outcome.NO_ANSWER


@pytest.mark.parametrize("gold", ["x+1", "\\frac{1}{2}x", "Evelyn", "(1,2)", "20 apples"])
def test_a_gold_that_is_no_number_is_refused(gold: str) -> None:
    problem = Problem("0", "", gold, f"#### {gold}")
    with pytest.raises(ScorerFailure, match="is not a number; use a scorer of expressions"):
        gold_and_question(problem)
    assert get_scorer("gradeschool/reader").judge(f"#### {gold}", problem).outcome is Outcome.ERROR


def test_the_sign_counts_and_commas_do_not() -> None:
    problem = Problem.from_gold("-1,250")
    for name in ("gradeschool/parse-answer", "gradeschool/reader"):
        assert get_scorer(name).judge("#### -1250", problem).correct
        assert get_scorer(name).judge("#### 1250", problem).outcome is Outcome.WRONG
