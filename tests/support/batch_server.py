"""Files and batches as OpenAI serves them; loses answers and requests on demand."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

HOST = "127.0.0.1"
Result = dict[str, Any]


class BatchServer:
    """A running server: its `url`, ending in `/v1`; `batches` and `files` by id.

    polls: how often a batch is looked at before it is over. result: (question, custom_id) -> the
    line of its result, None for a request that expired. lose: whether to create the next batch and
    cut the connection instead of answering.
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
        lines = [self.files[one["input_file_id"]] for one in self.batches.values()]
        return [json.loads(line)["custom_id"] for body in lines for line in body.splitlines()]

    async def upload(self, request: web.Request) -> web.StreamResponse:
        """Take a file."""
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
        self.batches[id] = {"id": id, "status": "validating", "looks": 0, **body,
                            "request_counts": counts}  # fmt: skip
        if self.lose:
            self.lose = False
            assert request.transport is not None
            request.transport.abort()
        return web.json_response(self.batches[id])

    async def listed(self, request: web.Request) -> web.StreamResponse:
        """List the batches, the newest first."""
        return web.json_response({"data": list(reversed(self.batches.values()))})

    async def look(self, request: web.Request) -> web.StreamResponse:
        """Tell how a batch stands, and move it on."""
        batch = self.batches[request.match_info["id"]]
        batch["looks"] += 1
        batch["status"] = "in_progress"
        if self.refuse:
            batch["status"] = "failed"
            batch["errors"] = {"data": [{"message": self.refuse}]}
        elif batch["looks"] >= self.polls:
            self.end(batch)
        return web.json_response(batch)

    def end(self, batch: dict[str, Any]) -> None:
        """Answer a batch, in no order."""
        asked = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        good, failed = [], []
        for one in reversed(asked):
            question = one["body"]["messages"][-1]["content"]
            result = self.result(question, one["custom_id"])
            if result is None:
                error = {"code": "batch_expired", "message": "too late"}
                failed.append({"custom_id": one["custom_id"], "response": None, "error": error})
            elif result["status_code"] == 200:
                good.append({"custom_id": one["custom_id"], "response": result, "error": None})
            else:
                failed.append({"custom_id": one["custom_id"], "response": result, "error": None})
        batch["status"] = "expired" if any(one["error"] for one in failed) else "completed"
        for name, lines in (("output_file_id", good), ("error_file_id", failed)):
            if lines:
                id = f"file-{len(self.files)}"
                self.files[id] = "".join(json.dumps(line) + "\n" for line in lines).encode()
                batch[name] = id

    async def content(self, request: web.Request) -> web.StreamResponse:
        """Return a file."""
        return web.Response(body=self.files[request.match_info["id"]])

    async def serve(self, started: threading.Event, ended: asyncio.Event) -> None:
        """Serve until told to end."""
        app = web.Application(client_max_size=2**28)
        app.router.add_post("/v1/files", self.upload)
        app.router.add_get("/v1/files/{id}/content", self.content)
        app.router.add_post("/v1/batches", self.create)
        app.router.add_get("/v1/batches", self.listed)
        app.router.add_get("/v1/batches/{id}", self.look)
        runner = web.AppRunner(app, shutdown_timeout=0.01, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, HOST, 0).start()
        self.url = f"http://{HOST}:{runner.addresses[0][1]}/v1"
        started.set()
        await ended.wait()
        await runner.cleanup()


def answered(text: str) -> Result:
    """A result with a completion."""
    message = {"role": "assistant", "content": text}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    return {"status_code": 200, "body": {"model": "m", "choices": choices, "usage": usage}}


@contextmanager
def batch_server(
    result: Callable[[str, str], Result | None] = lambda question, id: answered("#### 1"),
    polls: int = 2,
) -> Iterator[BatchServer]:
    """A server that lives for the block."""
    server, started = BatchServer(result, polls), threading.Event()
    loop, ended = asyncio.new_event_loop(), asyncio.Event()

    def work() -> None:
        loop.run_until_complete(server.serve(started, ended))
        loop.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert started.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
