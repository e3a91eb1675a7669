"""The matrix: as fast as it may be, with the verdicts of each rule asked alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gradeschool.problem import Problem
from gradeschool.protocols.registry import all_rules
from gradeschool.rule import Rule, RuleFailure
from gradeschool.scoring.matrix import Matrix

CLOSED = [rule for rule in all_rules().values() if not rule.extra]
CLAIMING = [rule for rule in CLOSED if rule.last_line is not None]
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


def alone(rules: Sequence[Rule], text: str, problem: Problem) -> list[str]:
    return [rule.judge(text, problem).outcome.value for rule in rules]


@settings(max_examples=300, deadline=None)
@given(text=TEXTS, gold=st.sampled_from(GOLDS))
@example(text="anſwer: 5\n18", gold="18")
@example(text="x\n\n", gold="18")
@example(text="", gold="18")
@example(text="18\n", gold="18")
def test_the_matrix_gives_every_rule_the_outcome_that_it_has_alone(text: str, gold: str) -> None:
    problem = Problem.from_gold(gold)
    matrix = Matrix(CLOSED)
    expected = alone(CLOSED, text, problem)
    assert outcomes(matrix, text, problem) == expected
    assert outcomes(matrix, text, problem) == expected  # from what it remembers


@pytest.mark.parametrize("rule", CLAIMING, ids=lambda rule: rule.name)
def test_a_rule_that_claims_its_last_line_is_held_to_it(rule: Rule) -> None:
    claim = rule.last_line
    assert claim is not None

    @settings(max_examples=150, deadline=None)
    @given(head=TEXTS, line=TEXTS, gold=st.sampled_from(GOLDS))
    def check(head: str, line: str, gold: str) -> None:
        line = "\n" + line.replace("\n", " ")
        assume(line.strip() and "ſ" not in head + line)
        assume(not any(marker in head.lower() for marker in claim.markers))
        problem = Problem.from_gold(gold)
        reference = rule.reference(problem)
        try:
            answer = rule.read(line, reference)
        except RuleFailure:
            return
        if claim.settles(line, answer):
            assert rule.outcome(head + line, reference) == rule.outcome(line, reference)

    check()


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


def test_rules_that_read_and_compare_alike_are_asked_once() -> None:
    flexible = [rule for rule in CLOSED if rule.name.endswith("/flexible-extract")]
    assert len(Matrix(flexible).groups) <= 2  # the whole solution or the gold alone as reference


def test_the_order_and_the_number_of_rules_do_not_matter() -> None:
    problem = Problem.from_gold("18")
    texts = ["#### 18", "The answer is 18.", "so 9*2 = 18 eggs"]
    for text, step in product(texts, (1, -1)):
        rules = CLOSED[::step]
        assert outcomes(Matrix(rules), text, problem) == alone(rules, text, problem)
