"""A reverse proxy that writes down what was asked and answered, and can answer with faults."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, TCPConnector, web

HOST = "127.0.0.1"
API_ROOT = "/v1"
LARGEST_BODY = 2**30
BAD_GATEWAY = 502
START_SECONDS = 10.0
STOP_SECONDS = 0.01  # aiohttp takes zero to mean for ever
EVENT_STREAM = "text/event-stream"
# These belong to one connection, and are set anew for the next.
CONNECTION_HEADERS = {"connection", "content-length", "host", "keep-alive", "transfer-encoding"}

Answer: TypeAlias = tuple[int, dict[str, str], bytes]
Faults: TypeAlias = Callable[[int, dict[str, Any]], Answer | None]


@contextmanager
def counting_proxy(
    upstream: str, log: Path, delay: float = 0.0, faults: Faults | None = None
) -> Iterator[str]:
    """The base URL, ending in `/v1`, of a proxy before `upstream` that lives for the block.

    Every request with a JSON object as its body gets a running number from 1 and, in `log`:

    - `{"event": "request", "number", "time", "path", "body"}` when it has been received;
    - `{"event": "response", "number", "time", "status", "injected", "request", "body"}`
      before the end of its answer is sent, so what a client has read to its end is written
      down; `injected` says that the proxy itself answered, `request` repeats the request's body;
    - `{"event": "dropped", "number", "time"}` instead, when the client left, the block ended, or
      upstream broke off a stream of events.

    `delay` seconds pass between receiving a request and answering it. `faults` is called, in
    the proxy's thread, with the number and the body; what it returns, if anything, is the
    answer. Where upstream cannot be reached, a 502 is. Leaving the block drops the connections
    that are still open. Other requests pass unnumbered and unwritten.
    """
    with log.open("a", encoding="utf-8") as lines:
        proxy = _Proxy(upstream.removesuffix("/").removesuffix(API_ROOT), lines, delay, faults)
        started = threading.Event()
        thread = threading.Thread(target=lambda: asyncio.run(proxy.run(started)), daemon=True)
        thread.start()
        if not started.wait(START_SECONDS):
            raise RuntimeError(f"the proxy was not ready after {START_SECONDS:.0f} seconds")
        try:
            yield f"http://{HOST}:{proxy.port}{API_ROOT}"
        finally:
            proxy.loop.call_soon_threadsafe(proxy.ended.set)
            thread.join()


def read_log(log: Path, event: str | None = None) -> list[dict[str, Any]]:
    """The lines of a proxy's log, or those of one `event`; none when there is no log yet."""
    if not log.exists():
        return []
    written, _, _ = log.read_text(encoding="utf-8").rpartition("\n")  # the rest is not all there
    entries = [json.loads(line) for line in written.splitlines()]
    return [entry for entry in entries if event in (None, entry["event"])]


class _Proxy:
    """The proxy's state; all but `run`'s arguments belongs to its thread's event loop."""

    def __init__(self, root: str, lines: IO[str], delay: float, faults: Faults | None) -> None:
        self.root, self.lines, self.delay, self.faults = root, lines, delay, faults
        self.requests = 0
        self.port = 0

    async def run(self, started: threading.Event) -> None:
        """Serve until `ended` is set."""
        self.loop, self.ended = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=LARGEST_BODY)
        app.router.add_route("*", "/{path:.*}", self.handle)
        # Cancelled handlers close their own request, so the server stops writing as well.
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=STOP_SECONDS)
        async with ClientSession(
            connector=TCPConnector(limit=0),
            timeout=ClientTimeout(total=None),
            auto_decompress=False,
        ) as self.session:
            await runner.setup()
            site = web.TCPSite(runner, HOST, 0)
            await site.start()
            self.port = runner.addresses[0][1]
            started.set()
            await self.ended.wait()
            await runner.cleanup()

    def write(self, event: str, number: int, **more: Any) -> None:
        """Append one line to the log."""
        entry = {"event": event, "number": number, "time": time.time(), **more}
        self.lines.write(json.dumps(entry) + "\n")
        self.lines.flush()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Pass one request on, or answer it with a fault."""
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
        """Write down that request `number` has been answered; 0 stands for no request."""
        if number:
            told = _parse(answer)
            told = answer.decode(errors="replace") if told is None else told
            self.write(
                "response", number, status=status, injected=injected, request=body, body=told
            )

    async def forward(
        self, request: web.Request, content: bytes, number: int, body: Any
    ) -> web.StreamResponse:
        """Ask upstream and pass its answer on; 502 when there is none."""
        try:
            answer = await self.session.request(
                request.method,
                self.root + request.raw_path,
                headers=_passed_on(request.headers),
                data=content or None,
            )
            told = None if answer.content_type == EVENT_STREAM else await answer.read()
        except ClientError as error:
            text = json.dumps({"error": {"message": f"upstream: {error}"}}).encode()
            self.finish(number, body, BAD_GATEWAY, text, injected=True)
            return web.Response(status=BAD_GATEWAY, body=text, content_type="application/json")
        if told is None:
            async with answer:
                return await self.relay(request, answer, number, body)
        self.finish(number, body, answer.status, told)
        headers = _passed_on(answer.headers)
        return web.Response(status=answer.status, headers=headers, body=told)

    async def relay(
        self, request: web.Request, answer: ClientResponse, number: int, body: Any
    ) -> web.StreamResponse:
        """Pass upstream's events on as they come."""
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
