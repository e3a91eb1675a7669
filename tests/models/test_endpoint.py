"""Endpoints: large bodies, a server that is still starting, the calculator, the Messages API."""

import asyncio
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.client_proto import ResponseHandler

from gradeschool import Problem
from gradeschool.calculator import evaluate, format_result
from gradeschool.completion import ENDED_AT_ONCE, IN_THINKING, Decoding, Finish, Message, Prompt
from gradeschool.datasets.fresh import fresh_problems
from gradeschool.errors import InputError, ModelError, TransientError
from gradeschool.models import endpoint
from gradeschool.models.base import Reply, Request
from gradeschool.models.choose import choose_model
from gradeschool.models.endpoint import (
    LONGEST_COMPLETION,
    AnthropicModel,
    Endpoint,
    Response,
    close_annotation,
)
from gradeschool.models.openai_api import NEUTRAL
from tests.support.fault_server import (
    Behaviour,
    ReceivedRequest,
    changed,
    fault_server,
    status,
)
from tests.support.http_server import serve
from tests.support.model_requests import answers, requests

PROBLEM = Problem.from_row("0", "Q?", "#### 1")


class Starting(Endpoint):
    """Says each of some statuses in turn before it lists one model, and a null."""

    def __init__(self, *statuses: int, **headers: str) -> None:
        super().__init__("http://127.0.0.1:1/v1", "", "")
        self.statuses, self.headers = [*statuses], headers

    async def _send(self, *_: Any) -> Response:
        connection = ResponseHandler(asyncio.get_running_loop())
        if self.statuses:
            body = b'{"error": {"message": "Loading model"}}'
            return Response(self.statuses.pop(0), self.headers, body, connection)
        return Response(200, {}, b'{"data": [null, {"id": "ready"}]}', connection)


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
                prompt = Prompt(text=f"What is {number} + 0?")
                while True:
                    try:
                        reply = await model.complete(Request(PROBLEM, prompt, Decoding(), "k", 0))
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
    assert Endpoint(address, "m", key).sends_key_unencrypted is shows


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


