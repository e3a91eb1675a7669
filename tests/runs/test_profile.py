"""The runs of a profile: which problems are asked, and that folders keep what they hold."""

import json
from collections import Counter
from pathlib import Path

import pytest

from gradeschool.cli.profile import paired_problems, profile_jobs
from gradeschool.datasets.load import load_dataset
from gradeschool.errors import InputError
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_protocol
from gradeschool.runs.job import Job, RunPlan, facts_of, recorded_plan


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
