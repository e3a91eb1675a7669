"""Completions of a run folder with their problems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from gradeschool.completion import Completion, Finish, Usage
from gradeschool.datasets.load import load_dataset
from gradeschool.formats.own_run import to_line
from gradeschool.formats.values import ReadOptions
from gradeschool.scoring.candidates import read_candidates
from gradeschool.scoring.sources import load_runs
from tests.support.files import jsonl


def dataset_file(folder: Path, questions: Sequence[str]) -> Path:
    rows = [{"question": question, "answer": f"#### {index + 1}"}
            for index, question in enumerate(questions)]  # fmt: skip
    return jsonl(folder / "problems.jsonl", rows)


def run_folder(folder: Path, problems: Path, completions: Sequence[Completion]) -> Path:
    """A run folder with these completions, whose problem ids are places in the file."""
    dataset = load_dataset(str(problems))
    run = folder / "run"
    run.mkdir()
    manifest = {"model": "m", "dataset": {"name": str(problems), "sha256": dataset.sha256}}
    (run / "run.json").write_text(json.dumps(manifest))
    (run / "completions.jsonl").write_bytes(b"".join(
        to_line(each, dataset.problems[int(each.problem_id)].question) for each in completions
    ))  # fmt: skip
    return run


def completion(problem: int, text: str, error: str = "", sample: int = 0) -> Completion:
    key = f"key-{problem}-{sample}"
    return Completion(key, str(problem), sample, text, Finish.STOP, Usage(7, 5), error=error)


def test_the_candidates_are_the_completions_that_are_scored(tmp_path: Path) -> None:
    """A row that was changed after it was stored counts nowhere, as in `gradeschool score`."""
    problems = dataset_file(tmp_path, [f"What is {index} + 1?" for index in range(4)])
    stored = [
        completion(0, "", "http 500: no"),
        completion(1, "#### 2"),
        completion(0, "#### 1"),
        completion(2, "#### 4"),
        completion(3, "", "http 500: no"),
    ]
    file = run_folder(tmp_path, problems, stored) / "completions.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:3], lines[3].replace(b"#### 4", b"#### 3"), lines[4][:40]]))
    warnings: list[str] = []
    [scored] = load_runs(file.parent, ReadOptions(), lambda _: None)
    for path in (file.parent, file):
        [sampled] = read_candidates(str(path), ReadOptions(), warnings.append)
        candidates = [each for problem in sampled.answered for each in problem.candidates]
        assert [each.text for each in candidates] == ["#### 1", "#### 2"]
        assert [each.key for each in candidates] == ["key-0-0", "key-1-0"]
        assert all(each.right for each in candidates)
        assert sampled.failed == len(scored.samples) - len(candidates) == 1
    assert any("row 4" in warning and "changed" in warning for warning in warnings)


def test_two_problems_with_the_same_question_are_told_apart_by_their_ids(tmp_path: Path) -> None:
    problems = dataset_file(tmp_path, ["What is the sum?", "What is the sum?"])
    run = run_folder(tmp_path, problems, [completion(0, "#### 1"), completion(1, "#### 1")])
    [sampled] = read_candidates(str(run), ReadOptions(), print)
    assert [each.outcome for each in sampled.answered] == [(1, 1), (0, 1)]