KEY = "sk-provider-0123456789abcdefghij"
TEXT = {"type": "text", "text": "The answer is 4."}
THOUGHT = {"type": "thinking", "thinking": "two and two", "signature": "c2ln"}


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    for name in ("ANTHROPIC_BASE_URL", "GEMINI_BASE_URL", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def request(prefix: str | None = None, **decoding: Any) -> Request:
    messages = (Message("system", "Be brief."), Message("user", "2+2?"))
    prompt = Prompt(messages=messages, prefix=prefix)
    return Request(Problem.from_gold("4"), prompt, Decoding(**decoding), "key", 3)


class Stub:
    """The Messages API: answers with `reply`, or with `status` and a message at first."""

    def __init__(self, reply: dict[str, Any], status: int = 200, words: str = "") -> None:
        self.reply, self.status, self.words = reply, status, words
        self.bodies: list[dict[str, Any]] = []

    async def answer(self, request: web.Request) -> web.Response:
        assert (request.headers["x-api-key"], "anthropic-version" in request.headers) == (KEY, True)
        self.bodies.append(await request.json())
        if len(self.bodies) == 1 and self.status != 200:
            error = {"type": "error", "error": {"type": "x", "message": self.words}}
            return web.json_response(error, status=self.status)
        usage = {"input_tokens": 21, "cache_read_input_tokens": 4, "output_tokens": 7}
        body = {"id": f"msg_{len(self.bodies)}", "model": "claude-x-1", "usage": usage}
        return web.json_response({**body, **self.reply})


def ask(stub: Stub, asked: Request) -> Reply:
    async def scenario(url: str) -> Reply:
        async with AnthropicModel(url, "claude-x", KEY) as model:
            return await model.complete(asked)

    app = web.Application()
    app.router.add_post("/v1/messages", stub.answer)
    with serve(app) as url:
        return asyncio.run(scenario(url))


@pytest.mark.parametrize(
    ("content", "reason", "expected"),
    [
        ([TEXT], "end_turn", (TEXT["text"], Finish.STOP, "", ())),
        ([THOUGHT, TEXT], "end_turn", (TEXT["text"], Finish.STOP, "two and two", ())),
        ([TEXT], "model_context_window_exceeded", (TEXT["text"], Finish.LENGTH, "", ())),
        ([THOUGHT], "max_tokens", ("", Finish.LENGTH, "two and two", (IN_THINKING,))),
        ([], "end_turn", ("", Finish.STOP, "", (ENDED_AT_ONCE,))),
        ([TEXT], "refusal", "content filter"),
        ([], "refusal", "content filter"),
        ([TEXT], "pause_turn", "unknown ending"),
        ([TEXT, {"type": "tool_use"}], "tool_use", "tool call"),
        ([], None, "bad response"),
        (None, "end_turn", "bad response"),
    ],
)
def test_an_ending_is_stored_as_what_it_is(content: Any, reason: Any, expected: Any) -> None:
    stub = Stub({"content": content, "stop_reason": reason})
    if isinstance(expected, str):
        with pytest.raises(ModelError) as caught:
            ask(stub, request(max_tokens=9))
        assert caught.value.cause == expected
        return
    reply = ask(stub, request(max_tokens=9))
    assert (reply.text, reply.finish, reply.reasoning, reply.deviations) == expected
    assert (reply.usage[:2], reply.model) == ((25, 7), "claude-x-1")


def test_what_the_api_does_not_take_is_left_out_and_named() -> None:
    stub = Stub({"content": [TEXT], "stop_reason": "end_turn"}, 400, "`temperature` is deprecated")
    reply = ask(stub, request("The", temperature=0.0, top_p=1.0, stop=("\n\n", "Q:"), seed=5))
    turns = [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "The"}]
    assert stub.bodies[1] == {
        "model": "claude-x", "max_tokens": LONGEST_COMPLETION, "messages": turns,
        "stop_sequences": ["Q:"], "system": "Be brief.",
    }  # fmt: skip
    assert stub.bodies[0] == {**stub.bodies[1], "temperature": 0.0}
    limit = f"max_tokens {LONGEST_COMPLETION} sent"
    assert set(reply.deviations) >= {"temperature refused", "seed not sent", limit}
    assert reply.text == " answer is 4."


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ({}, {}),
        ({"thinking": True}, {"thinking": {"type": "adaptive"}}),
        ({"thinking": False}, {"thinking": {"type": "disabled"}}),
        ({"reasoning_effort": "none"}, {"thinking": {"type": "disabled"}}),
        ({"reasoning_effort": "low"}, {"output_config": {"effort": "low"}}),
    ],
)
def test_thinking_has_the_apis_own_fields(given: dict[str, Any], fields: dict[str, Any]) -> None:
    model = choose_model("anthropic/claude-x", options=given)
    assert isinstance(model, AnthropicModel)
    body = model.body_of(request())
    assert {name: body[name] for name in ("thinking", "output_config") if name in body} == fields
    assert (" with " in model.identity) == bool(fields)


def test_a_provider_has_its_address_and_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def identity(spec: str) -> str:
        return choose_model(spec).identity

    assert identity("anthropic/c") == "c at https://api.anthropic.com/v1"
    google = "https://generativelanguage.googleapis.com/v1beta/openai"
    assert identity("gemini/g") == f"g at {google}"
    gemini = choose_model("gemini/g")
    assert isinstance(gemini, Endpoint) and not NEUTRAL.keys() & gemini.body_of(request()).keys()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://proxy.example/anthropic/")
    assert identity("anthropic/c") == "c at https://proxy.example/anthropic/v1"
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://user:secret-pw@host/v1")
    with pytest.raises(InputError, match="ANTHROPIC_BASE_URL") as caught:
        identity("anthropic/c")
    assert "secret-pw" not in str(caught.value)
    monkeypatch.delenv("GEMINI_API_KEY")
    with pytest.raises(InputError, match="GEMINI_API_KEY or GOOGLE_API_KEY is not set; export it"):
        identity("gemini/g")
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    assert identity("gemini/g") == f"g at {google}"
