"""Check the answers file of a run, and which of its samples are scored."""

from __future__ import annotations

import json
from pathlib import Path

from gradeschool.completion import Completion, Decoding, Finish, Prompt
from gradeschool.models.base import Request
from gradeschool.problem import Problem
from gradeschool.runs.results import answers_file, run_for_scoring


def test_an_answers_file_numbers_the_problems(tmp_path: Path) -> None:
    """A problem with an id that is no number has its place in the run, whatever the samples."""
    problems = [Problem(id, f"{id}?", "1", "") for id in ("a", "b", "c")]
    requests = [
        Request(problem, Prompt(text="?"), Decoding(), (f"{problem.id}{sample}",), (sample,))
        for problem in problems
        for sample in range(2)
    ]
    completions = {
        request.key: Completion(key=request.key, problem_id=request.problem.id,
                                sample=request.sample, text="1", finish=Finish.STOP)
        for request in requests
    }  # fmt: skip
    _, content = answers_file("{model}", "m", requests, completions)
    numbers = [json.loads(line)["question_id"] for line in content.splitlines()]
    assert numbers == ["0000", "0001", "0002"]


def test_an_answers_file_holds_the_first_sample_of_each_answered_problem() -> None:
    problems = [Problem(id, f"{id}?", "1", "") for id in ("7", "8", "9")]
    requests = [
        Request(problem, Prompt(text="?"), Decoding(), (f"{problem.id}-{sample}",), (sample,))
        for problem in problems
        for sample in range(2)
    ]
    completions = {
        key: Completion(key, key[0], int(key[2]), text, Finish.STOP, error=error)
        for key, text, error in (
            ("7-0", " first \n", ""), ("7-1", "second", ""), ("8-0", "", "timeout: x"),
        )
    }  # fmt: skip
    name, content = answers_file("{model}-answers.jsonl", "org/m 7", requests, completions)
    assert name.endswith("-answers.jsonl") and "/" not in name and "{" not in name
    assert [json.loads(line) for line in content.splitlines()] == [
        {"question_id": "0007", "question": "7?", "answer": "first"}
    ]


def test_requests_without_an_answer_are_no_samples_of_a_run() -> None:
    problem = Problem("7", "7?", "1", "")
    requests = [Request(problem, Prompt(text="?"), Decoding(), (str(n),), (n,)) for n in range(4)]
    completions = {
        "1": Completion("1", "7", 1, "#### 1", Finish.LENGTH),
        "3": Completion("3", "7", 3, "", Finish.STOP, error="timeout: x"),
    }
    samples = run_for_scoring("mine", requests, completions).samples
    assert [(each.sample, each.row, each.text, each.error, each.finish) for each in samples] == [
        (1, 2, "#### 1", "", Finish.LENGTH), (3, 4, "", "timeout: x", Finish.STOP),
    ]  # fmt: skip
