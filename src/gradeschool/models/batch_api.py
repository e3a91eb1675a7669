"""The files and batches of an endpoint: OpenAI's Batch API, at half the price within a day."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import aiohttp

from gradeschool.errors import TransientError
from gradeschool.models.endpoint import Endpoint

# OpenAI's limits, stayed under: 50,000 lines and 200 MB a file.
MOST_LINES = 50_000
MOST_BYTES = 190_000_000
WINDOW = "24h"
TRIES = 6
WAIT_SECONDS = 2.0
OVER = frozenset({"completed", "failed", "expired", "cancelled"})
TAG = "gradeschool"  # the field of a batch's metadata that says what it holds
LISTED = 100

T = TypeVar("T")


class BatchJob(NamedTuple):
    """A batch as the server describes it; `files` hold its results, in no order."""

    id: str
    status: str
    tag: str
    files: tuple[str, ...]
    completed: int
    total: int
    message: str

    @property
    def over(self) -> bool:
        """Whether the batch has ended."""
        return self.status in OVER


class BatchServer:
    """Batches at an endpoint. Transient failures are retried; raises ModelError."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    async def submit(self, path: Path, tag: str, url: str) -> BatchJob:
        """Upload a file of requests to an address ("/v1/chat/completions"); start a batch of them.

        tag: what the batch is found by again. One of that tag that is there already, because an
        earlier try was heard and its answer was lost, is taken instead of a second one.
        """
        file = await _patiently(lambda: self._upload(path))
        body = {"input_file_id": file, "endpoint": url, "completion_window": WINDOW,
                "metadata": {TAG: tag}}  # fmt: skip

        async def once() -> BatchJob:
            batch = await self.find(tag)
            if batch is not None:
                return batch
            sent = json.dumps(body).encode()
            return _batch(await self.endpoint.call("POST", "/batches", sent))

        return await _patiently(once)

    async def find(self, tag: str) -> BatchJob | None:
        """Return the newest batch of a tag among the last hundred, or None."""
        reply = await self.endpoint.call("GET", f"/batches?limit={LISTED}", None)
        listed = [_batch(entry) for entry in reply.get("data") or () if isinstance(entry, Mapping)]
        return next(
            (entry for entry in listed if entry.tag == tag and entry.status != "failed"), None
        )

    async def look(self, id: str) -> BatchJob:
        """Return the state of a batch."""

        async def once() -> BatchJob:
            return _batch(await self.endpoint.call("GET", f"/batches/{id}", None))

        return await _patiently(once)

    async def fetch(self, file: str, target: Path) -> None:
        """Download a file of results."""

        async def once() -> None:
            with target.open("wb") as out:
                await self.endpoint.download(f"/files/{file}/content", out)

        await _patiently(once)

    async def _upload(self, path: Path) -> str:
        with path.open("rb") as file:
            form = aiohttp.FormData()
            form.add_field("purpose", "batch")
            form.add_field("file", file, filename=path.name, content_type="application/jsonl")
            reply = await self.endpoint.call("POST", "/files", form)
        if not isinstance(reply.get("id"), str):
            raise TransientError("bad response", f"the uploaded file has no id: {dict(reply)!r}")
        return str(reply["id"])


async def _patiently(work: Callable[[], Awaitable[T]]) -> T:
    for tries in range(TRIES - 1):
        try:
            return await work()
        except TransientError as error:
            wait = WAIT_SECONDS * 2**tries
            await asyncio.sleep(wait if error.retry_after is None else error.retry_after)
    return await work()


def _batch(reply: Mapping[str, Any]) -> BatchJob:
    id, status = reply.get("id"), reply.get("status")
    if not isinstance(id, str) or not isinstance(status, str):
        raise TransientError("bad response", f"the reply is no batch: {str(dict(reply))[:80]!r}")
    metadata, counts = (_fields(reply.get(name)) for name in ("metadata", "request_counts"))
    files = (reply.get("output_file_id"), reply.get("error_file_id"))
    listed = _fields(reply.get("errors")).get("data")
    errors = listed if isinstance(listed, list) else []
    return BatchJob(
        id=id,
        status=status,
        tag=str(metadata.get(TAG, "")),
        files=tuple(file for file in files if isinstance(file, str)),
        completed=_count(counts.get("completed")) + _count(counts.get("failed")),
        total=_count(counts.get("total")),
        message="; ".join(str(_fields(entry).get("message", "")) for entry in errors)[:300],
    )


def _fields(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 0
