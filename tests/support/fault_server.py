"""A server that speaks the OpenAI protocol and fails on demand, on a real socket.

FAULTS lists every fault with its effect in gradeschool: the stored row, and whether the request is
sent again. docs/runs.md shows the table beside other tools.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from aiohttp import ClientSession, web

from gradeschool.models.endpoint import Endpoint
from gradeschool.runs.evaluate import Evaluation, evaluate
from gradeschool.runs.job import Job, prepare
from tests.support.files import jsonl
from tests.support.http_server import API_ROOT, serve

KEY = "sk-canary-4815162342"
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A received request: its number from 1, its fields, how often that body came before."""

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


Behaviour: TypeAlias = Callable[[web.Request, ReceivedRequest], Awaitable[web.StreamResponse]]
Choose: TypeAlias = Callable[[ReceivedRequest], Behaviour | None]


class FaultServer:
    """A running server: its `url`, ending in `/v1`, its `requests`, how many are `answered`."""

    def __init__(self, choose: Choose, delay: float) -> None:
        self.choose, self.delay = choose, delay
        self.requests: list[ReceivedRequest] = []
        self.running = self.most = self.answered = 0
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer as `choose` says, or like a good server."""
        if request.method == "GET":
            return web.json_response({"data": [{"id": "faulty"}]})
        body = await request.json()
        repeats = sum(earlier.body == body for earlier in self.requests)
        authorization = request.headers.get("Authorization", "")
        received = ReceivedRequest(len(self.requests) + 1, repeats, body, authorization)
        self.requests.append(received)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(self.delay)
            behaviour = self.choose(received) or good()
            response = await behaviour(request, received)
            self.answered += 1
            return response
        finally:
            self.running -= 1

    def application(self) -> web.Application:
        """Return the application that answers every path."""
        app = web.Application(client_max_size=2**26)
        app.router.add_route("*", "/{path:.*}", self.handle)
        return app


@contextmanager
def fault_server(
    choose: Choose = lambda received: None, delay: float = 0.0
) -> Iterator[FaultServer]:
    """Run a server for the block; `choose` is called in its thread for each request."""
    server = FaultServer(choose, delay)
    with serve(server.application()) as server.url:
        yield server


def choices(received: ReceivedRequest, *texts: str) -> dict[str, Any]:
    """Return the body of a good reply."""
    if "prompt" in received.body:
        forms: list[dict[str, Any]] = [{"text": text} for text in texts]
    else:
        forms = [{"message": {"role": "assistant", "content": text}} for text in texts]
    listed = [{"index": index, **form, "finish_reason": "stop"} for index, form in enumerate(forms)]
    id = f"reply-{received.number}"
    kind = "text_completion" if "prompt" in received.body else "chat.completion"
    fields = {"id": id, "object": kind, "created": received.number, "model": received.body["model"]}
    return {**fields, "choices": listed, "usage": USAGE}


def good(*texts: str) -> Behaviour:
    """Answer with these texts, by default one."""

    async def answer(_: web.Request, received: ReceivedRequest) -> web.StreamResponse:
        return web.json_response(choices(received, *(texts or ("#### 0",))))

    return answer


def status(code: int, text: str = "no", **headers: str) -> Behaviour:
    """Answer with an error in OpenAI's form; `retry_after` becomes the header Retry-After."""

    async def answer(_: web.Request, received: ReceivedRequest) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        message = text.replace("{authorization}", received.authorization)
        body = json.dumps({"error": {"message": message}}).encode()
        return web.Response(status=code, headers=named, body=body)

    return answer


def body(content: bytes, kind: str = "application/json") -> Behaviour:
    """Answer 200 with these bytes."""

    async def answer(_: web.Request, received: ReceivedRequest) -> web.StreamResponse:
        return web.Response(body=content, content_type=kind)

    return answer


def broken_off(sent: int = 20) -> Behaviour:
    """Announce a body, send its first bytes, and close the connection."""

    async def answer(request: web.Request, received: ReceivedRequest) -> web.StreamResponse:
        whole = json.dumps(choices(received, "#### 1")).encode()
        response = web.StreamResponse(headers={"Content-Length": str(len(whole))})
        await response.prepare(request)
        await response.write(whole[:sent])
        assert request.transport is not None
        request.transport.abort()
        return response

    return answer


