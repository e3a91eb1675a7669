"""Run through OpenAI's Batch API, at half the price within a day: submit, wait, collect.

This or a later session collects the batches that a session submitted.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp

from gradeschool.atomic import PREFIX, write_file, write_json
from gradeschool.errors import FatalModelError, InputError, ModelError, TransientError
from gradeschool.formats.own_run import BATCH_FILES, read_json
from gradeschool.formats.settings import mapping
from gradeschool.formats.tables import parse_line
from gradeschool.masking import masked_values
from gradeschool.models.base import Model, Request
from gradeschool.models.endpoint import Endpoint, with_retries
from gradeschool.models.openai_api import checked_body, classify, replies_in
from gradeschool.runs.send import Record, completed, failed
from gradeschool.runs.store import RunStore

STATE_FILE = "batches.json"
POLL_SECONDS = 30.0
# The server gave up on these requests; they are not failures and are sent again.
UNANSWERED = ("batch_expired", "batch_cancelled")
# Below OpenAI's limits of 50,000 lines and 200 MB per file.
MOST_LINES = 50_000
MOST_BYTES = 190_000_000
WINDOW = "24h"
WAITS = (2.0, 4.0, 8.0, 16.0, 32.0)  # seconds before a failed request is repeated
OVER = frozenset({"completed", "failed", "expired", "cancelled"})
TAG = "gradeschool"  # the field of a batch's metadata that identifies its requests
LISTED = 100


class BatchRun:
    """Sends requests in batches and records the results.

    The folder contains a file of requests for each open batch, and batches.json with the batch ids,
    so that another session can collect them. `stopping`: set it to stop waiting.
    """

    def __init__(
        self,
        model: Model,
        store: RunStore,
        record: Record,
        note: Callable[[str], None],
        stopping: asyncio.Event,
    ) -> None:
        if not isinstance(model, Endpoint):
            raise InputError(f"{model.identity!r} has no batches; leave --batch out")
        self.endpoint, self.server = model, BatchServer(model)
        self.store, self.record, self.note, self.stopping = store, record, note, stopping
        self._open: dict[str, str] = {}  # tag -> id

    async def request_all(self, requests: Sequence[Request]) -> None:
        """Submit requests that are in no open batch, wait for all batches, record their results.

        Raises FatalModelError, StoreError.
        """
        by_key = {request.key: request for request in requests}
        try:
            await self._adopt()
            submitted = {key for tag in self._open for key in _keys(self._file(tag))}
            await self._submit([request for key, request in by_key.items() if key not in submitted])
            while self._open and not self.stopping.is_set():
                for tag, id in list(self._open.items()):
                    await self._collect(tag, await self.server.look(id), by_key)
                if self._open:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self.stopping.wait(), POLL_SECONDS)
        except FatalModelError:
            raise
        except ModelError as error:
            raise FatalModelError(error.cause, f"the batches cannot be used: {error}") from error

    async def _adopt(self) -> None:
        """Find the batches of earlier sessions, even one whose id was not stored in time."""
        ids = mapping((read_json(self.store.folder / STATE_FILE) or {}).get("open"))
        for path in sorted(self.store.folder.glob(BATCH_FILES)):
            tag = path.stem.removeprefix("batch-")
            id = ids.get(tag)
            if id is None:
                batch = await self.server.find(tag)
                id = None if batch is None else batch.id
            if id is None:
                path.unlink()  # it was never submitted
            else:
                self._open[tag] = str(id)
        self._save()

    async def _submit(self, requests: Sequence[Request]) -> None:
        is_chat = bool(requests) and requests[0].prompt.is_chat
        url = "/v1/chat/completions" if is_chat else "/v1/completions"
        for lines in _files(self.endpoint, requests, url):
            body = b"".join(lines)
            tag = secrets.token_hex(16)  # new for each try: requests may be sent again
            write_file(self._file(tag), body)
            batch = await self.server.submit(self._file(tag), tag, url)
            self._open[tag] = batch.id
            self._save()
            self.note(f"submitted {len(lines)} requests as batch {batch.id}")

    async def _collect(self, tag: str, batch: BatchJob, by_key: Mapping[str, Request]) -> None:
        if not batch.over:
            progress = f"{batch.completed} of {batch.total}"
            self.note(f"batch {batch.id}: {batch.status}, {progress}")
            return
        if batch.status == "failed":
            self._close(tag)
            message = batch.message or "no reason is given"
            raise FatalModelError("batch failed", f"batch {batch.id} was refused: {message}")
        seen: Counter[str] = Counter()
        for file in batch.files:
            target = self.store.folder / f"{PREFIX}{tag}"
            await self.server.fetch(file, target)
            with target.open("rb") as lines:
                for line in lines:
                    self._take(line, by_key, seen)
            target.unlink()
        if repeated := sum(count > 1 for count in seen.values()):
            self.note(f"batch {batch.id} repeats {repeated} ids; the first result of each counts")
        self.store.sync()  # before the batch is removed from batches.json
        self._close(tag)

    def _take(self, line: bytes, by_key: Mapping[str, Request], seen: Counter[str]) -> None:
        """Record one line of results; an unreadable line leaves its sample unanswered.

        seen: how often each id was read; only its first result counts.
        """
        fields, fault = parse_line(line)
        fields = masked_values(fields)
        key = str(fields.get("custom_id"))
        request = None if fault else by_key.get(key)
        if request is None:
            return
        seen[key] += 1
        stored = self.store.completions.get(key)
        if seen[key] > 1 or (stored is not None and not stored.error):
            return
        try:
            body = _body(fields, self.endpoint.base)
            if body is not None:
                reply = replies_in(body, request)[0]
                self.record(request, completed(request, 0, reply, self.endpoint.name))
        except ModelError as error:
            self.record(request, failed(request, 0, error, self.endpoint.name))

    def _close(self, tag: str) -> None:
        del self._open[tag]
        self._save()
        self._file(tag).unlink(missing_ok=True)

    def _save(self) -> None:
        path = self.store.folder / STATE_FILE
        if self._open:
            write_json(path, {"open": self._open})
        else:
            path.unlink(missing_ok=True)

    def _file(self, tag: str) -> Path:
        return self.store.folder / f"batch-{tag}.jsonl"


def _files(endpoint: Endpoint, requests: Sequence[Request], url: str) -> Iterator[list[bytes]]:
    """Yield the lines of each file to submit."""
    lines: list[bytes] = []
    size = 0
    for request in requests:
        fields = {"custom_id": request.key, "method": "POST", "url": url}
        line = json.dumps({**fields, "body": endpoint.body_of(request)}).encode() + b"\n"
        if lines and (len(lines) == MOST_LINES or size + len(line) > MOST_BYTES):
            yield lines
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield lines


def _keys(path: Path) -> list[str]:
    with path.open("rb") as lines:
        return [str(parse_line(line)[0].get("custom_id")) for line in lines]


def _body(fields: Mapping[str, Any], base: str) -> Mapping[str, Any] | None:
    """Return the body of a line of results, None if the server gave up on the request."""
    error = fields.get("error")
    if isinstance(error, Mapping):
        if error.get("code") in UNANSWERED:
            return None
        raise ModelError("batch error", str(error.get("message") or error.get("code"))[:200])
    response = mapping(fields.get("response"))
    status, body = response.get("status_code"), response.get("body")
    if status != 200:
        code = status if isinstance(status, int) else 0
        raise classify(code, {}, json.dumps(body).encode(), base)
    return checked_body(body)


class BatchJob(NamedTuple):
    """A batch as the server describes it; `files` contain its results in any order."""

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
        """Upload a file of requests to an address ("/v1/chat/completions") and start a batch.

        tag: identifies the batch. If a batch with this tag exists, because the answer to an earlier
        try was lost, it is returned and no second one is started.
        """
        file = await with_retries(lambda: self._upload(path), WAITS)
        body = {"input_file_id": file, "endpoint": url, "completion_window": WINDOW,
                "metadata": {TAG: tag}}  # fmt: skip

        async def once() -> BatchJob:
            batch = await self.find(tag)
            if batch is not None:
                return batch
            sent = json.dumps(body).encode()
            return _batch(await self.endpoint.call("POST", "/batches", sent))

        return await with_retries(once, WAITS)

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

        return await with_retries(once, WAITS)

    async def fetch(self, file: str, target: Path) -> None:
        """Download a file of results."""

        async def once() -> None:
            with target.open("wb") as out:
                await self.endpoint.fetch("GET", f"/files/{file}/content", None, out)

        await with_retries(once, WAITS)

    async def _upload(self, path: Path) -> str:
        with path.open("rb") as file:
            form = aiohttp.FormData()
            form.add_field("purpose", "batch")
            form.add_field("file", file, filename=path.name, content_type="application/jsonl")
            reply = await self.endpoint.call("POST", "/files", form)
        if not isinstance(reply.get("id"), str):
            raise TransientError("bad response", f"the uploaded file has no id: {dict(reply)!r}")
        return str(reply["id"])


def _batch(reply: Mapping[str, Any]) -> BatchJob:
    id, status = reply.get("id"), reply.get("status")
    if not isinstance(id, str) or not isinstance(status, str):
        raise TransientError("bad response", f"the reply is not a batch: {str(dict(reply))[:80]!r}")
    metadata, counts = (mapping(reply.get(name)) for name in ("metadata", "request_counts"))
    files = (reply.get("output_file_id"), reply.get("error_file_id"))
    listed = mapping(reply.get("errors")).get("data")
    errors = listed if isinstance(listed, list) else []
    return BatchJob(
        id=id,
        status=status,
        tag=str(metadata.get(TAG, "")),
        files=tuple(file for file in files if isinstance(file, str)),
        completed=_count(counts.get("completed")) + _count(counts.get("failed")),
        total=_count(counts.get("total")),
        message="; ".join(str(mapping(entry).get("message", "")) for entry in errors)[:300],
    )


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 0
