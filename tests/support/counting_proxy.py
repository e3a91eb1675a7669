"""A reverse proxy that logs requests and responses, and can inject faults."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, TCPConnector, web

from tests.support.http_server import API_ROOT, serve

LARGEST_BODY = 2**30
BAD_GATEWAY = 502
EVENT_STREAM = "text/event-stream"
# These belong to one connection, and are set again for the next.
CONNECTION_HEADERS = {"connection", "content-length", "host", "keep-alive", "transfer-encoding"}

Answer: TypeAlias = tuple[int, dict[str, str], bytes]
Faults: TypeAlias = Callable[[int, dict[str, Any]], Answer | None]


@contextmanager
def counting_proxy(
    upstream: str, log: Path, delay: float = 0.0, faults: Faults | None = None
) -> Iterator[str]:
    """Run a proxy in front of `upstream` for the block; yield its base URL, ending in `/v1`.

    Every request with a JSON object as its body gets a running number from 1 and, in `log`:

    - `{"event": "request", "number", "time", "path", "body"}` when it has been received;
    - `{"event": "response", "number", "time", "status", "injected", "request", "body"}`
      before the end of its response is sent, so that the log is complete once a client has read
      it; `injected` is true for the proxy's own responses, `request` repeats the request's body;
    - `{"event": "dropped", "number", "time"}` instead, when the client disconnected, the block
      ended, or upstream broke off a stream of events.

    delay: seconds between receiving a request and answering it. faults: called with the number and
    the body, in the proxy's thread; its result, unless None, is the response. If upstream cannot be
    reached, the response is a 502. Leaving the block drops open connections. Other requests pass
    without a number or an entry.
    """
    with log.open("a", encoding="utf-8") as lines:
        proxy = _Proxy(upstream.removesuffix("/").removesuffix(API_ROOT), lines, delay, faults)
        with serve(proxy.application()) as url:
            yield url


def read_log(log: Path, event: str | None = None) -> list[dict[str, Any]]:
    """Return the entries of a proxy's log, or those of one `event`; [] if there is no log."""
    if not log.exists():
        return []
    written, _, _ = log.read_text(encoding="utf-8").rpartition("\n")  # drop an unfinished line
    entries = [json.loads(line) for line in written.splitlines()]
    return [entry for entry in entries if event in (None, entry["event"])]


class _Proxy:
    """The state of a proxy; it belongs to the event loop of the server's thread."""

    def __init__(self, root: str, lines: IO[str], delay: float, faults: Faults | None) -> None:
        self.root, self.lines, self.delay, self.faults = root, lines, delay, faults
        self.requests = 0

    def application(self) -> web.Application:
        """Return the application that proxies every path."""
        app = web.Application(client_max_size=LARGEST_BODY)
        app.router.add_route("*", "/{path:.*}", self.handle)
        app.cleanup_ctx.append(self.open_session)
        return app

    async def open_session(self, _: web.Application) -> AsyncIterator[None]:
        """Connect to upstream for as long as the application runs."""
        async with ClientSession(
            connector=TCPConnector(limit=0),
            timeout=ClientTimeout(total=None),
            auto_decompress=False,
        ) as self.session:
            yield

    def write(self, event: str, number: int, **more: Any) -> None:
        """Append one line to the log."""
        entry = {"event": event, "number": number, "time": time.time(), **more}
        self.lines.write(json.dumps(entry) + "\n")
        self.lines.flush()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Forward a request, or respond with a fault."""
        content = await request.read()
        body = _parse(content)
        if not isinstance(body, dict):
            return await self.forward(request, content, 0, None)
        self.requests += 1
        number = self.requests
        self.write("request", number, path=request.path, body=body)
        try:
            await asyncio.sleep(self.delay)
            fault = self.faults(number, body) if self.faults else None
            if fault is None:
                return await self.forward(request, content, number, body)
            status, headers, answer = fault
            self.finish(number, body, status, answer, injected=True)
            return web.Response(status=status, headers=headers, body=answer)
        except (asyncio.CancelledError, ConnectionError, ClientError):
            self.write("dropped", number)
            raise

    def finish(
        self, number: int, body: Any, status: int, answer: bytes, injected: bool = False
    ) -> None:
        """Log the response to request `number`; 0 for a request without a number."""
        if number:
            content = _parse(answer)
            content = answer.decode(errors="replace") if content is None else content
            self.write(
                "response", number, status=status, injected=injected, request=body, body=content
            )

    async def forward(
        self, request: web.Request, content: bytes, number: int, body: Any
    ) -> web.StreamResponse:
        """Send a request to upstream and return its response, 502 if there is none."""
        try:
            answer = await self.session.request(
                request.method,
                self.root + request.raw_path,
                headers=_passed_on(request.headers),
                data=content or None,
            )
            response_body = None if answer.content_type == EVENT_STREAM else await answer.read()
        except ClientError as error:
            text = json.dumps({"error": {"message": f"upstream: {error}"}}).encode()
            self.finish(number, body, BAD_GATEWAY, text, injected=True)
            return web.Response(status=BAD_GATEWAY, body=text, content_type="application/json")
        if response_body is None:
            async with answer:
                return await self.relay(request, answer, number, body)
        self.finish(number, body, answer.status, response_body)
        headers = _passed_on(answer.headers)
        return web.Response(status=answer.status, headers=headers, body=response_body)

    async def relay(
        self, request: web.Request, answer: ClientResponse, number: int, body: Any
    ) -> web.StreamResponse:
        """Stream upstream's events as they arrive."""
        response = web.StreamResponse(status=answer.status, headers=_passed_on(answer.headers))
        await response.prepare(request)
        pieces = []
        async for piece in answer.content.iter_any():
            pieces.append(piece)
            await response.write(piece)
        self.finish(number, body, answer.status, b"".join(pieces))
        return response


def _parse(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _passed_on(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    return [pair for pair in headers.items() if pair[0].lower() not in CONNECTION_HEADERS]
