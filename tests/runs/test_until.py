"""`eval --until`: a run in random order stops when its interval is narrow, and says so."""

import json
import random
from pathlib import Path

import pytest

import gradeschool as package
from gradeschool.errors import InputError
from gradeschool.runs.evaluate import is_narrow, look_at, look_sizes
from gradeschool.scoring.table import CORRECT, WRONG
from tests.support.command import Command


def test_stopping_early_keeps_the_level_of_the_interval() -> None:
    draw, covered, runs, looks = random.Random(5), 0, 400, look_sizes(800)
    for _ in range(runs):
        outcomes: list[int] = []
        for size in looks:
            outcomes += [
                CORRECT if draw.random() < 0.7 else WRONG for _ in range(size - len(outcomes))
            ]
            look = look_at(14, looks, size, ((str(at), each) for at, each in enumerate(outcomes)))
            if is_narrow(look):
                break
        low, high = look["interval"]
        covered += low <= 0.7 <= high
    assert covered >= 0.95 * runs


class Model:
    """A model that answers a share of the problems, and counts its calls."""

    def __init__(self, golds: dict[str, str]) -> None:
        self.golds, self.calls = golds, 0
        self.__name__ = "model"

    def __call__(self, messages: list[dict[str, str]]) -> str:
        self.calls += 1
        question = messages[-1]["content"]
        return f"#### {self.golds[question] if len(question) % 7 else 0}"


@pytest.fixture
def model() -> Model:
    problems = package.load_dataset("fresh:7").problems
    return Model({problem.question: problem.gold for problem in problems})


def run(model: Model, folder: Path, until: float) -> package.Scores:
    protocol = package.get_protocol("zero-shot/chat").with_changes(prompt="{question}")
    return package.evaluate(
        model, protocol, "fresh:7", until=until, output=folder, problems=PROBLEMS
    )


PROBLEMS = ",".join(str(number) for number in range(1, 251))


def test_a_run_stops_when_its_interval_is_narrow_and_resumes(model: Model, tmp_path: Path) -> None:
    first = run(model, tmp_path / "run", 24)
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (len(first), model.calls, manifest["problems"]) == (100, 100, 100)
    until = manifest["until"]
    assert (until["looks"], until["problems"], until["level"]) == ([100, 200, 250], 100, 0.983333)
    assert manifest["problem_ids"] != [str(number) for number in range(1, 101)]
    again = run(model, tmp_path / "run", 24)
    assert (again.headline, model.calls) == (first.headline, 100)
    narrower = run(model, tmp_path / "run", 16)
    assert (len(narrower), model.calls) == (200, 200)
    assert len(run(model, tmp_path / "run", 1)) == 250


def test_the_command_says_what_ended_the_run(gradeschool: Command, tmp_path: Path) -> None:
    words = ("-m", "recorded/sample#handwritten/chat", "-d", "sample", "--until", 30, "--quiet")
    shown = gradeschool("eval", *words, "-o", tmp_path / "run")
    assert shown.status == 0, shown.err
    assert "--until 30: stopped after 48 of 48 problems in random order" in shown.out
    result = gradeschool("eval", *words, "-o", tmp_path / "run", "--json").json()
    assert result["runs"][0]["until"]["problems"] == 48
    assert gradeschool("runs", "verify", tmp_path / "run").status == 0
    with pytest.raises(InputError, match="--batch cannot be combined"):
        package.evaluate("openai/x", dataset="sample", until=3, batch=True)
