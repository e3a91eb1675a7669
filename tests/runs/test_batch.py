"""Runs by way of the Batch API: submitted once, collected by whichever session lives.

The server here is like OpenAI's, and loses answers and requests on demand.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from gradeschool.runs import batch
from gradeschool.runs.batch import BatchRun
from tests.support.command import Command
from tests.support.fault_server import KEY, write_sums
from tests.support.files import jsonl
from tests.support.http_server import serve

PROBLEMS = 30
Result = dict[str, Any]


class BatchServer:
    """A running server: its `url`, which ends in `/v1`; `batches` and `files` by id.

    result: (question, custom_id) -> the line of its result, None for a request that expired.
    polls: how often the status of a batch is requested before it has ended. lose: whether to cut
    the connection after creating the next batch. refuse: the error of every batch, "" for none.
    """

    def __init__(self, result: Callable[[str, str], Result | None], polls: int) -> None:
        self.result, self.polls = result, polls
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.lose, self.refuse, self.url = False, "", ""

    @property
    def submitted(self) -> list[str]:
        """The custom ids of all requests in all batches."""
        return [line["custom_id"] for batch in self.batches.values() for line in self.lines(batch)]

    def lines(self, batch: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the requests of a batch."""
        return [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]

    def store(self, body: bytes) -> str:
        """Store a file and return its id."""
        self.files[id := f"file-{len(self.files)}"] = body
        return id

    async def upload(self, request: web.Request) -> web.StreamResponse:
        """Store a file."""
        form = await request.post()
        file = form["file"]
        assert isinstance(file, web.FileField)
        assert form["purpose"] == "batch"
        return web.json_response({"id": self.store(file.file.read()), "object": "file"})

    async def create(self, request: web.Request) -> web.StreamResponse:
        """Create a batch."""
        body = await request.json()
        lines = self.lines(body)
        assert all(line["url"] == body["endpoint"] for line in lines)
        assert body["completion_window"] == "24h"
        counts = {"total": len(lines), "completed": 0, "failed": 0}
        id = f"batch-{len(self.batches)}"
        self.batches[id] = {"id": id, "status": "validating", "polls": 0, **body,
                            "request_counts": counts}  # fmt: skip
        if self.lose:
            self.lose = False
            assert request.transport is not None
            request.transport.abort()
        return web.json_response(self.batches[id])

    async def read(self, request: web.Request) -> web.StreamResponse:
        """Return a file, the batches (newest first), or the status of one, which advances it."""
        id = request.match_info.get("id")
        if id is None:
            return web.json_response({"data": list(reversed(self.batches.values()))})
        if id in self.files:
            return web.Response(body=self.files[id])
        batch = self.batches[id]
        batch["polls"] += 1
        batch["status"] = "in_progress"
        if self.refuse:
            batch |= {"status": "failed", "errors": {"data": [{"message": self.refuse}]}}
        elif batch["polls"] >= self.polls:
            self.end(batch)
        return web.json_response(batch)

    def end(self, batch: dict[str, Any]) -> None:
        """End a batch, with its results in reverse order."""
        files: dict[str, list[Result]] = {"output_file_id": [], "error_file_id": []}
        batch["status"] = "completed"
        for request in reversed(self.lines(batch)):
            id, question = request["custom_id"], request["body"]["messages"][-1]["content"]
            result, error = self.result(question, id), None
            if result is None:
                batch["status"] = "expired"
                error = {"code": "batch_expired", "message": "too late"}
            good = result is not None and result["status_code"] == 200
            line = {"custom_id": id, "response": result, "error": error}
            files["output_file_id" if good else "error_file_id"].append(line)
        for name, lines in files.items():
            if lines:
                batch[name] = self.store("".join(json.dumps(row) + "\n" for row in lines).encode())


def answered(text: str) -> Result:
    """Return a result with a completion."""
    message = {"role": "assistant", "content": text}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    return {"status_code": 200, "body": {"model": "m", "choices": choices, "usage": usage}}


@contextmanager
def batch_server(
    result: Callable[[str, str], Result | None] = lambda question, id: answered("#### 1"),
    polls: int = 2,
) -> Iterator[BatchServer]:
    """Serve the batch API for the block."""
    server = BatchServer(result, polls)
    app = web.Application(client_max_size=2**28)
    app.router.add_post("/v1/files", server.upload)
    app.router.add_post("/v1/batches", server.create)
    for path in ("/v1/batches", "/v1/batches/{id}", "/v1/files/{id}/content"):
        app.router.add_get(path, server.read)
    with serve(app) as server.url:
        yield server


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


def test_a_run_is_submitted_and_scored(
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
