"""`gradeschool why`: what it says of a gap, suggests and refuses."""

from __future__ import annotations

import json
from pathlib import Path

from gradeschool import Problem
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.files import jsonl
from tests.support.spoiled_runs import (
    DATASET,
    EXPECTED,
    PROBLEMS,
    answers,
    file_of,
    run_of,
    run_on,
    worse,
)


def test_a_gap_to_another_run_is_tested_in_pairs(gradeschool: Command, tmp_path: Path) -> None:
    """The interval of one run contains the other's score, although no answer got better."""

    def fewer(text: str, right: bool, problem: Problem) -> str:
        return text.replace(problem.gold, "3") if int(problem.id) % 40 == 1 else text

    good = file_of(tmp_path / "a.jsonl", answers())
    bad = file_of(tmp_path / "b.jsonl", answers(fewer))
    words = ("-d", DATASET, "--scorer", "gradeschool/reader")
    result = gradeschool("why", bad, "--expected-run", good, *words)
    assert "within chance" not in result.out
    assert f"-> gradeschool compare {good} {bad} {' '.join(words)}" in result.out


def test_a_gap_within_chance_is_called_so(gradeschool: Command, tmp_path: Path) -> None:
    path = file_of(tmp_path / "answers.jsonl", answers())
    sentence = gradeschool("why", path, "--expected", "92.5", "-d", DATASET)
    assert "which is within chance" in sentence.out
    fields = gradeschool("why", path, "--expected", "92.5", "-d", DATASET, "--json").json()
    assert fields["within_chance"] is True
    assert not any(cause["points"] for cause in fields["causes"])


def test_what_why_refuses(gradeschool: Command, tmp_path: Path) -> None:
    path = file_of(tmp_path / "answers.jsonl", answers())
    for words, message in (
        ((path,), "give either --expected PERCENT or --expected-run FILE"),
        ((path, "--expected", 3, "--expected-run", path), "give either --expected"),
        ((path, "--expected", 101), "101"),
        ((path, "--expected-run", path), "are the same"),
        ((tmp_path / "absent", "--expected", 3), "does not exist"),
    ):
        result = gradeschool("why", *words, "-d", DATASET)
        assert (result.status, result.out) == (2, "")
        assert message in result.err


def test_a_share_given_as_the_expected_score_is_noted(gradeschool: Command, tmp_path: Path) -> None:
    """`--expected` is in percent; `compare --at-least` takes a share."""
    path = file_of(tmp_path / "a.jsonl", answers())
    ended = gradeschool("why", path, "--expected", "0.95", "-d", DATASET)
    assert ended.status == 0
    assert "--expected is in percent: 0.95 means 0.95 %; use 95 for 95 %" in ended.err


def test_suggested_commands_read_the_same_rows(gradeschool: Command, tmp_path: Path) -> None:
    """The options for reading the file are part of them."""
    path = file_of(tmp_path / "a.jsonl", answers())
    other = file_of(tmp_path / "b.jsonl", answers(worse))
    asked = ("-d", DATASET, "--columns", "response=completion", "--scorer", "openai/2021")
    words = f"-d {DATASET} --columns response=completion"
    alone = gradeschool("why", path, "--expected", EXPECTED, *asked).out
    assert f"-> gradeschool explain {path} {words} --scorer openai/2021" in alone
    scorer = "inspect/match-numeric@>=0.3.253"  # a shell would write a file
    beside = gradeschool("why", other, "--expected-run", path, *asked[:-1], scorer)
    assert f"-> gradeschool diff {other} {path} {words} --scorer-a '{scorer}'" in beside.out


def test_a_run_without_a_completion_is_refused(gradeschool: Command, tmp_path: Path) -> None:
    """There is no score to explain; 0.00 % would be wrong."""
    rows = [{"id": p.id, "question": p.question, "error": "boom"} for p in PROBLEMS[:5]]
    failed = jsonl(tmp_path / "failed.jsonl", rows)
    good = file_of(tmp_path / "a.jsonl", answers())
    alone = gradeschool("why", failed, "--expected", "50", "-d", DATASET)
    assert (alone.status, alone.out) == (2, "")
    assert (
        "the run 'failed' contains no completion that 'gradeschool/reader' can judge" in alone.err
    )
    beside = gradeschool("why", failed, "--expected-run", good, "-d", DATASET)
    assert beside.status == 2
    assert "the run 'failed' contains no completion" in beside.err
    rows = [{"id": p.id, "question": p.question, "completion": "3"} for p in PROBLEMS[:5]]
    unreadable = jsonl(tmp_path / "unread.jsonl", [{**row, "gold": "4 to 8"} for row in rows])
    beside = gradeschool("why", unreadable, "--expected-run", failed, "-d", DATASET)
    assert (beside.status, beside.out) == (2, "")
    curve = gradeschool("runs", "curve", failed, "-d", DATASET)
    assert (curve.status, curve.out) == (2, "")
    assert "contains no completion" in curve.err
    few = gradeschool("runs", "curve", good, "-d", DATASET, "--at", "5")
    assert few.status == 2
    assert "has 5 samples; give --at with at most 1" in few.err


def test_changed_settings_are_words(gradeschool: Command, tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", answers())
    fields = json.loads((run / "run.json").read_text())
    fields["decoding"] = {**fields["decoding"], "seed": 1}
    (run / "run.json").write_text(json.dumps(fields))
    assert "seed 1 (the protocol: none)" in gradeschool("why", run, "--expected", EXPECTED).out


def test_causes_beyond_the_gap_are_said(gradeschool: Command, tmp_path: Path) -> None:
    """Run-on costs 90 points; where 30 are missing, it says that the causes exceed them."""
    path = file_of(tmp_path / "a.jsonl", answers(run_on))
    options = ("-d", DATASET, "--scorer", "lm-eval/gsm8k/flexible-extract")
    shown = gradeschool("why", path, "--expected", "30", *options).out
    rest = gradeschool("why", path, "--expected", "30", *options, "--json").json()["rest_points"]
    assert rest < 0
    assert f"{rest:.1f}  the causes account for more than is missing" in shown
