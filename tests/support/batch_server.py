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
        self.lose = False
        self.refuse = ""
        self.url = ""

    @property
    def submitted(self) -> list[str]:
        """The custom ids of all requests in all batches."""
        lines = [self.files[batch["input_file_id"]] for batch in self.batches.values()]
        return [json.loads(line)["custom_id"] for body in lines for line in body.splitlines()]

    async def upload(self, request: web.Request) -> web.StreamResponse:
        """Store a file."""
        form = await request.post()
        file = form["file"]
        assert isinstance(file, web.FileField)
        assert form["purpose"] == "batch"
        id = f"file-{len(self.files)}"
        self.files[id] = file.file.read()
        return web.json_response({"id": id, "object": "file"})

    async def create(self, request: web.Request) -> web.StreamResponse:
        """Create a batch."""
        body = await request.json()
        lines = self.files[body["input_file_id"]].splitlines()
        assert all(json.loads(line)["url"] == body["endpoint"] for line in lines)
        assert body["completion_window"] == "24h"
        id = f"batch-{len(self.batches)}"
        counts = {"total": len(lines), "completed": 0, "failed": 0}
        self.batches[id] = {"id": id, "status": "validating", "polls": 0, **body,
                            "request_counts": counts}  # fmt: skip
        if self.lose:
            self.lose = False
            assert request.transport is not None
            request.transport.abort()
        return web.json_response(self.batches[id])

    async def batch_list(self, request: web.Request) -> web.StreamResponse:
        """List the batches, newest first."""
        return web.json_response({"data": list(reversed(self.batches.values()))})

    async def status(self, request: web.Request) -> web.StreamResponse:
        """Return the status of a batch, and advance it."""
        batch = self.batches[request.match_info["id"]]
        batch["polls"] += 1
        batch["status"] = "in_progress"
        if self.refuse:
            batch["status"] = "failed"
            batch["errors"] = {"data": [{"message": self.refuse}]}
        elif batch["polls"] >= self.polls:
            self.end(batch)
        return web.json_response(batch)

    def end(self, batch: dict[str, Any]) -> None:
        """End a batch, with its results in reverse order."""
        requests = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        good: list[Result] = []
        failed: list[Result] = []
        for request in reversed(requests):
            id, question = request["custom_id"], request["body"]["messages"][-1]["content"]
            result = self.result(question, id)
            line = {"custom_id": id, "response": result, "error": None}
            if result is None:
                line["error"] = {"code": "batch_expired", "message": "too late"}
            (good if result and result["status_code"] == 200 else failed).append(line)
        batch["status"] = "expired" if any(line["error"] for line in failed) else "completed"
        for name, lines in (("output_file_id", good), ("error_file_id", failed)):
            if lines:
                id = f"file-{len(self.files)}"
                self.files[id] = "".join(json.dumps(line) + "\n" for line in lines).encode()
                batch[name] = id

    async def content(self, request: web.Request) -> web.StreamResponse:
        """Return a file."""
        return web.Response(body=self.files[request.match_info["id"]])

    def application(self) -> web.Application:
        """Return the routes of the API."""
        app = web.Application(client_max_size=2**28)
        app.router.add_post("/v1/files", self.upload)
        app.router.add_get("/v1/files/{id}/content", self.content)
        app.router.add_post("/v1/batches", self.create)
        app.router.add_get("/v1/batches", self.batch_list)
        app.router.add_get("/v1/batches/{id}", self.status)
        return app


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
    with serve(server.application()) as server.url:
        yield server
