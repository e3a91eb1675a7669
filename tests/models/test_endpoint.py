"""An endpoint: large bodies, and a server that is still starting."""

import asyncio
import json
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp.client_proto import ResponseHandler

from gradeschool import Problem
from gradeschool.calculator import evaluate, format_result
from gradeschool.completion import Decoding, Finish, Message, Prompt
from gradeschool.datasets.fresh import fresh_problems
from gradeschool.errors import InputError, TransientError
from gradeschool.models import endpoint
from gradeschool.models.base import Reply, Request, choose_model
from gradeschool.models.endpoint import Endpoint, Response, close_annotation
from tests.support.fault_server import (
    Behaviour,
    ReceivedRequest,
    changed,
    fault_server,
    status,
)
from tests.support.model_requests import answers, requests

PROBLEM = Problem.from_row("0", "Q?", "#### 1")
BODY = json.dumps({"choices": [{"text": "#### 1", "index": 0}]}).encode()


def asking(text: str) -> Request:
    return Request(PROBLEM, Prompt(text=text), Decoding(), text[:10], 0)


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


CHAT = Prompt(messages=(Message("user", "Q?"),))
OPENAI = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."


def refused(message: str, field: str, decoding: Decoding) -> tuple[Any, list[Mapping[str, Any]]]:
    """The reply of a server that refuses a field, and the bodies that it got."""

    def choose(received: ReceivedRequest) -> Behaviour | None:
        return status(400, message) if field in received.body else None

    with fault_server(choose) as server:
        [reply] = answers(Endpoint(server.url, "m", ""), [Request(PROBLEM, CHAT, decoding, "k", 0)])
    return reply, [received.body for received in server.requests]


def test_a_token_limit_is_renamed_for_a_chat_that_asks_for_it() -> None:
    _, bodies = refused(OPENAI, "max_tokens", Decoding(max_tokens=256))
    assert ["max_tokens" in body for body in bodies] == [True, False]
    assert "max_completion_tokens" in bodies[1]


def test_settings_that_a_model_does_not_have_are_left_out_and_named() -> None:
    message = "Unsupported parameters: 'temperature', 'stop' are not supported with this model."
    decoding = Decoding(temperature=0.0, stop=("Question:",), max_tokens=9)
    reply, bodies = refused(message, "temperature", decoding)
    assert [{"temperature", "stop"} & body.keys() for body in bodies[1:]] == [set()]
    assert reply.deviations == ("stop refused", "temperature refused")


@pytest.mark.parametrize(
    ("listed", "said"),
    [(["toy-7b"], True), (["toy-8b", "toy-7b"], False), (["toy-8b:latest"], False), ([], False)],
)
def test_a_model_that_the_server_does_not_list_is_said(
    monkeypatch: pytest.MonkeyPatch, listed: list[str], said: bool
) -> None:
    async def call(*_: Any) -> dict[str, Any]:
        return {"data": [{"id": name} for name in listed]}

    model = Endpoint("http://localhost:9/v1", "toy-8b", "")
    monkeypatch.setattr(model, "call", call)
    asyncio.run(model.facts())
    assert ("lists toy-7b, but not 'toy-8b'" in model.remark) is said


def test_ids_that_repeat_cost_few_replies() -> None:
    """Ollama draws the ids of its replies from 999 numbers."""
    numbers = random.Random(1)

    def draw(body: dict[str, Any]) -> None:
        body["id"] = f"chatcmpl-{numbers.randrange(999)}"

    async def scenario(url: str) -> int:
        async with Endpoint(url, "m", "") as model:
            stale = 0
            for number in range(400):
                text = f"What is {number} + 0?"
                while True:
                    try:
                        reply = await model.complete(asking(text))
                        break
                    except TransientError as error:
                        stale += error.cause == "stale reply"
                assert reply.text.endswith(f"#### {number}")
            return stale

    with fault_server(lambda _: changed(draw)) as server:
        assert asyncio.run(scenario(server.url)) == 1


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "http://127.0.0.1:1/api"])
def test_an_address_without_v1_gets_it_as_advice(address: str) -> None:
    model = Starting(404)
    model.base = address
    with pytest.raises(InputError, match=f"give {address}/v1$"):
        asyncio.run(opened(model))


