"""A server of files and batches like OpenAI's, which loses answers and requests on demand."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from tests.support.http_server import serve

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
