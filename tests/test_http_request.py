"""Requests on their way: bodies that leave at once, and what a server says before the first."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool.completion import Decoding, Prompt
from gradeschool.errors import InputError, TransientError
from gradeschool.models import endpoint
from gradeschool.models.base import Request
from gradeschool.models.endpoint import Endpoint
from gradeschool.models.http_request import Begun
from gradeschool.problem import Problem
from tests.support.hostile_server import hostile_server

PROBLEM = Problem.from_row("0", "Q?", "#### 1")
BODY = json.dumps({"choices": [{"text": "#### 1", "index": 0}]}).encode()
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY


def asking(text: str) -> Request:
    return Request(text[:10], PROBLEM, Prompt(text=text), Decoding(), 0)


def test_a_request_leaves_before_the_event_loop_does_anything_else() -> None:
    async def scenario() -> bytes:
        loop = asyncio.get_running_loop()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
            async with Endpoint(url, "m", "") as model:
                first = asyncio.create_task(model.answer(asking("one")))
                server, _ = await loop.sock_accept(listener)
                with server:
                    server.setblocking(False)
                    await loop.sock_recv(server, 2**16)
                    await loop.sock_sendall(server, REPLY)
                    assert (await first).text == "#### 1"
                    second = asyncio.create_task(model.answer(asking("two")))
                    await asyncio.sleep(0)  # one turn of the loop: the task's first step
                    sent = server.recv(2**16)  # raises where nothing is there yet
                    await loop.sock_sendall(server, REPLY)
                    await second
        return sent

    head, _, body = asyncio.run(scenario()).partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/completions HTTP/1.1\r\n")
    assert json.loads(body)["prompt"] == "two"


@pytest.mark.filterwarnings("ignore:Sending a large body")
def test_a_body_that_no_buffer_holds_arrives_whole() -> None:
    text = "many shots " * 2**20

    async def scenario(url: str) -> str:
        async with Endpoint(url, "hostile", "") as model:
            return (await model.answer(asking(text))).text

    with hostile_server() as server:
        assert asyncio.run(scenario(server.url)) == "#### 0"
    assert server.asked[0].question == text


@given(waits=st.lists(st.booleans(), max_size=5), fails=st.booleans())
def test_what_was_begun_goes_on_where_it_waits(waits: list[bool], fails: bool) -> None:
    log: list[int] = []

    async def work() -> None:
        for at, in_loop in enumerate(waits):
            log.append(at)
            if in_loop:
                await asyncio.sleep(0)
            else:
                future = asyncio.get_running_loop().create_future()
                asyncio.get_running_loop().call_soon(future.set_result, None)
                await future
        if fails:
            raise ValueError("late")

    async def scenario() -> None:
        begun = Begun(work())
        assert log == ([0] if waits else [])
        await begun

    if fails:
        with pytest.raises(ValueError, match="late"):
            asyncio.run(scenario())
    else:
        asyncio.run(scenario())
    assert log == [*range(len(waits))]


def test_what_was_begun_hears_that_it_is_cancelled_and_what_it_waits_for_failed() -> None:
    heard: list[str] = []

    async def work(future: asyncio.Future[None]) -> None:
        try:
            await future
        except (asyncio.CancelledError, OSError) as error:
            heard.append(type(error).__name__)
            await asyncio.sleep(0)
            raise

    async def rest(begun: Begun) -> None:
        await begun

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        cancelled, broken = loop.create_future(), loop.create_future()
        tasks = [asyncio.create_task(rest(Begun(work(one)))) for one in (cancelled, broken)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        broken.set_exception(BrokenPipeError())
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(one) for one in ended] == [asyncio.CancelledError, BrokenPipeError]

    asyncio.run(scenario())
    assert sorted(heard) == ["BrokenPipeError", "CancelledError"]


class Starting(Endpoint):
    """Says each of some statuses in turn before it lists one model."""

    def __init__(self, *statuses: int, **headers: str) -> None:
        super().__init__("http://127.0.0.1:1/v1", "", "")
        self.left, self.headers = [*statuses], headers

    async def _send(self, *_: Any) -> tuple[int, dict[str, str], bytes]:
        if self.left:
            return self.left.pop(0), self.headers, b'{"error": {"message": "Loading model"}}'
        return 200, {}, b'{"data": [{"id": "ready"}]}'


async def opened(model: Endpoint) -> str:
    async with model:
        return model.name


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "STARTING_WAITS", (0.001, 0.001))


@pytest.mark.usefixtures("short_waits")
@pytest.mark.parametrize("model", [Starting(503, 502), Starting(429, **{"retry-after": "0.01"})])
def test_a_server_that_starts_is_asked_again_which_model_it_serves(model: Starting) -> None:
    assert asyncio.run(opened(model)) == "ready"


@pytest.mark.usefixtures("short_waits")
def test_a_server_in_lasting_trouble_is_no_bad_input() -> None:
    with pytest.raises(
        TransientError, match=r"HTTP 503 .*'Loading model'; asked 3 times"
    ) as caught:
        asyncio.run(opened(Starting(503, 503, 503)))
    assert caught.value.cause == "http 503"


@pytest.mark.usefixtures("short_waits")
def test_a_server_without_a_list_of_models_is_asked_once_and_needs_a_name() -> None:
    model = Starting(404, 503)
    with pytest.raises(InputError, match=r"none listed \(HTTP 404\); add /NAME"):
        asyncio.run(opened(model))
    assert model.left == [503]
