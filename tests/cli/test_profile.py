"""`gradeschool profile -m`: the model is asked, the runs are stored, the profile is printed."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from gradeschool.cli.profile import paired_problems, profile_jobs
from gradeschool.datasets.load import load_dataset
from gradeschool.errors import InputError
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_protocol
from gradeschool.runs.job import Job, RunPlan, facts_of, recorded_plan
from tests.support.command import Command
from tests.support.fault_server import fault_server, status
from tests.support.files import jsonl

SHORT = ("-m", "tiny", "-d", "fresh:1", "-d", "fresh:1:test-numbers", "-n", "4",
         "--max-tokens", "60", "--quiet")  # fmt: skip


@pytest.mark.slow
def test_a_model_is_asked_once_in_ordinary_runs(gradeschool: Command, tmp_path: Path) -> None:
    page = tmp_path / "profile.html"
    result = gradeschool.done(
        "profile", *SHORT, "--runs-in", tmp_path / "runs", "-o", page, "--json"
    )
    profile = result.json()
    assert profile["original"]["problems"] == 4
    [entry] = profile["sets"]
    assert entry["seed_problems"] == 0
    assert set(entry["loss"]) == {"arithmetic", "format", "reasoning"}
    lost = sum(part["share"] for part in entry["loss"].values())
    assert lost == pytest.approx(-entry["difference"])
    assert profile["verdict"][0] == (
        "The problems of fresh:1 are new: no model has memorised them."
    )
    text = page.read_text("utf-8")
    assert text.startswith("<!doctype html>") and "fresh:1:test-numbers" in text
    assert profile["verdict"][0] in text and 'class="whisker"' in text
    folders = sorted((tmp_path / "runs").iterdir())
    stored = [(folder / "completions.jsonl").read_bytes() for folder in folders]
    again = gradeschool("profile", *SHORT, "--runs-in", tmp_path / "runs", "--json")
    assert again.json() == profile
    assert [(folder / "completions.jsonl").read_bytes() for folder in folders] == stored
    original, varied = sorted(folders, key=lambda folder: "numbers" in folder.name)
    from_runs = gradeschool("profile", original, varied, "--json")
    assert from_runs.json()["sets"][0]["difference"] == entry["difference"]
    gradeschool.done("runs", "verify", folders[0])


def test_a_run_that_stopped_has_no_profile(gradeschool: Command, tmp_path: Path) -> None:
    """The key expires in the second run; a sample of the first run has failed too."""
    sets = ("-d", "fresh:1:test:6", "-d", "fresh:1:test-numbers:6", "--connections", 1)
    faults = {2: status(400), **{number: status(401) for number in range(10, 40)}}
    page = tmp_path / "page.html"
    with fault_server(lambda received: faults.get(received.number)) as server:
        ended = gradeschool("profile", "-m", f"{server.url}/m", *sets, "--runs-in", tmp_path / "a",
                            "-o", page, "--quiet")  # fmt: skip
        assert (ended.status, ended.out) == (2, ""), ended.err
        faults.clear()
        paid = gradeschool("profile", "-m", f"{server.url}/m", *sets, "--runs-in", tmp_path / "b",
                           "--price", "0/1000000", "--max-cost", 20, "-o", page)  # fmt: skip
        assert (paid.status, paid.out) == (3, ""), paid.err
    assert not page.exists()


Write = Callable[[str, Sequence[bool], Sequence[Mapping[str, str]]], Path]


@pytest.fixture
def write(tmp_path: Path, gradeschool: Command) -> Write:
    """Write a dataset of variations, and a run folder of it."""

    def run(name: str, corrects: Sequence[bool], metas: Sequence[Mapping[str, str]]) -> Path:
        dataset = jsonl(tmp_path / f"{name}.jsonl", (
            {"question": f"What is {name} {index}?", "answer": str(7 * index), **meta}
            for index, meta in enumerate(metas)))  # fmt: skip
        completions = jsonl(tmp_path / f"{name}-answers.jsonl", (
            {"index": index, "run": name, "completion": f"#### {7 * index if correct else -1}"}
            for index, correct in enumerate(corrects)))  # fmt: skip
        folder = tmp_path / name
        gradeschool.done("eval", "-m", f"recorded/{completions}", "-p", "zero-shot/chat",
                            "-d", dataset, "-o", folder, "--quiet")  # fmt: skip
        return folder

    return run


def test_each_set_has_a_line_and_words(gradeschool: Command, write: Write, tmp_path: Path) -> None:
    seeds = [{"seed": str(index)} for index in range(30)]
    original = write("gsm", [True] * 30, [{}] * 30)
    varied = write("varied", [index >= 12 for index in range(30)], seeds)
    page = tmp_path / "profile.html"
    ended = gradeschool.done("profile", original, varied, "-o", page, columns=120)
    assert "the same 30 problems as" in ended.out
    assert "60.0 % (-40.0 points" in ended.out and "significantly lower" in ended.out
    assert 'class="whisker"' in page.read_text("utf-8")
    result = gradeschool("profile", original, varied, "--json").json()
    [entry] = result["sets"]
    assert (entry["seed_problems"], entry["difference"]) == (30, pytest.approx(-0.4))
    assert result["original"]["accuracy"] == 1.0
    assert len(result["sentences"]) == 1


def test_a_failing_scorer_has_no_figure(gradeschool: Command, write: Write, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def f(text, gold):\n    return gold in text or 1 / 0\n")
    gradeschool.monkeypatch.chdir(tmp_path)
    original = write("gsm", [n != 3 for n in range(10)], [{}] * 10)
    varied = write("varied", [True] * 10, [{"seed": str(n)} for n in range(10)])
    words = ("profile", original, varied, "--scorer", "own.py:f")
    ended = gradeschool(*words)
    assert "own.py:f fails on 1 completion of 'gsm.jsonl'" in ended.err
    assert (ended.status, "gsm.jsonl: 90.00 to 100.00 %" in ended.out) == (3, True)
    figures = gradeschool(*words, "--json").json()["original"]
    assert (figures["accuracy"], figures["accuracy_bounds"]) == (None, [0.9, 1.0])


def problems(name: str, seeds: list[str], **meta: str) -> list[Problem]:
    """One problem for each seed; "" varies none."""
    return [
        Problem(str(index), f"{name} {index}?", "1", "#### 1", {"seed": seed, **meta})
        for index, seed in enumerate(seeds)
    ]


def test_the_problems_that_most_sets_vary_are_asked() -> None:
    original = problems("original", [""] * 10)
    first, second = problems("first", ["7", "3", "9"]), problems("second", ["9", "3", "1"])
    other = problems("other", [""] * 10)
    chosen = paired_problems([original, first, second, other], 2)
    assert [[problem.id for problem in each] for each in chosen] == [
        ["3", "9"], ["1", "2"], ["1", "0"], ["0", "1"],
    ]  # fmt: skip
    assert [len(each) for each in paired_problems([original, first, second, other], None)] == [
        10, 3, 3, 10,
    ]  # fmt: skip


def test_variations_of_a_seed_are_taken_in_turn() -> None:
    original = problems("original", [""] * 4)
    kinds = ("numbers", "words", "facts", "steps")
    varied = [
        Problem(f"{seed}-{kind}", f"{seed} {kind}?", "1", "#### 1",
                {"seed": str(seed), "perturbation": kind})
        for seed in range(4) for kind in kinds
    ]  # fmt: skip
    _, four = paired_problems([original, varied], 4)
    assert Counter(problem.meta["seed"] for problem in four) == Counter("0123")
    assert Counter(problem.meta["perturbation"] for problem in four) == Counter(kinds)
    two, eight = paired_problems([original[:2], varied], 8)
    assert (len(two), len(eight)) == (2, 8)


def test_a_plan_over_some_problems_has_the_prompts_of_the_whole_run(data: Path) -> None:
    """lm-eval draws other examples for each problem, in the order of the dataset."""
    protocol = get_protocol("lm-eval/gsm8k")
    dataset, shots = load_dataset("gsm8k"), load_dataset("gsm8k:train")
    whole = RunPlan(protocol, dataset, dataset.problems[:9], shots, protocol.decoding, 1)
    some = RunPlan(protocol, dataset, dataset.problems[3:9:2], shots, protocol.decoding, 1)
    assert [request.key for request in some.requests("model")] == [
        request.key for request in whole.requests("model")[3:9:2]
    ]


def test_run_json_names_problems_that_are_not_the_first() -> None:
    protocol, dataset = get_protocol("zero-shot/chat"), load_dataset("sample")
    plan = RunPlan(protocol, dataset, dataset.problems[5:7], None, protocol.decoding, 1)
    fields = {**facts_of(plan), "problems": 2, "samples": 1, "problem_ids": ["5", "6"]}
    assert recorded_plan(json.loads(json.dumps(fields))) == plan


@pytest.mark.slow
def test_a_folder_keeps_the_problems_that_it_holds(tmp_path: Path) -> None:
    [first, _] = profile_jobs(Job("tiny"), ("sample", "fresh:1"), tmp_path)
    plan = first.plan
    first.folder.mkdir()
    fields = {**facts_of(plan), "problems": 2, "samples": 1, "problem_ids": ["40", "41"]}
    (first.folder / "run.json").write_text(json.dumps(fields))
    [again, _] = profile_jobs(Job("tiny", limit=3), ("sample", "fresh:1"), tmp_path)
    assert [problem.id for problem in again.plan.problems] == ["0", "1", "2", "40", "41"]
    (first.folder / "run.json").write_text('{"problems": "many"}')
    with pytest.raises(InputError, match="cannot be continued"):
        profile_jobs(Job("tiny", limit=3), ("sample", "fresh:1"), tmp_path)
