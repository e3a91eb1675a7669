"""The matrix: as fast as it may be, with the verdicts of each scorer asked alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gradeschool.problem import Problem
from gradeschool.protocols.registry import all_scorers
from gradeschool.scan import Scan
from gradeschool.scorer import Scorer, ScorerFailure
from gradeschool.scoring import matrix as matrices
from gradeschool.scoring.matrix import Matrix

CLOSED = [scorer for scorer in all_scorers().values() if not scorer.extra]
CLAIMS = [(scorer, claim) for scorer in CLOSED for claim in scorer.claims]
SHORTCUTS = [scorer for scorer in CLOSED if scorer.at_once is not None]
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


def outcomes(matrix: Matrix, text: str, problem: Problem) -> list[str]:
    return [outcome.value for outcome in matrix.outcomes(text, problem)]


def alone(scorers: Sequence[Scorer], text: str, problem: Problem) -> list[str]:
    return [scorer.judge(text, problem).outcome.value for scorer in scorers]


@settings(max_examples=300, deadline=None)
@given(text=TEXTS, gold=st.sampled_from(GOLDS))
@example(text="anſwer: 5\n18", gold="18")
@example(text="x\n\n", gold="18")
@example(text="", gold="18")
@example(text="18\n", gold="18")
def test_the_matrix_gives_every_scorer_the_outcome_that_it_has_alone(text: str, gold: str) -> None:
    problem = Problem.from_gold(gold)
    matrix = Matrix(CLOSED)
    expected = alone(CLOSED, text, problem)
    assert outcomes(matrix, text, problem) == expected
    assert outcomes(matrix, text, problem) == expected  # from what it remembers


@settings(max_examples=800, deadline=None)
@given(text=TEXTS, gold=st.sampled_from(GOLDS))
@example(text="The answer is $18. The answer is 18", gold="18")
@example(text="1, 18 eggs", gold="18")
def test_scorers_are_held_to_the_parts_that_they_claim(text: str, gold: str) -> None:
    """Where a part settles a scorer, its outcome there is its outcome on the whole text."""
    scan, problem = Scan(text), Problem.from_gold(gold)
    for scorer, claim in CLAIMS:
        part = claim.part(scan) if claim.holds(scan.holds) else None
        if part is None:
            continue
        reference = scorer.reference(problem)
        try:
            answer = scorer.read(part, reference)
        except ScorerFailure:
            continue
        if claim.settles(part, answer):
            on_part, on_text = (scorer.judge_against(one, reference) for one in (part, text))
            assert on_part.outcome == on_text.outcome, (scorer.name, claim.part.__name__, part)


@settings(max_examples=500, deadline=None)
@given(text=TEXTS, gold=st.sampled_from(GOLDS))
@example(text="She sells w$5$ and $18", gold="18")
@example(text="The answer is 18", gold="18")
@example(text="so 18 = x", gold="18")
def test_an_outcome_that_is_seen_at_once_is_that_of_the_answer(text: str, gold: str) -> None:
    problem = Problem.from_gold(gold)
    for scorer in SHORTCUTS:
        assert scorer.at_once is not None
        seen = scorer.at_once(text, scorer.reference(problem))
        assert seen in (None, scorer.judge(text, problem).outcome), scorer.name


@pytest.mark.parametrize("text", ["", "18", "#### 18", "\\boxed{18}", "the ANSWER is: 18\nQ: 5?"])
def test_scorers_that_look_at_more_than_the_gold_are_not_confused(text: str) -> None:
    """Problems with the same gold share what was read, unless a scorer reads them differently."""
    matrix = Matrix(CLOSED)
    for gold, question in (("18", "How many eggs?"), ("18", "How many days?"), ("5", "How many?")):
        problem = Problem(question, question, gold, f"#### {gold}")
        for _ in range(2):
            assert outcomes(matrix, text, problem) == alone(CLOSED, text, problem)


def test_memory_is_bounded_and_forgetting_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrices, "MOST_TEXTS", 3)
    monkeypatch.setattr(matrices, "MOST_PARTS", 5)
    matrix, problem = Matrix(CLOSED), Problem.from_gold("18")
    texts = [f"{word} {n}" for n in range(9) for word in ("####", "\\boxed{", "The answer is")] * 2
    for text in texts:
        assert outcomes(matrix, text, problem) == alone(CLOSED, text, problem)


@pytest.mark.official
def test_the_matrix_agrees_on_real_completions(data: Path, gsm8k_test: Sequence[Problem]) -> None:
    matrix = Matrix(CLOSED)
    compared = 0
    for path in sorted((data / "completions").glob("*.jsonl")):
        with path.open(newline="\n") as lines:
            for at, line in enumerate(lines):
                if at % 19:
                    continue
                row = json.loads(line)
                problem = gsm8k_test[row["index"]]
                text = row["completion"]
                assert outcomes(matrix, text, problem) == alone(CLOSED, text, problem)
                compared += len(CLOSED)
    assert compared > 1900 * len(CLOSED)


def test_scorers_that_read_and_compare_alike_are_asked_once() -> None:
    flexible = [scorer for scorer in CLOSED if scorer.name.endswith("/flexible-extract")]
    assert len(Matrix(flexible).groups) <= 2  # the whole solution or the gold alone as reference


def test_the_order_and_the_number_of_scorers_do_not_matter() -> None:
    problem = Problem.from_gold("18")
    texts = ["#### 18", "The answer is 18.", "so 9*2 = 18 eggs"]
    for text, step in product(texts, (1, -1)):
        scorers = CLOSED[::step]
        assert outcomes(Matrix(scorers), text, problem) == alone(scorers, text, problem)