async def reset(request: web.Request, received: ReceivedRequest) -> web.StreamResponse:
    """Close the connection without an answer."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def hang(request: web.Request, received: ReceivedRequest) -> web.StreamResponse:
    """Never answer."""
    await asyncio.sleep(3600)
    return web.Response()


async def drip(request: web.Request, received: ReceivedRequest) -> web.StreamResponse:
    """Send single bytes with pauses, forever."""
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.02)


def huge(size: int, squeezed: bool = False) -> Behaviour:
    """Send a valid reply with this many bytes, gzipped if the client accepts it."""

    async def answer(request: web.Request, received: ReceivedRequest) -> web.StreamResponse:
        import gzip

        whole = json.dumps(choices(received, "9" * size)).encode()
        if squeezed:
            packed = gzip.compress(whole, 1)
            return web.Response(body=packed, headers={"Content-Encoding": "gzip"})
        return web.Response(body=whole)

    return answer


def forwarded(upstream: str) -> Behaviour:
    """Answer as the server at `upstream`, an address ending in `/v1`, does."""

    async def answer(request: web.Request, received: ReceivedRequest) -> web.StreamResponse:
        url = upstream.removesuffix(API_ROOT) + request.raw_path
        async with ClientSession() as session, session.post(url, json=received.body) as reply:
            content = await reply.read()
            return web.Response(body=content, status=reply.status, content_type=reply.content_type)

    return answer


def true_answer(received: ReceivedRequest) -> str:
    """Return the answer to "What is 7 + 0?"."""
    match = re.search(r"What is (\d+) \+ 0", received.question)
    return f"The sum is {match[1]}.\n#### {match[1]}" if match else "#### 0"


def changed(change: Callable[[dict[str, Any]], object]) -> Behaviour:
    """Answer correctly, except for a change to the body: `change` edits it, or returns another."""

    async def answer(_: web.Request, received: ReceivedRequest) -> web.StreamResponse:
        body = choices(received, true_answer(received))
        other = change(body)
        return web.json_response(body if other is None else other)

    return answer


truth = changed(lambda body: None)


def choice_with(**fields: Any) -> Behaviour:
    """Answer correctly, except for fields of the choice."""
    return changed(lambda body: body["choices"][0].update(fields))


def content(value: Any, **fields: Any) -> Behaviour:
    """Answer with this content, in both forms; `fields` are those of the body."""

    def change(body: dict[str, Any]) -> None:
        choice = body["choices"][0]
        choice.update(
            {"message": {"role": "assistant", "content": value}}
            if "message" in choice
            else {"text": value}
        )
        body.update(fields)

    return changed(change)


def duplicated(delay: float) -> Behaviour:
    """Answer correctly, and send the reply again on the same connection after a delay."""

    async def answer(request: web.Request, received: ReceivedRequest) -> web.StreamResponse:
        payload = json.dumps(choices(received, true_answer(received))).encode()
        response = web.Response(body=payload, content_type="application/json")
        await response.prepare(request)
        await response.write_eof()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        transport = request.transport

        def again() -> None:
            if transport is not None and not transport.is_closing():
                transport.write(head % len(payload) + payload)

        asyncio.get_running_loop().call_later(delay, again)
        return response

    return answer


def raw_number(place: str, digits: str) -> Behaviour:
    """Answer correctly, with a number in the usage that JSON allows and programs cannot read."""

    async def answer(_: web.Request, received: ReceivedRequest) -> web.StreamResponse:
        text = json.dumps(choices(received, true_answer(received)))
        text = re.sub(rf'"{place}": \d+', f'"{place}": {digits}', text)
        return web.Response(text=text, content_type="application/json")

    return answer


class Effect(StrEnum):
    """The effect of a fault on a request."""

    RETRIED = "requested again"
    FAILED = "failed, requested again by the next session"
    STOPPED = "the run stops"
    ANSWERED = "the answer is stored"


class Fault(NamedTuple):
    """A fault: the behaviour, its effect, and the stored cause if it persists."""

    behaviour: Behaviour
    effect: Effect
    cause: str = ""


RETRIED, FAILED, STOPPED, ANSWERED = Effect
BAD_RESPONSES: Mapping[str, Behaviour] = {
    "body that is not gzip": body(b"\x1f\x8b\x08garbage"),
    "200 with HTML": body(b"<html>busy</html>", "text/html"),
    "200 with half a JSON object": body(b'{"choices": [{"message": {"cont'),
    "200 with nothing": body(b""),
    "200 with a stream of events": body(b'data: {"choices": []}\n\n', "text/event-stream"),
    "200 with bytes that are not UTF-8": body(b'{"choices": [{"message": {"content": "\xff"}}]}'),
    "200 with JSON nested 50,000 deep": body(b'{"choices": ' + b"[" * 50_000),
    "no choices": changed(lambda body: body.update(choices=[])),
    "choices that are null": changed(lambda body: body.update(choices=None)),
    "empty choice": changed(lambda body: body.update(choices=[{}])),
    "message that is null": choice_with(message=None, text=None),
    "content that is a number": content(18),
    "content that is an object": content({"text": "18"}),
    "content that is null": content(None),
}
FAULTS: Mapping[str, Fault] = {
    # The transport
    "connection reset": Fault(reset, RETRIED, "connection lost"),
    "reply broken off in its body": Fault(broken_off(), RETRIED, "connection lost"),
    "reply broken off before its body": Fault(broken_off(0), RETRIED, "connection lost"),
    "no reply": Fault(hang, RETRIED, "timeout"),
    "reply a byte at a time": Fault(drip, RETRIED, "timeout"),
    "reply of many megabytes": Fault(huge(2**17), FAILED, "reply too large"),
    "gzip bomb": Fault(huge(2**24, squeezed=True), FAILED, "reply too large"),
    "reply sent twice": Fault(duplicated(0), ANSWERED),
    "reply sent again later": Fault(duplicated(0.004), ANSWERED),
    # HTTP
    **{
        f"HTTP {code}": Fault(status(code), RETRIED, f"http {code}")
        for code in (408, 409, 425, 429, 500, 502, 503, 504, 529)
    },
    "HTTP 429, Retry-After in seconds": Fault(status(429, Retry_After="0.02"), RETRIED, "http 429"),
    "HTTP 429, Retry-After as a date": Fault(
        status(429, Retry_After="Fri, 31 Dec 99999 23:59:59 GMT"), RETRIED, "http 429"
    ),
    **{
        f"HTTP {code}": Fault(status(code, "too long"), FAILED, f"http {code}")
        for code in (400, 413, 422)
    },
    "HTTP 401": Fault(status(401, "bad key {authorization}"), STOPPED, "refuses the API key"),
    "HTTP 402": Fault(status(402), STOPPED, "no credit left"),
    "HTTP 403": Fault(status(403), STOPPED, "refuses the API key"),
    "HTTP 404": Fault(status(404, "no model"), STOPPED, "check the address and model name"),
    "HTTP 429, no credit left": Fault(status(429, "insufficient_quota"), STOPPED, "no credit left"),
    "HTTP 307": Fault(status(307, Location="http://evil.example/"), STOPPED, "http://evil.example"),
    # A 200 that is not a reply, or whose choice is not an answer
    **{name: Fault(each, RETRIED, "bad response") for name, each in BAD_RESPONSES.items()},
    "200 with an error": Fault(body(b'{"error": {"message": "x"}}'), RETRIED, "server error"),
    "200 with an error as the text": Fault(
        content("Error: rate limit 429"), RETRIED, "server error"
    ),
    "empty content, no tokens": Fault(
        content("", usage={"completion_tokens": 0}), RETRIED, "empty reply"
    ),
    "finish_reason error": Fault(choice_with(finish_reason="error"), RETRIED, "server error"),
    "error in the choice": Fault(choice_with(error={"code": 502}), RETRIED, "server error"),
    "finish_reason abort": Fault(choice_with(finish_reason="abort"), RETRIED, "aborted"),
    "unknown finish_reason": Fault(choice_with(finish_reason="gave_up"), RETRIED, "unknown ending"),
    "content filter": Fault(choice_with(finish_reason="content_filter"), FAILED, "content filter"),
    "tool call": Fault(choice_with(finish_reason="tool_calls"), FAILED, "tool call"),
    # An answer, with something strange beside it
    "no id": Fault(changed(lambda body: body.pop("id") and None), ANSWERED),
    "the same id always": Fault(changed(lambda body: body.update(id="x")), ANSWERED),
    "usage of thousands of digits": Fault(raw_number("completion_tokens", "9" * 5000), ANSWERED),
    "usage over 2^31": Fault(raw_number("completion_tokens", "9" * 12), ANSWERED),
    "another model's name": Fault(changed(lambda body: body.update(model="another")), ANSWERED),
    "further choices": Fault(
        changed(lambda body: body["choices"].append({**body["choices"][0], "index": 1})), ANSWERED
    ),
}


def write_sums(path: Path, count: int) -> Path:
    """Write problems whose answers are 0, 1, 2 and so on."""
    rows = [{"question": f"What is {n} + 0?", "answer": f"#### {n}"} for n in range(count)]
    return jsonl(path, rows)


def evaluate_at(
    url: str,
    folder: Path,
    problems: int = 8,
    samples: int = 1,
    key: str = "",
    seconds: float = 30.0,
    protocol: str = "zero-shot/chat",
    **options: Any,
) -> Evaluation:
    """Run an evaluation of sums against a server, in this process."""
    dataset = str(write_sums(folder.parent / "problems.jsonl", problems))
    job = Job(
        "faulty", protocol, dataset, samples=samples, temperature=0.7 if samples > 1 else 0.0,
        max_tokens=64, output=folder, **{"connections": 4, **options},
    )  # fmt: skip
    return asyncio.run(evaluate(prepare(job, Endpoint(url, "faulty", key, seconds))))
