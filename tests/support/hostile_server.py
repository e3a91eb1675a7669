"""A server that speaks the OpenAI protocol and misbehaves on demand, on a real socket."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from aiohttp import web

HOST = "127.0.0.1"
START_SECONDS = 10.0
STOP_SECONDS = 0.01
USAGE = {"prompt_tokens": 10, "completion_tokens": 5}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came: its number from 1, what it asked, and how often that came before."""

    number: int
    repeats: int
    body: Mapping[str, Any]
    authorization: str

    @property
    def question(self) -> str:
        """The prompt's last text."""
        if "prompt" in self.body:
            return str(self.body["prompt"])
        return str(self.body["messages"][-1]["content"])


Behaviour: TypeAlias = Callable[[web.Request, Asked], Awaitable[web.StreamResponse]]
Choose: TypeAlias = Callable[[Asked], Behaviour | None]


class HostileServer:
    """A running server: its base `url`, ending in `/v1`, and what it was `asked`."""

    def __init__(self, choose: Choose, delay: float) -> None:
        self.choose, self.delay = choose, delay
        self.asked: list[Asked] = []
        self.running = self.most = 0
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer as `choose` says, or as a good server would."""
        if request.method == "GET":
            return web.json_response({"data": [{"id": "hostile"}]})
        body = await request.json()
        repeats = sum(one.body == body for one in self.asked)
        authorization = request.headers.get("Authorization", "")
        asked = Asked(len(self.asked) + 1, repeats, body, authorization)
        self.asked.append(asked)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(self.delay)
            behaviour = self.choose(asked) or good()
            return await behaviour(request, asked)
        finally:
            self.running -= 1

    async def serve(self, started: threading.Event, ended: asyncio.Event) -> None:
        """Serve until told to end."""
        app = web.Application(client_max_size=2**26)
        app.router.add_route("*", "/{path:.*}", self.handle)
        runner = web.AppRunner(
            app, handler_cancellation=True, shutdown_timeout=STOP_SECONDS, access_log=None
        )
        await runner.setup()
        await web.TCPSite(runner, HOST, 0, backlog=1024).start()
        self.url = f"http://{HOST}:{runner.addresses[0][1]}/v1"
        started.set()
        await ended.wait()
        await runner.cleanup()


@contextmanager
def hostile_server(
    choose: Choose = lambda asked: None, delay: float = 0.0
) -> Iterator[HostileServer]:
    """A server that lives for the block; `choose` is called in its thread for each request."""
    server, started = HostileServer(choose, delay), threading.Event()
    loop, ended = asyncio.new_event_loop(), asyncio.Event()

    def work() -> None:
        loop.run_until_complete(server.serve(started, ended))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    if not started.wait(START_SECONDS):
        raise RuntimeError(f"the server was not ready after {START_SECONDS:.0f} seconds")
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()


def choices(asked: Asked, *texts: str) -> dict[str, Any]:
    """The body of a good reply."""
    if "prompt" in asked.body:
        found = [{"index": at, "text": text} for at, text in enumerate(texts)]
    else:
        found = [{"index": at, "message": {"content": text}} for at, text in enumerate(texts)]
    listed = [{**choice, "finish_reason": "stop"} for choice in found]
    return {"model": asked.body["model"], "choices": listed, "usage": USAGE}


def good(*texts: str) -> Behaviour:
    """Answer with these texts, or as many as were asked for."""

    async def answer(_: web.Request, asked: Asked) -> web.StreamResponse:
        said = texts or tuple(f"#### {at}" for at in range(asked.body.get("n", 1)))
        return web.json_response(choices(asked, *said))

    return answer


def status(code: int, text: str = "no", **headers: str) -> Behaviour:
    """Answer with an error, as OpenAI words it; `retry_after` becomes the header Retry-After."""

    async def answer(_: web.Request, asked: Asked) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        said = text.replace("{authorization}", asked.authorization)
        body = json.dumps({"error": {"message": said}}).encode()
        return web.Response(status=code, headers=named, body=body)

    return answer


def body(content: bytes, kind: str = "application/json") -> Behaviour:
    """Answer 200 with these bytes."""

    async def answer(_: web.Request, asked: Asked) -> web.StreamResponse:
        return web.Response(body=content, content_type=kind)

    return answer


def broken_off(sent: int = 20) -> Behaviour:
    """Announce a body, send its first bytes, and close the connection."""

    async def answer(request: web.Request, asked: Asked) -> web.StreamResponse:
        whole = json.dumps(choices(asked, "#### 1")).encode()
        response = web.StreamResponse(headers={"Content-Length": str(len(whole))})
        await response.prepare(request)
        await response.write(whole[:sent])
        assert request.transport is not None
        request.transport.abort()
        return response

    return answer


async def reset(request: web.Request, asked: Asked) -> web.StreamResponse:
    """Close the connection without a word."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def hang(request: web.Request, asked: Asked) -> web.StreamResponse:
    """Never answer."""
    await asyncio.sleep(3600)
    return web.Response()


async def drip(request: web.Request, asked: Asked) -> web.StreamResponse:
    """Send a byte now and then, for ever."""
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.02)


def huge(size: int, squeezed: bool = False) -> Behaviour:
    """Send a valid reply of so many bytes, gzipped on the way if asked."""

    async def answer(request: web.Request, asked: Asked) -> web.StreamResponse:
        import gzip

        whole = json.dumps(choices(asked, "9" * size)).encode()
        if squeezed:
            packed = gzip.compress(whole, 1)
            return web.Response(body=packed, headers={"Content-Encoding": "gzip"})
        return web.Response(body=whole)

    return answer
