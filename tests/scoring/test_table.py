"""The scored table: scorers applied together have the outcomes that each has alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gradeschool.problem import Problem
from gradeschool.protocols.registry import all_scorers
from gradeschool.scorer import Answer, Scorer, verbatim
from gradeschool.scoring.table import OUTCOMES, ScorerSet

CLOSED = [scorer for scorer in all_scorers().values() if not scorer.extra]
GOLDS = ["18", "-10", "2,125", "131250", "0"]
PIECES = [
    "18", "7", "-10", "10", "2,125", "2125", "1,2,3", "18.", "18.0",
    "$18", "**18**", "£5", "½", "5²",
    "１８", "十八", "####", "#### 18", "#### 7", "####7", "\\boxed{18}", "\\boxed{", "}",
    "The answer is 18.",
    "the answer is 9", "Answer: 18", "ANSWER: 7", "answer", "Question: 3 + 4?", "Q: 5?",
    "7\nQ: 5?\nA: 9", "\nQuestion : 4", "\nQ\t: 4 ", "A: 18", "<think>",
    "</think>", "= 18", "$2*9$", "x", "eggs", ".", ",", "-", "16-18", "3:30",
    "1e3", "9" * 400, " ", "\n", "\n",
    "\t", "\r", "\u2028", "\x85", "ſ", "anſwer: 5", "K", "İ", "\ud800", "18kg", "60%",
    "(18)", "[invalid]", "the", "final",
    "answer is 7",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.lists(
    st.sampled_from(PIECES), max_size=12
).map(" ".join)


def outcomes(together: ScorerSet, text: str, problem: Problem) -> list[str]:
    return [OUTCOMES[outcome].value for outcome in together.judge_all([(text, problem)])[0]]


def alone(scorers: Sequence[Scorer], text: str, problem: Problem) -> list[str]:
    return [scorer.judge(text, problem).outcome.value for scorer in scorers]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(text=TEXTS, gold=st.sampled_from(GOLDS))
@example(text="anſwer: 5\n18", gold="18")
@example(text="x\n\n", gold="18")
@example(text="", gold="18")
@example(text="18\n", gold="18")
def test_scorers_together_have_the_outcomes_that_they_have_alone(text: str, gold: str) -> None:
    problem = Problem.from_gold(gold)
    together = ScorerSet(CLOSED)
    expected = alone(CLOSED, text, problem)
    assert outcomes(together, text, problem) == expected


@pytest.mark.parametrize("text", ["", "18", "#### 18", "\\boxed{18}", "the ANSWER is: 18\nQ: 5?"])
def test_scorers_that_look_at_more_than_the_gold_are_not_confused(text: str) -> None:
    """Problems with the same gold share what was read, unless a scorer reads them differently."""
    together = ScorerSet(CLOSED)
    for gold, question in (("18", "How many eggs?"), ("18", "How many days?"), ("5", "How many?")):
        problem = Problem(question, question, gold, f"#### {gold}")
        for _ in range(2):
            assert outcomes(together, text, problem) == alone(CLOSED, text, problem)


def test_scorers_that_extract_alike_are_called_once() -> None:
    calls: list[str] = []

    def extract(text: str, reference: str) -> Answer | None:
        calls.append(text)
        return Answer(text, text, None, "the text")

    scorers = [
        Scorer(name, "", "", lambda problem: problem.gold, extract, compare)
        for name, compare in (("a", verbatim), ("b", verbatim), ("c", str.startswith))
    ]
    together, problem = ScorerSet(scorers), Problem.from_gold("18")
    assert outcomes(together, "18!", problem) == ["wrong", "wrong", "correct"]
    assert calls == ["18!"]


def test_an_id_that_means_another_problem() -> None:
    """Files with golds of their own number their rows alike; the gold of each row counts."""
    scorers = ScorerSet(CLOSED)
    text, right = "It is 18.\n#### 18", Problem.from_row("row 1", "", "#### 18")
    other = Problem.from_row("row 1", "", "#### 19")
    first, again = (
        scorers.judge_all([(text, right), (text, other)]),
        scorers.judge_all([(text, right)])[0],
    )
    assert first[0] == again == ScorerSet(CLOSED).judge_all([(text, right)])[0]
    assert first[1] == ScorerSet(CLOSED).judge_all([(text, other)])[0]
    assert first[0] != first[1]


def test_other_scorers_do_not_load_the_extractor() -> None:
    """Its patterns take 0.2 s to compile."""
    code = (
        "import sys; from gradeschool.scoring.table import choose_scorers; "
        "choose_scorers(['openai/2021']); sys.exit('gradeschool.answers.extractor' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
