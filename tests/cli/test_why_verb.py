"""`gradeschool why`: runs made wrong on purpose, one fault each; it must name the fault."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gradeschool as package
from gradeschool import Problem, load_dataset
from tests.formats.test_read import jsonl
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture

DATASET, EXPECTED = "fresh:5", 90.0
PROBLEMS = load_dataset(DATASET).problems[:200]
NEXT = "\n\nQuestion: A box has 3 pens and Ann buys 4 more boxes. How many pens?\nAnswer: 12"


def answers(fault: Callable[[str, bool, Problem], str] | None = None) -> Iterator[str]:
    """The answers of a model that is right in 9 of 10 problems, each with a fault."""
    luck = random.Random(7)
    for problem in PROBLEMS:
        right = luck.random() < 0.9
        value = problem.gold if right else str(int(problem.gold.replace(",", "")) + 17)
        working = problem.solution.rpartition("\n####")[0] if right else "We count the items."
        text = f"{working}\nThe answer is {value}."
        yield fault(text, right, problem) if fault else text


def file_of(path: Path, texts: Iterator[str], **columns: Any) -> Path:
    rows = [
        {"id": problem.id, "question": problem.question, "completion": text, **columns}
        for problem, text in zip(PROBLEMS, texts, strict=True)
    ]
    return jsonl(path, rows)


def run_of(
    folder: Path, texts: Iterator[str], protocol: str = "zero-shot/chat", **engine: str
) -> Path:
    """A run folder with these answers; engine: what its run.json says of the engine."""
    by_question = dict(zip((problem.question for problem in PROBLEMS), texts, strict=True))

    def model(prompt: Any) -> str:
        requested = prompt if isinstance(prompt, str) else prompt[-1]["content"]
        return next(text for question, text in by_question.items() if question in requested)

    package.evaluate(model, protocol, DATASET, limit=len(PROBLEMS), name="m", output=folder)
    manifest = folder / "run.json"
    fields = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**fields, **({"engine": engine} if engine else {})}))
    return folder


def run_on(text: str, right: bool, problem: Problem) -> str:
    return text + NEXT


def cut(text: str, right: bool, problem: Problem) -> str:
    return text[: len(text) // 2] if int(problem.id) % 2 else text


def template(text: str, right: bool, problem: Problem) -> str:
    return "<|im_end|>\n<|im_start|>assistant\nWhat can I do?" if int(problem.id) % 3 else text


def bare(text: str, right: bool, problem: Problem) -> str:
    return "41" if int(problem.id) % 2 else problem.gold


def empty(text: str, right: bool, problem: Problem) -> str:
    return "" if int(problem.id) % 2 else text


def worse(text: str, right: bool, problem: Problem) -> str:
    return text.replace(problem.gold, "3") if int(problem.id) % 4 == 0 else text


def first_cause(gradeschool: Command, *words: object) -> str:
    result = gradeschool("why", *words, "-d", DATASET, "--json")
    assert result.status == 0, result.err
    return str(result.json()["causes"][0]["name"])


# Fault of the texts -> options, and the cause that is to be named first.
FAULTS: dict[str, tuple[Callable[[str, bool, Problem], str] | None, list[str], str]] = {
    "run-on": (run_on, ["--scorer", "lm-eval/gsm8k/flexible-extract"], "run-on"),
    "truncation": (cut, [], "truncation"),
    "template": (template, [], "chat template"),
    "extraction": (None, ["--scorer", "openai/2021"], "extraction"),
    "no working": (bare, [], "no working"),
    "empty": (empty, [], "empty completions"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_texts_is_named(gradeschool: Command, fault: str, tmp_path: Path) -> None:
    spoil, options, cause = FAULTS[fault]
    path = file_of(tmp_path / "answers.jsonl", answers(spoil))
    assert first_cause(gradeschool, path, "--expected", EXPECTED, *options) == cause


def test_completions_of_the_median_length_are_not_called_shorter(
    gradeschool: Command, tmp_path: Path
) -> None:
    """Every completion is of one word."""
    path = file_of(tmp_path / "answers.jsonl", ("0" for _ in PROBLEMS))
    shown = gradeschool("why", path, "-d", DATASET, "--expected", EXPECTED, "--json").json()
    evidence = {cause["name"]: cause["evidence"] for cause in shown["causes"]}
    words = "half of the completions have at most 1 word: the model answers without working"
    assert evidence["no working"].startswith(words)


# A fault that only a second run shows -> how the run differs, and the cause to be named.
def test_precision_and_engine_are_named_beside_the_expected_run(
    gradeschool: Command, tmp_path: Path
) -> None:
    good = run_of(tmp_path / "good", answers(), engine="llama.cpp", precision="F16")
    low = run_of(tmp_path / "low", answers(worse), engine="llama.cpp", precision="Q4_0")
    other = run_of(tmp_path / "other", answers(worse), engine="vLLM", precision="F16")
    assert first_cause(gradeschool, low, "--expected-run", good) == "precision"
    assert first_cause(gradeschool, other, "--expected-run", good) == "engine"
    alone = gradeschool("why", low, "--expected", EXPECTED, "--json").json()["causes"]
    assert "precision" in [cause["name"] for cause in alone]


def test_other_prompts_are_named_beside_the_expected_run(
    gradeschool: Command, tmp_path: Path
) -> None:
    good = run_of(tmp_path / "good", answers(), "gradeschool/few-shot-cot")
    chat = run_of(tmp_path / "chat", answers(worse), "zero-shot/chat")
    assert first_cause(gradeschool, chat, "--expected-run", good) == "prompts"


def test_other_labels_are_named_beside_the_expected_run(
    gradeschool: Command, tmp_path: Path
) -> None:
    def with_golds(path: Path, spoiled: bool) -> Path:
        rows = [
            {"id": p.id, "question": p.question, "response": text,
             "gold": "1" if spoiled and int(p.id) % 4 == 0 else p.gold}
            for p, text in zip(PROBLEMS, answers(), strict=True)
        ]  # fmt: skip
        return jsonl(path, rows)

    good, bad = with_golds(tmp_path / "a.jsonl", False), with_golds(tmp_path / "b.jsonl", True)
    result = gradeschool("why", bad, "--expected-run", good, "--json")
    assert result.status == 0, result.err
    cause = result.json()["causes"][0]
    assert cause["name"] == "labels"
    assert cause["points"] == pytest.approx(100 * 47 / len(PROBLEMS))
    assert cause["evidence"].startswith("47 completions: ")


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


def test_the_points_add_up(gradeschool: Command, tmp_path: Path) -> None:
    path = file_of(tmp_path / "answers.jsonl", answers(run_on))
    options = ("-d", DATASET, "--scorer", "lm-eval/gsm8k/flexible-extract")
    fields = gradeschool("why", path, "--expected", EXPECTED, *options, "--json").json()
    reader = gradeschool("score", path, "-d", DATASET, "--scorer", "gradeschool/reader", "--json")
    there = reader.json()["runs"][0]["scorers"]["gradeschool/reader"]["accuracy"]
    (cause,) = [cause for cause in fields["causes"] if cause["name"] == "run-on"]
    assert cause["points"] == pytest.approx(100 * (there - fields["accuracy"]), abs=1.5)
    shown = gradeschool("why", path, "--expected", EXPECTED, *options).out
    assert f"{cause['points']:.1f}  run-on" in shown
    assert "-> evaluate with a protocol whose stop strings" in shown


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


def test_the_interval_of_several_samples_is_that_of_score(
    gradeschool: Command, tmp_path: Path
) -> None:
    """Ten copies of each completion are no 2,000 trials: what is within chance stays so."""
    texts = list(answers())
    rows = [
        {"id": p.id, "question": p.question, "completion": text, "sample": sample}
        for p, text in zip(PROBLEMS, texts, strict=True)
        for sample in range(10)
    ]
    path = jsonl(tmp_path / "ten.jsonl", rows)
    asked = ("-d", DATASET, "--scorer", "gradeschool/reader", "--json")
    scored = gradeschool("score", path, *asked).json()["runs"][0]["scorers"]["gradeschool/reader"]
    alone = gradeschool("why", path, "--expected", "92.5", *asked).json()
    assert (alone["accuracy"], alone["ci95"]) == (scored["accuracy"], scored["ci95"])
    assert alone["within_chance"] is True
    other = jsonl(tmp_path / "other.jsonl", [{**row, "completion": "#### 3"} for row in rows])
    beside = gradeschool("why", path, "--expected-run", other, *asked).json()
    assert (beside["accuracy"], beside["ci95"]) == (scored["accuracy"], scored["ci95"])


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


def test_an_empty_completion_at_the_limit_is_truncated_alone(
    gradeschool: Command, tmp_path: Path
) -> None:
    """A thinking model that reached its limit: as many of these may be right as of the others."""
    rows = [
        {"id": problem.id, "question": problem.question,
         "completion": "" if place % 5 < 2 else f"#### {problem.gold if place % 5 == 2 else 3}",
         "finish_reason": "length" if place % 5 < 2 else "stop"}
        for place, problem in enumerate(PROBLEMS[:40])
    ]  # fmt: skip
    path = jsonl(tmp_path / "limit.jsonl", rows)
    words = ("-d", DATASET, "--scorer", "gradeschool/reader", "--expected", "90", "--json")
    causes = gradeschool("why", path, *words).json()["causes"]
    points = {cause["name"]: cause["points"] for cause in causes}
    assert points["truncation"] == pytest.approx(40 / 3)  # 40 %, of which a third may be right
    assert "empty completions" not in points
