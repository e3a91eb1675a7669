"""Problems, scorers, protocols, votes: the records and what they refuse."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gradeschool.completion import Decoding
from gradeschool.datasets.load import several_golds
from gradeschool.errors import InputError
from gradeschool.formats.values import Sample
from gradeschool.problem import Problem
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol
from gradeschool.protocols.registry import all_protocols, all_scorers, all_votes
from gradeschool.scorer import Answer, Outcome, Scorer, ScorerFailure, verbatim
from gradeschool.scoring.at_k import score_vote
from gradeschool.scoring.sources import Run
from tests.support.command import Command
from tests.support.files import jsonl


def test_a_row_keeps_its_gold_as_the_data_writes_it() -> None:
    problem = Problem.from_row("7", "How much?", "1,000 + 1,125 = 2,125\n#### 2,125 ")
    assert (problem.id, problem.gold) == ("7", "2,125")
    assert problem["question"] == "How much?"
    assert problem["answer"] == problem.solution
    with pytest.raises(KeyError):
        problem["gold"]


@pytest.mark.parametrize("answer", ["2 + 2 = 4", "2 + 2\n####", "#### 4\n####  "])
def test_a_row_without_a_gold_is_refused_with_its_end(answer: str) -> None:
    with pytest.raises(InputError, match="the answer of problem '7' has no '#### N'"):
        Problem.from_row("7", "How much?", answer)


@pytest.mark.parametrize(
    ("gold", "number", "solution"),
    [
        ("18", "18", "#### 18"),
        (18, "18", "#### 18"),
        ("9 * 2 = 18\n#### 18", "18", "9 * 2 = 18\n#### 18"),
    ],
)
def test_a_gold_may_be_a_number_or_a_solution(gold: str | int, number: str, solution: str) -> None:
    problem = Problem.from_gold(gold)
    assert (problem.gold, problem.solution) == (number, solution)


def test_a_question_with_two_golds_is_named_with_both() -> None:
    rows = [("How many?", "5"), ("How  many?", "6"), ("How much?", "1,000"), ("How much?", "1000")]
    problems = [
        Problem(str(number), question, gold, f"#### {gold}")
        for number, (question, gold) in enumerate(rows)
    ]
    assert several_golds(problems).startswith("several golds for 1 question of the dataset")
    assert "'5' (problem 0) and '6' (problem 1)" in several_golds(problems)
    assert several_golds(problems[2:]) == ""
    assert several_golds([Problem("a", "", "1", ""), Problem("b", "", "2", "")]) == ""


PROBLEM = Problem.from_gold("18")
FIRST_WORD = Scorer(
    name="made/first-word",
    summary="the first word",
    source="this test",
    reference=lambda problem: problem.gold,
    extract=lambda text, reference: (
        Answer(text.split()[0], text.split()[0], (0, len(text.split()[0])), "the first word")
        if text.split()
        else None
    ),
    compare=verbatim,
)


def fail(*_: object) -> str:
    raise ScorerFailure("ValueError: too long")


@pytest.mark.parametrize(
    ("text", "outcome", "reason"),
    [
        ("18 eggs", Outcome.CORRECT, "the first word: '18' matches '18'"),
        ("19 eggs", Outcome.WRONG, "the first word: '19' is not '18'"),
        (" ", Outcome.NO_ANSWER, "nothing extracted; the scorer reads: the first word"),
    ],
)
def test_a_verdict_has_a_readable_reason(text: str, outcome: Outcome, reason: str) -> None:
    verdict = FIRST_WORD.judge(text, PROBLEM)
    assert (verdict.scorer, verdict.outcome, verdict.reason) == (FIRST_WORD.name, outcome, reason)
    assert verdict.correct is (outcome is Outcome.CORRECT)


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ("reference", "the gold cannot be read: ValueError: too long"),
        ("extract", "the scorer fails: ValueError: too long"),
        ("compare", "the scorer fails: ValueError: too long"),
    ],
)
def test_a_failure_of_published_code_is_no_wrong_answer(part: str, reason: str) -> None:
    failing: dict[str, Any] = {part: fail}
    verdict = replace(FIRST_WORD, **failing).judge("18", PROBLEM)
    assert (verdict.outcome, verdict.answer, verdict.reason) == (Outcome.ERROR, None, reason)


def test_long_answers_are_cut_in_the_reason_and_whole_in_the_answer() -> None:
    word = "1" * 500
    verdict = FIRST_WORD.judge(word, PROBLEM)
    assert verdict.answer is not None
    assert verdict.answer.value == word
    assert len(verdict.reason) < 120
    assert "…" in verdict.reason


PROTOCOL = Protocol(
    name="made/one",
    summary="the question alone",
    source="this test",
    render=Template(question="{question}"),
    decoding=Decoding(temperature=0.0, max_tokens=256, stop=("\n\n",)),
    scorers=("gradeschool/reader",),
)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "made/two"},
        {"render": Template(question="{question} A:")},
        {"decoding": Decoding(max_tokens=255, stop=("\n\n",))},
        {"scorers": ("openai/2021",)},
        {"shots": "wei2022"},
        {"samples": 8},
        {"votes": ("made/majority",)},
    ],
)
def test_the_digest_changes_with_each_part_that_changes_figures(change: dict[str, Any]) -> None:
    assert replace(PROTOCOL, **change).digest() != PROTOCOL.digest()


def test_the_digest_does_not_change_with_words_about_it() -> None:
    other = replace(PROTOCOL, summary="other words", source="another place")
    assert other.digest() == PROTOCOL.digest()
    assert len(PROTOCOL.digest()) == 12


MAJ_8 = all_votes()["lm-eval/gsm8k-cot-self-consistency/maj@8"]
MAJ_64 = all_votes()["lm-eval/gsm8k-cot-self-consistency/maj@64"]
EIGHTEEN = Problem.from_gold(18)
THOUSAND = Problem.from_gold("1,000")


def completions(*numbers: str) -> list[str]:
    """Eight completions: these answers, then none."""
    return [*(f"The answer is {number}." for number in numbers), *["?"] * 8][:8]


@pytest.mark.parametrize(
    ("numbers", "problem", "outcome"),
    [
        (["18"] * 5 + ["7"] * 3, EIGHTEEN, Outcome.CORRECT),
        (["18"] * 3 + ["7"] * 5, EIGHTEEN, Outcome.WRONG),
        (["18"] * 3, EIGHTEEN, Outcome.NO_ANSWER),  # five "[invalid]" win over three
        (["18"] * 4, EIGHTEEN, Outcome.CORRECT),  # a tie: the first seen wins
        (["7", *["18"] * 4, *["7"] * 3], EIGHTEEN, Outcome.WRONG),
        (["1,000"] * 3 + ["1000"] * 2 + ["9"] * 3, THOUSAND, Outcome.CORRECT),
        (["9"] * 3 + ["1,000"] * 3 + ["1000"] * 2, THOUSAND, Outcome.WRONG),  # two candidates
    ],
)
def test_a_vote_counts_strings(numbers: list[str], problem: Problem, outcome: Outcome) -> None:
    assert MAJ_8.judge(completions(*numbers), problem).outcome == outcome


def test_later_samples_do_not_vote() -> None:
    texts = [*completions(*["18"] * 8), *completions(*["7"] * 8) * 9]
    assert MAJ_8.judge(texts, EIGHTEEN).correct
    verdict = MAJ_64.judge(texts, EIGHTEEN)
    assert not verdict.correct
    assert verdict.reason == "56 of 64 votes: '7' is not '18'"


def test_a_run_is_scored_by_problem_in_the_order_of_samples() -> None:
    five = Problem("5", "?", "5", "#### 5")
    samples = [
        Sample(index, problem=EIGHTEEN, sample=index, text=text)
        for index, text in enumerate(completions(*["18"] * 8))
    ]
    samples += [
        Sample(index, problem=five, sample=index, text=text)
        for index, text in enumerate(completions(*["5"] * 4, "6"))
    ]
    samples.append(Sample(99, problem=five, sample=8, text="The answer is 6."))
    samples.append(Sample(100, sample=0, text="", error="no such problem"))
    random.Random(1).shuffle(samples)
    run = Run("run", samples)
    score = score_vote(run, MAJ_8)
    assert (score.problems, score.correct, score.wrong, score.no_answer) == (2, 2, 0, 0)
    assert score.accuracy == 1.0


def test_protocols_name_votes_that_exist_and_samples_enough() -> None:
    for protocol in all_protocols().values():
        for name in protocol.votes:
            assert all_votes()[name].voters <= protocol.samples
    assert not set(all_votes()) & {*all_scorers(), *all_protocols()}


@pytest.fixture
def sampled(tmp_path: Path, data: Path) -> Path:
    """Eight samples of three problems, whose golds are 18, 3 and 70000."""
    answers = {0: ["18"] * 5 + ["7"] * 3, 1: ["3"] * 2 + [""] * 6, 2: ["3"] * 4 + ["70000"] * 4}
    rows = [
        {"index": row, "sample": index, "completion": f"The answer is {number}." if number else "?"}
        for row, numbers in answers.items()
        for index, number in enumerate(numbers)
    ]
    return jsonl(tmp_path / "sampled.jsonl", rows)


def test_score_counts_a_vote(gradeschool: Command, sampled: Path) -> None:
    words = ("score", sampled, "--scorer", "numeric-equality", "--vote", MAJ_8.name)
    report = gradeschool(*words, "--json").json()
    [counted] = report["votes"]
    assert (counted["run"], counted["vote"], counted["problems"]) == ("sampled", MAJ_8.name, 3)
    assert (counted["correct"], counted["wrong"], counted["no_answer"]) == (1, 1, 1)
    assert report["runs"][0]["scorers"]["numeric-equality"]["correct"] == 11
    shown = gradeschool(*words).out
    assert f"{MAJ_8.name}  3         33.33 %" in shown
    alone = gradeschool("score", sampled, "--scorer", "numeric-equality", "--json").json()
    assert "votes" not in alone


def test_a_vote_that_cannot_be_counted(gradeschool: Command, sampled: Path) -> None:
    said = gradeschool.refused("score", sampled, "--scorer", "openai/2021", "--vote", MAJ_64.name)
    assert "counts 64 samples of a problem, but problem '0' has 8" in said
