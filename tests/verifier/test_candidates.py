"""Completions of a run folder with their problems."""

from __future__ import annotations

import json
from pathlib import Path

from gradeschool.completion import Completion, Finish
from gradeschool.datasets.load import load_dataset
from gradeschool.formats.own_run import to_line
from gradeschool.verifier.candidates import candidates_of


def test_the_first_problems_are_those_of_the_dataset_not_of_the_file(tmp_path: Path) -> None:
    problems = tmp_path / "problems.jsonl"
    problems.write_text("".join(
        json.dumps({"question": f"What is {index} + 1?", "answer": f"#### {index + 1}"}) + "\n"
        for index in range(4)
    ))  # fmt: skip
    dataset = load_dataset(str(problems))
    run = tmp_path / "run"
    run.mkdir()
    manifest = {"model": "m", "dataset": {"name": str(problems), "sha256": dataset.sha256}}
    (run / "run.json").write_text(json.dumps(manifest))
    (run / "completions.jsonl").write_bytes(b"".join(
        to_line(Completion(f"key-{index}", dataset.problems[index].id, 0, "#### 1", Finish.STOP),
                dataset.problems[index].question)
        for index in (2, 0, 3, 1)
    ))  # fmt: skip
    [sampled] = candidates_of(str(run), None, print)
    of_file, first = (
        [each.problem.question for each in candidates.answered]
        for candidates in (sampled.first(None), sampled.first(2))
    )
    assert of_file == [f"What is {index} + 1?" for index in (2, 0, 3, 1)]
    assert first == ["What is 0 + 1?", "What is 1 + 1?"]
