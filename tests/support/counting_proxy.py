"""A reverse proxy that logs requests and responses, and can inject faults."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from aiohttp import ClientError, ClientSession, ClientTimeout, web

from tests.support.http_server import API_ROOT, serve

# These belong to one connection, and are set again for the next.
OF_A_CONNECTION = {"connection", "content-length", "host", "keep-alive", "transfer-encoding"}

Answer: TypeAlias = tuple[int, dict[str, str], bytes]
Faults: TypeAlias = Callable[[int, dict[str, Any]], Answer | None]


@contextmanager
def counting_proxy(
    upstream: str, log: Path, delay: float = 0.0, faults: Faults | None = None
) -> Iterator[str]:
    """Run a proxy in front of `upstream` for the block; yield its base URL, ending in `/v1`.

    Every request with a JSON object as its body gets a running number from 1 and, in `log`:
    `{"event": "request", "number", "time", "path", "body"}` when it has been received, and
    `{"event": "response", "number", "time", "status", "injected", "request", "body"}` before its
    response is sent; `injected` is true for the proxy's own responses.

    delay: seconds between receiving a request and answering it. faults: called with the number and
    the body; its result, unless None, is the response. If upstream cannot be reached, the response
    is a 502.
    """
    root, numbers = upstream.removesuffix("/").removesuffix(API_ROOT), iter(range(1, 10**9))

    def write(event: str, number: int, **more: Any) -> None:
        entry = {"event": event, "number": number, "time": time.time(), **more}
        with log.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(entry) + "\n")

    async def forward(request: web.Request, content: bytes) -> tuple[Answer, bool]:
        headers = {k: v for k, v in request.headers.items() if k.lower() not in OF_A_CONNECTION}
        try:
            async with (
                ClientSession(timeout=ClientTimeout(total=None), auto_decompress=False) as session,
                session.request(
                    request.method, root + request.raw_path, headers=headers, data=content or None
                ) as answer,
            ):
                kept = {k: v for k, v in answer.headers.items() if k.lower() not in OF_A_CONNECTION}
                return (answer.status, kept, await answer.read()), False
        except ClientError as error:
            text = json.dumps({"error": {"message": f"upstream: {error}"}}).encode()
            return (502, {"Content-Type": "application/json"}, text), True

    async def handle(request: web.Request) -> web.StreamResponse:
        content = await request.read()
        body = _parse(content)
        number = next(numbers) if isinstance(body, dict) else 0
        if number:
            write("request", number, path=request.path, body=body)
            await asyncio.sleep(delay)
        fault = faults(number, body) if faults and number else None
        (status, headers, answer), injected = (
            (fault, True) if fault else await forward(request, content)
        )
        if number:
            shown = _parse(answer) or answer.decode(errors="replace")
            write("response", number, status=status, injected=injected, request=body, body=shown)
        return web.Response(status=status, headers=headers, body=answer)

    app = web.Application(client_max_size=2**30)
    app.router.add_route("*", "/{path:.*}", handle)
    with serve(app) as url:
        yield url


def read_log(log: Path, event: str | None = None) -> list[dict[str, Any]]:
    """Return the entries of a proxy's log, or those of one `event`; [] if there is no log."""
    if not log.exists():
        return []
    written, _, _ = log.read_text(encoding="utf-8").rpartition("\n")  # drop an unfinished line
    entries = [json.loads(line) for line in written.splitlines()]
    return [entry for entry in entries if event in (None, entry["event"])]


def _parse(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None
