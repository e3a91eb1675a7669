"""Run through OpenAI's Batch API, at half the price within a day: submit, wait, collect.

This or a later session collects the batches that a session submitted.
"""

import asyncio
import json
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp

from gradeschool.atomic import PART_PREFIX, write_file, write_json
from gradeschool.completion import Completion
from gradeschool.errors import FatalModelError, ModelError, TransientError
from gradeschool.formats.run_folder import BATCH_FILES, RunStore, read_json
from gradeschool.formats.tables import parse_line
from gradeschool.formats.values import mapping
from gradeschool.masking import masked_values
from gradeschool.models.base import Reply, Request
from gradeschool.models.endpoint import Endpoint, with_retries
from gradeschool.models.openai_api import checked_body, classify, reply_in
from gradeschool.runs.send import completion_of

STATE_FILE = "batches.json"
POLL_SECONDS = 30.0
# The server gave up on these requests; they are not failures and are sent again.
UNANSWERED = ("batch_expired", "batch_cancelled")
# Below OpenAI's limits of 50,000 lines and 200 MB per file.
MOST_LINES = 50_000
MOST_BYTES = 190_000_000
WAITS = (2.0, 4.0, 8.0, 16.0, 32.0)  # seconds before a failed request is repeated
TAG = "gradeschool"  # the field of a batch's metadata that identifies its requests


