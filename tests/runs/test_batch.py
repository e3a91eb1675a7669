"""Runs by way of the Batch API: submitted once, collected by whichever session lives."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gradeschool.runs import batch
from gradeschool.runs.batch import BatchRun
from tests.support.batch_server import Result, answered, batch_server
from tests.support.command import Command
from tests.support.fault_server import KEY, write_sums
from tests.support.files import jsonl

PROBLEMS = 30


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(batch, "WAITS", [0.01] * 5)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    return write_sums(tmp_path / "problems.jsonl", PROBLEMS)


def evaluated(
    gradeschool: Command, url: str, problems: Path, folder: Path, *more: object
) -> tuple[int, str, dict[str, Any]]:
    os.environ["OPENAI_BASE_URL"] = url  # the fixture of the environment puts it back
    result = gradeschool("eval", "-m", "openai/m", "-d", problems, "-o", folder, "--batch", *more)
    results = folder / "results.json"
    return result.status, result.err, json.loads(results.read_text()) if results.exists() else {}


def right(question: str, id: str) -> Result:
    return answered(f"#### {question.split('What is ')[1].split()[0]}")


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_run_is_submitted_waited_for_and_scored(
    gradeschool: Command, problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MOST_LINES", 12)
    folder = tmp_path / "run"
    with batch_server(right, polls=3) as server:
        status, stderr, fields = evaluated(gradeschool, server.url, problems, folder)
        again = evaluated(gradeschool, server.url, problems, folder)
    assert (status, again[0]) == (0, 0), stderr
    assert len(server.batches) == 3
    assert len(server.submitted) == len(set(server.submitted)) == PROBLEMS
    assert (fields["n"], fields["missing"]) == (PROBLEMS, 0)
    assert fields["scorers"]["gradeschool/reader"]["correct"] == PROBLEMS
    assert fields["completion_tokens"] == 5 * PROBLEMS
    assert "submitted 12 requests as batch batch-0" in stderr
    assert "batch batch-0: in_progress" in stderr
    assert files(folder) == {"run.json", "completions.jsonl", "results.json"}
    everything = "".join(path.read_text() for path in folder.iterdir())
    assert KEY not in everything + stderr


def test_a_question_given_twice_is_one_request(gradeschool: Command, tmp_path: Path) -> None:
    """The server refuses a file in which an id is there twice."""
    rows = [{"question": f"What is {n} + 0?", "answer": str(n)} for n in (1, 2, 1)]
    with batch_server(right) as server:
        problems = jsonl(tmp_path / "problems.jsonl", rows)
        status, stderr, fields = evaluated(gradeschool, server.url, problems, tmp_path / "run")
    assert (status, fields["n"], fields["missing"]) == (0, 3, 0), stderr
    assert len(server.submitted) == len(set(server.submitted)) == 2


def test_failed_requests_are_resent(gradeschool: Command, problems: Path, tmp_path: Path) -> None:
    healed = False

    def result(question: str, id: str) -> Result | None:
        if not healed and "What is 3 +" in question:
            return {"status_code": 400, "body": {"error": {"message": "too long"}}}
        if not healed and "What is 5 +" in question:
            return None
        return right(question, id)

    with batch_server(result) as server:
        status, _, fields = evaluated(gradeschool, server.url, problems, tmp_path / "run")
        assert status == 3
        assert (fields["errors"], fields["missing"]) == ({"http 400": 1}, 1)
        healed = True
        status, _, fields = evaluated(gradeschool, server.url, problems, tmp_path / "run")
    assert (status, fields["missing"], fields["failed"]) == (0, 0, 0)
    assert len(server.submitted) == PROBLEMS + 2


def test_open_batches_need_the_option(gradeschool: Command, problems: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with batch_server(right) as server:
        evaluated(gradeschool, server.url, problems, folder, "-n", 3)
        (folder / "batch-7.jsonl").write_text("{}\n")
        result = gradeschool("eval", "-m", "openai/m", "-d", problems, "-o", folder)
    assert result.status == 2
    assert "has an open batch (batch-7.jsonl); collect it with --batch" in result.err


def test_a_lost_batch_is_found_again(gradeschool: Command, problems: Path, tmp_path: Path) -> None:
    with batch_server(right) as server:
        server.lose = True
        status, stderr, _ = evaluated(gradeschool, server.url, problems, tmp_path / "run")
    assert status == 0, stderr
    assert len(server.batches) == 1


class Killed(BaseException):
    """Ends a session as a kill would: nobody catches it."""


STAGES = ("submitted, the id not written", "waiting", "collected, the batch not closed")


@pytest.mark.parametrize("stage", STAGES)
def test_a_session_that_dies_is_followed_by_one_that_collects_and_pays_nothing_twice(
    stage: str,
    gradeschool: Command,
    problems: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "run"

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched, batch_server(right) as server:
        if stage == STAGES[0]:
            whole = BatchRun._save
            patched.setattr(BatchRun, "_save", lambda self: die() if self._open else whole(self))
        elif stage == STAGES[1]:
            patched.setattr(BatchRun, "_collect", die)
        else:
            patched.setattr(BatchRun, "_close", die)
        with pytest.raises(Killed):
            evaluated(gradeschool, server.url, problems, folder)
        patched.undo()
        short = pytest.MonkeyPatch()
        short.setattr(batch, "POLL_SECONDS", 0.01)
        short.setenv("OPENAI_API_KEY", KEY)
        status, stderr, fields = evaluated(gradeschool, server.url, problems, folder)
        short.undo()
    assert status == 0, stderr
    assert (fields["n"], fields["missing"]) == (PROBLEMS, 0)
    assert len(server.batches) == 1
    assert len((folder / "completions.jsonl").read_bytes().splitlines()) == PROBLEMS


def test_the_first_result_counts(gradeschool: Command, problems: Path, tmp_path: Path) -> None:
    with batch_server(right) as server:
        end = server.end

        def twice(entry: dict[str, Any]) -> None:
            end(entry)
            lines = server.files[entry["output_file_id"]]
            server.files[entry["output_file_id"]] = lines + lines.replace(b"####", b"#### 7")

        server.end = twice  # type: ignore[method-assign,assignment]
        status, stderr, fields = evaluated(gradeschool, server.url, problems, tmp_path / "run")
    assert status == 0, stderr
    assert "repeats 30 ids; the first result of each counts" in stderr
    assert fields["scorers"]["gradeschool/reader"]["correct"] == PROBLEMS


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ({"error": {"message": "overloaded"}, "choices": []}, "server error"),
        ({"choices": [{"message": {"content": []}, "finish_reason": "stop"}]}, "bad response"),
        ({"choices": []}, "bad response"),
        ([], "bad response"),
    ],
)
def test_a_result_has_the_checks_of_a_live_reply(
    body: Any, cause: str, gradeschool: Command, problems: Path, tmp_path: Path
) -> None:
    result: Result = {"status_code": 200, "body": body}
    with batch_server(lambda question, id: result) as server:
        status, _, fields = evaluated(gradeschool, server.url, problems, tmp_path / "run")
    assert (status, fields["errors"]) == (3, {cause: PROBLEMS})


def test_a_refused_batch_is_told(gradeschool: Command, problems: Path, tmp_path: Path) -> None:
    with batch_server() as server:
        server.refuse = "the enqueued token limit is reached"
        status, stderr, _ = evaluated(gradeschool, server.url, problems, tmp_path / "run")
        assert status == 2
        assert "the enqueued token limit is reached" in stderr
        server.refuse = ""
        status, _, fields = evaluated(gradeschool, server.url, problems, tmp_path / "run")
    assert (status, fields["missing"]) == (0, 0)
