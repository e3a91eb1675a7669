"""Check that each fault of a run is named as a cause, with the points that it costs."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gradeschool import Problem
from tests.support.command import Command
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


def cut(text: str, right: bool, problem: Problem) -> str:
    return text[: len(text) // 2] if int(problem.id) % 2 else text


def template(text: str, right: bool, problem: Problem) -> str:
    return "<|im_end|>\n<|im_start|>assistant\nWhat can I do?" if int(problem.id) % 3 else text


def bare(text: str, right: bool, problem: Problem) -> str:
    return "41" if int(problem.id) % 2 else problem.gold


def empty(text: str, right: bool, problem: Problem) -> str:
    return "" if int(problem.id) % 2 else text


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


def test_equal_prompts_of_other_lengths_are_told(gradeschool: Command, tmp_path: Path) -> None:
    runs = [run_of(tmp_path / name, answers()) for name in ("here", "there")]
    for tokens, run in enumerate(runs, start=90):
        path = run / "completions.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text(
            "".join(json.dumps({**row, "prompt_tokens": tokens}) + "\n" for row in rows)
        )
    notes = gradeschool("why", runs[0], "--expected-run", runs[1], "--json").json()["notes"]
    assert any("another number of tokens, such as +1 there" in note for note in notes), notes


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


@pytest.mark.slow
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
