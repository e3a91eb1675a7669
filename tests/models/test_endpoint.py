"""An endpoint: large bodies, and a server that is still starting."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from aiohttp.client_proto import ResponseHandler

from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.errors import InputError, ModelError, TransientError
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


class Refusing(Endpoint):
    """Refuses the first request with a message, and answers the others."""

    def __init__(self, message: str) -> None:
        super().__init__("http://127.0.0.1:1/v1", "m", "")
        self.message = message
        self.bodies: list[dict[str, Any]] = []

    async def _send(self, *call: Any) -> Response:
        self.bodies.append(json.loads(call[2]))
        connection = ResponseHandler(asyncio.get_running_loop())
        if len(self.bodies) == 1:
            refusal = {"error": {"message": self.message, "type": "invalid_request_error"}}
            return Response(400, {}, json.dumps(refusal).encode(), connection)
        choice = {"index": 0, "text": "1", "message": {"content": "1"}, "finish_reason": "stop"}
        return Response(200, {}, json.dumps({"choices": [choice]}).encode(), connection)


CHAT = Prompt(messages=(Message("user", "Q?"),))
OPENAI = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
VLLM = (
    "'max_tokens' or 'max_completion_tokens' is too large: 256. This model's maximum context "
    "length is 1190 tokens and your request has 1000 input tokens"
)


def test_a_token_limit_is_renamed_for_a_chat_that_asks_for_it() -> None:
    async def scenario() -> None:
        async with model:
            await model.answer(Request("k", PROBLEM, CHAT, Decoding(max_tokens=256), 0))

    model = Refusing(OPENAI)
    asyncio.run(scenario())
    assert ["max_tokens" in body for body in model.bodies] == [True, False]
    assert "max_completion_tokens" in model.bodies[1]


@pytest.mark.parametrize("prompt", [CHAT, Prompt(text="Q?")], ids=["chat", "completions"])
def test_a_prompt_that_is_too_long_renames_no_limit_of_later_requests(prompt: Prompt) -> None:
    async def scenario() -> None:
        async with model:
            request = Request("k", PROBLEM, prompt, Decoding(max_tokens=256), 0)
            with pytest.raises(ModelError, match="too large"):
                await model.answer(request)
            await model.answer(request)

    model = Refusing(VLLM)
    asyncio.run(scenario())
    assert all("max_tokens" in body for body in model.bodies)
    assert not any("max_completion_tokens" in body for body in model.bodies)
    assert len(model.bodies) == 2


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
