"""A function of one's own that misbehaves: one line each, the other rows and scorers unharmed."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradeschool import Problem, judge
from gradeschool.scorer import Outcome
from gradeschool.scoring.causes import explain_verdict, read_text
from tests.support.command import Command
from tests.support.files import jsonl

MODULE = """
import os, sys, time

def last(completion, gold):
    if "hang" in completion:
        time.sleep(60)
    if "raise" in completion:
        raise KeyError("no such key")
    if "nan" in completion:
        return float("nan")
    if "float" in completion:
        return float(completion.split()[-1])
    if "print" in completion:
        print("noise", file=sys.stdout)
        print("noise", file=sys.stderr)
        os.write(1, b"noise")
    if "fork" in completion and os.fork() == 0:
        time.sleep(60)
        os._exit(0)
    return completion.split()[-1]
"""
KINDS = ("plain", "hang", "raise", "nan", "print", "fork", "float", "plain again")
FAILED = {"hang", "raise", "nan", "float"}


@pytest.mark.slow
def test_a_scorer_that_misbehaves_harms_no_other_row(gradeschool: Command, tmp_path: Path) -> None:
    gradeschool.monkeypatch.chdir(tmp_path)
    gradeschool.monkeypatch.setattr("gradeschool.user_function.WALL_SECONDS", 1)
    Path("mine.py").write_text(MODULE)
    rows = [
        {"question": f"{kind}: what is 5 + {row}?", "completion": f"{kind}: it is {5 + row}",
         "gold": str(5 + row)} for row, kind in enumerate(KINDS)
    ]  # fmt: skip
    jsonl(Path("rows.jsonl"), rows)
    names = ("mine.py:last", "gradeschool/reader")
    scored = gradeschool("score", "rows.jsonl", "--scorer", *names, "--json", "-o", "out.jsonl")
    assert scored.status == 3, scored.err
    own, reader = (scored.json()["runs"][0]["scorers"][name] for name in names)
    assert (reader["correct"], reader["error"]) == (len(KINDS), 0)
    assert (own["correct"], own["error"]) == (len(KINDS) - len(FAILED), len(FAILED))
    assert "noise" not in scored.out + scored.err
    shown = gradeschool("explain", "rows.jsonl", "--scorer", "mine.py:last").out.splitlines()
    assert [line.partition("the scorer fails: ")[2] for line in shown if line.startswith("A ")] == [
        "no answer within 1 s",
        "KeyError: 'no such key'",
        "returned nan; return a bool, a number or a text",
        "returned 11.0, no score: return True for a right answer, or a text",
    ]


REWARDS = """
import time

def credit(completion, gold):
    return 0.1 + (completion == f"#### {gold}")

def number(completion, gold):
    return float(completion.split()[-1])

def unsure(completions, answer, **_):
    return [None if "18" not in text else 2.0 for text in completions]

def hangs(completion, gold):
    if "hang" in completion:
        time.sleep(60)
    return completion.endswith(gold)
"""


@pytest.fixture
def rewards(tmp_path: Path) -> Path:
    """A file of functions that return numbers."""
    (tmp_path / "rewards.py").write_text(REWARDS)
    return tmp_path / "rewards.py"


def test_a_reward_may_be_any_number_but_no_answer(rewards: Path) -> None:
    reasons = {
        (name, text): judge(text, "18", f"{rewards}:{name}").reason.partition("returned")[2]
        for name, text in (("credit", "#### 18"), ("credit", "18"), ("unsure", "18"),
                           ("number", "18"), ("number", "0"))
    }  # fmt: skip
    assert reasons == {
        ("credit", "#### 18"): " 1.1: accepted",
        ("credit", "18"): " 0.1: rejected",
        ("unsure", "18"): " [2.0]: accepted",
        **{("number", text): f" {text}.0, no score: return True for a right answer, or a text"
           for text in ("18", "0")},
    }  # fmt: skip
    assert judge("19", "18", f"{rewards}:unsure").outcome is Outcome.NO_ANSWER


def test_a_number_has_no_relation_to_the_gold(rewards: Path) -> None:
    problem = Problem.from_gold("18")
    for text, expected in (("It is 18.", "right answer missed: the function's own verdict"),
                           ("#### 19", "wrong value")):  # fmt: skip
        verdict = judge(text, problem, f"{rewards}:credit")
        cause = explain_verdict(read_text(text, problem, None, {}), verdict)
        assert str(cause) == expected
    assert cause is not None


@pytest.mark.slow
def test_score_and_explain_ask_as_many_texts_of_a_function_that_hangs(
    gradeschool: Command, rewards: Path, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    monkeypatch.setattr("gradeschool.user_function.WALL_SECONDS", 1)
    rows = [{"question": f"{row}?", "completion": f"{'hang ' * (row % 2)}{row}", "gold": str(row)}
            for row in range(10)]  # fmt: skip
    file = jsonl(rewards.parent / "rows.jsonl", rows)
    result = gradeschool("score", file, "--scorer", f"{rewards}:hangs", "--json").json()
    counts = result["runs"][0]["scorers"][f"{rewards}:hangs"]
    assert (counts["correct"], counts["error"]) == (3, 7)
    assert "hung on 3 completions and is called no more" in caplog.text
    shown = gradeschool("explain", file, "--scorer", f"{rewards}:hangs").out
    assert "3 of 3 correct" in shown and "7 errors" in shown
