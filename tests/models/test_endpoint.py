"""An endpoint: large bodies, and a server that is still starting."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from aiohttp.client_proto import ResponseHandler

from gradeschool.completion import Decoding, Prompt
from gradeschool.errors import InputError, TransientError
from gradeschool.models import endpoint
from gradeschool.models.base import Request
from gradeschool.models.endpoint import Endpoint, Response
from gradeschool.problem import Problem
from tests.support.fault_server import fault_server

PROBLEM = Problem.from_row("0", "Q?", "#### 1")
BODY = json.dumps({"choices": [{"text": "#### 1", "index": 0}]}).encode()
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY


def asking(text: str) -> Request:
    return Request(text[:10], PROBLEM, Prompt(text=text), Decoding(), 0)


@pytest.mark.filterwarnings("ignore:Sending a large body")
def test_a_body_that_no_buffer_holds_arrives_whole() -> None:
    text = "many shots " * 2**20

    async def scenario(url: str) -> str:
        async with Endpoint(url, "faulty", "") as model:
            return (await model.answer(asking(text))).text

    with fault_server() as server:
        assert asyncio.run(scenario(server.url)) == "#### 0"
    assert server.requests[0].question == text


class Starting(Endpoint):
    """Says each of some statuses in turn before it lists one model."""

    def __init__(self, *statuses: int, **headers: str) -> None:
        super().__init__("http://127.0.0.1:1/v1", "", "")
        self.statuses, self.headers = [*statuses], headers

    async def _send(self, *_: Any) -> Response:
        connection = ResponseHandler(asyncio.get_running_loop())
        if self.statuses:
            body = b'{"error": {"message": "Loading model"}}'
            return Response(self.statuses.pop(0), self.headers, body, connection)
        return Response(200, {}, b'{"data": [{"id": "ready"}]}', connection)


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
        TransientError, match=r"HTTP 503 .*'Loading model'; requested its models 3 times"
    ) as caught:
        asyncio.run(opened(Starting(503, 503, 503)))
    assert caught.value.cause == "http 503"


@pytest.mark.usefixtures("short_waits")
def test_a_server_without_a_list_of_models_is_asked_once_and_needs_a_name() -> None:
    model = Starting(404, 503)
    with pytest.raises(InputError, match=r"none listed \(HTTP 404\); add /NAME"):
        asyncio.run(opened(model))
    assert model.statuses == [503]
