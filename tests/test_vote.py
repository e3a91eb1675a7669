"""Votes: lm-eval's maj@8 and maj@64, counted as its majority_vote counts them."""

import random
from pathlib import Path

import pytest

from gradeschool import Problem
from gradeschool.errors import InputError
from gradeschool.formats.samples import Sample
from gradeschool.protocols.registry import all_protocols, all_scorers, all_votes
from gradeschool.scoring.at_k import score_vote
from gradeschool.scoring.samples import Run
from gradeschool.verdict import Outcome
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.files import jsonl

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


def test_too_few_samples_are_an_error() -> None:
    with pytest.raises(InputError, match="counts 8 samples of a problem, but problem '\\?' has 3"):
        MAJ_8.judge(completions("18")[:3], EIGHTEEN)


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
    result = gradeschool("score", sampled, "--scorer", "openai/2021", "--vote", MAJ_64.name)
    assert result.status == 2
    assert "counts 64 samples of a problem, but problem '0' has 8" in result.err
    result = gradeschool("score", sampled, "--vote", "maj@8")
    assert result.status == 2
    assert result.err.startswith("gradeschool: no vote is called 'maj@8'; ")