@dataclass
class BatchRun:
    """Sends requests in batches and records the results.

    The folder contains a file of requests for each open batch, and batches.json with the batch ids,
    so that another session can collect them. A batch is found again by its tag, which is in the
    name of its file. record: called with each result. note: shows a message. stopping: set when the
    user interrupts the run.
    """

    endpoint: Endpoint
    store: RunStore
    stopping: asyncio.Event
    record: Callable[[Request, Completion], None]
    note: Callable[[str], None]
    _open: dict[str, str] = field(default_factory=dict)  # tag -> id

    async def request_all(self, requests: Sequence[Request]) -> None:
        """Submit requests that are in no open batch, wait for all batches, record their results.

        Raises FatalModelError, StoreError.
        """
        submitted, folder = set[str](), self.store.folder
        ids = mapping((read_json(folder / STATE_FILE) or {}).get("open"))
        try:
            # Batches of earlier sessions, even one whose id was not stored in time.
            for path in sorted(folder.glob(BATCH_FILES)):
                tag = path.stem.removeprefix("batch-")
                if id := ids.get(tag) or (await self._find(tag) or {}).get("id"):
                    self._open[tag] = str(id)
                    with path.open("rb") as lines:
                        submitted |= {str(parse_line(line)[0].get("custom_id")) for line in lines}
                else:
                    path.unlink()  # it was never submitted
            self._save()
            # Problems with the same question share a key; a batch has each only once.
            by_key = {request.key: request for request in requests}
            await self._submit([each for key, each in by_key.items() if key not in submitted])
            while self._open and not self.stopping.is_set():
                for tag, id in list(self._open.items()):
                    await self._collect(tag, id, by_key)
                if self._open:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self.stopping.wait(), POLL_SECONDS)
        except FatalModelError:
            raise
        except ModelError as error:
            raise FatalModelError(error.cause, f"the batches cannot be used: {error}") from error

    async def _find(self, tag: str) -> dict[str, Any] | None:
        """Return the newest batch of a tag among the last hundred, or None."""
        listed = (await self.endpoint.call("GET", "/batches?limit=100")).get("data")
        for entry in listed if isinstance(listed, list) else ():
            batch = checked_batch(entry)
            if mapping(batch.get("metadata")).get(TAG) == tag and batch["status"] != "failed":
                return batch
        return None

    async def _submit(self, requests: Sequence[Request]) -> None:
        """Submit requests, each file of them as a batch."""
        lines: list[bytes] = []
        size = 0
        for number, request in enumerate(requests, start=1):
            is_chat = request.prompt.text is None
            url = f"/v1{self.endpoint.chat_path if is_chat else '/completions'}"
            fields = {"custom_id": request.key, "method": "POST", "url": url,
                      "body": self.endpoint.body_of(request)}  # fmt: skip
            lines.append(json.dumps(fields).encode() + b"\n")
            size += len(lines[-1])
            if number < len(requests) and len(lines) < MOST_LINES and size <= MOST_BYTES:
                continue
            tag = secrets.token_hex(16)  # new for each try: requests may be sent again
            write_file(self._file(tag), b"".join(lines))
            self._open[tag] = await with_retries(partial(self._start, tag, url), WAITS)
            self._save()
            self.note(f"submitted {len(lines)} requests as batch {self._open[tag]}")
            lines, size = [], 0

    async def _start(self, tag: str, url: str) -> str:
        """Return the id of the batch of a tag, which is uploaded and started if there is none.

        There is one if the answer to an earlier try was lost.
        """
        if (batch := await self._find(tag)) is None:
            path = self._file(tag)
            with path.open("rb") as lines:
                form = aiohttp.FormData()
                form.add_field("purpose", "batch")
                form.add_field("file", lines, filename=path.name, content_type="application/jsonl")
                file = (await self.endpoint.call("POST", "/files", form)).get("id")
            if not isinstance(file, str):
                raise TransientError("bad response", f"the uploaded file has no id: {file!r}")
            fields = {"input_file_id": file, "endpoint": url, "completion_window": "24h",
                      "metadata": {TAG: tag}}  # fmt: skip
            body = json.dumps(fields).encode()
            batch = checked_batch(await self.endpoint.call("POST", "/batches", body))
        return str(batch["id"])

    async def _collect(self, tag: str, id: str, by_key: Mapping[str, Request]) -> None:
        """Record the results of a batch if it has ended."""

        async def look() -> dict[str, Any]:
            return checked_batch(await self.endpoint.call("GET", f"/batches/{id}"))

        async def download(file: str) -> None:
            with target.open("wb") as out:
                await self.endpoint.call("GET", f"/files/{file}/content", None, out)

        batch = await with_retries(look, WAITS)
        if batch["status"] not in ("completed", "failed", "expired", "cancelled"):
            counts = mapping(batch.get("request_counts"))
            done, total = counts.get("completed", 0), counts.get("total", 0)
            self.note(f"batch {id}: {batch['status']}, {done} of {total}")
            return
        if batch["status"] == "failed":
            self._close(tag)
            listed = mapping(batch.get("errors")).get("data")
            errors = listed if isinstance(listed, list) else []
            words = "; ".join(str(mapping(entry).get("message", "")) for entry in errors)[:300]
            words = f"batch {id} was refused: {words or 'no reason is given'}"
            raise FatalModelError("batch failed", words)
        target, seen = self.store.folder / f"{PART_PREFIX}{tag}", Counter[str]()
        for file in (batch.get("output_file_id"), batch.get("error_file_id")):
            if isinstance(file, str):
                await with_retries(partial(download, file), WAITS)
                with target.open("rb") as results:
                    for line in results:
                        self._take(line, by_key, seen)
                target.unlink()
        if repeated := sum(count > 1 for count in seen.values()):
            self.note(f"batch {id} repeats {repeated} ids; the first result of each counts")
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
        error, response = fields.get("error"), mapping(fields.get("response"))
        status = response.get("status_code")
        if isinstance(error, Mapping) and error.get("code") in UNANSWERED:
            return
        result: Reply | ModelError
        try:
            if isinstance(error, Mapping):
                words = str(error.get("message") or error.get("code"))[:200]
                raise ModelError("batch error", words)
            if status != 200:
                raw = json.dumps(response.get("body")).encode()
                code = status if isinstance(status, int) else 0
                raise classify(code, {}, raw, self.endpoint.base, has_key=True)
            result = reply_in(checked_body(response.get("body")), request)
        except ModelError as failure:
            result = failure
        self.record(request, completion_of(request, result, self.endpoint.name))

    def _close(self, tag: str) -> None:
        """Forget a batch that has ended."""
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


def checked_batch(reply: Any) -> dict[str, Any]:
    """Return a reply that describes a batch, by id and status; raises TransientError."""
    batch = mapping(reply)
    if not isinstance(batch.get("id"), str) or not isinstance(batch.get("status"), str):
        raise TransientError("bad response", f"the reply is not a batch: {str(reply)[:80]!r}")
    return dict(batch)
