"""`anthropic/NAME`: the Messages API, and the keys of named providers."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from gradeschool.completion import ENDED_AT_ONCE, IN_THINKING, Decoding, Finish, Message, Prompt
from gradeschool.errors import InputError, ModelError
from gradeschool.models.base import Reply, Request, choose_model
from gradeschool.models.endpoint import LONGEST_COMPLETION, AnthropicModel, Endpoint
from gradeschool.models.openai_api import NEUTRAL
from gradeschool.problem import Problem
from tests.support.http_server import serve

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