@pytest.mark.parametrize("key", ["18", "1,234", "-7", "$3.50", "123456"])
def test_a_key_that_answers_may_contain_is_refused(key: str) -> None:
    with pytest.raises(InputError, match="the API key is a short number"):
        Endpoint("http://h/v1", "m", key)


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
    with pytest.raises(TransientError, match=r"HTTP 503 .*'Loading model'; try again") as caught:
        asyncio.run(opened(Starting(503, 503, 503)))
    assert caught.value.cause == "http 503"


@pytest.mark.parametrize(
    ("address", "key", "shows"),
    [
        ("https://example.org/v1", "k", False), ("http://example.org/v1", "k", True),
        ("http://example.org/v1", "", False), ("http://localhost:8080/v1", "k", False),
    ],
)  # fmt: skip
def test_a_key_that_goes_out_unencrypted_is_known(address: str, key: str, shows: bool) -> None:
    assert Endpoint(address, "m", key).shows_its_key is shows


# The calculator: what a server writes is put right, and gone on from


ANNOTATION = re.compile(r"<<([^<>=]*)=([^<>=]*)>>")
GREEDY = Decoding(max_tokens=200)


@pytest.mark.parametrize(
    ("text", "closed", "finish", "then"),
    [
        ("He has 48/2=<<48/2=25", 0, Finish.STOP, ("He has 48/2=<<48/2=24>>", False)),
        ("<<48/2=", 0, Finish.LENGTH, ("<<48/2=24>>", True)),
        ("<<1+1=2>>2 and 3", 9, Finish.STOP, ("<<1+1=2>>2 and 3", True)),
        ("<<1+1=2>>2 <<2*2", 9, Finish.STOP, ("<<1+1=2>>2 <<2*2>>", False)),
        ("<<1+1=2>>2 <<2*2", 9, Finish.LENGTH, ("<<1+1=2>>2 <<2*2", True)),
        ("<<x=5", 0, Finish.STOP, ("<<x=5>>", False)),
        ("5 = 5\n#### 5", 0, Finish.STOP, ("5 = 5\n#### 5", True)),
        ("<<2*2=3=1", 0, Finish.STOP, ("<<2*2=4>>", False)),
        ("", 0, Finish.LENGTH, ("", True)),
    ],
)
def test_annotations_are_put_right(
    text: str, closed: int, finish: Finish, then: tuple[str, bool]
) -> None:
    assert close_annotation(text, closed, finish) == then


def written(spec: str, calculator: bool) -> list[Reply]:
    """What a model writes greedily to some problems."""
    prompts = [Prompt(text=f"{problem.question}\n") for problem in fresh_problems(1, 16)]
    ended = answers(choose_model(spec, calculator=calculator), requests(prompts, GREEDY))
    replies = [each for each in ended if isinstance(each, Reply)]
    assert len(replies) == len(prompts), ended
    return replies


def test_a_server_writes_what_transformers_writes(tiny_model: Path, tiny_url: str) -> None:
    served = written(tiny_url, calculator=True)
    here = written(f"transformers/{tiny_model}", calculator=True)
    ended = [
        (reply, local)
        for reply, local in zip(served, here, strict=True)
        if local.finish is Finish.STOP
    ]
    assert len(ended) > 8
    assert [reply.text for reply, _ in ended] == [local.text for _, local in ended]
    for reply, _ in ended:
        assert reply.finish is Finish.STOP
        pairs = ANNOTATION.findall(reply.text)
        assert all(
            format_result(left) == right for left, right in pairs if evaluate(left) is not None
        )
        assert reply.requests == reply.text.count(">>") + 1
        assert reply.usage.completion_tokens is not None
        assert reply.usage.prompt_tokens is not None
    assert sum(reply.requests for reply in served) > 30
    plain = written(tiny_url, calculator=False)
    assert [reply.text for reply in plain] != [reply.text for reply in served]
