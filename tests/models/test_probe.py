"""Tests the client of the doctor: what it sends, and how it reads an answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web

from gradeschool.errors import ModelError, TransientError
from gradeschool.models import probe
from gradeschool.models.probe import (
    QUESTION,
    TOKENS,
    FindingState,
    FormAnswers,
    Probe,
    ProbeAnswer,
    ServerFinding,
    first_choice,
)
from tests.support.http_server import serve


class Recording:
    """A server that answers in the form asked for, and keeps what it got."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.bodies: list[dict[str, Any]] = []

    async def answer(self, request: web.Request) -> web.Response:
        """Answer with the next status; with 200 at the end."""
        self.bodies.append(json.loads(await request.read()))
        if status := self.statuses.pop(0) if self.statuses else 0:
            headers = {"Retry-After": "0"} if status in (429, 503) else {}
            return web.json_response({"error": "refused"}, status=status, headers=headers)
        chat = request.path.endswith("/chat/completions")
        inside = {"message": {"content": "60 eggs"}} if chat else {"text": "60"}
        return web.json_response({"choices": [{**inside, "finish_reason": "stop"}] * 2})


def asked(server: Recording, path: str = "chat", **fields: Any) -> tuple[ProbeAnswer, int]:
    """The answer of a probe, and the number of its requests."""
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.answer)
    app.router.add_post("/v1/completions", server.answer)

    async def ask(url: str) -> tuple[ProbeAnswer, int]:
        async with Probe(url, "eggs-1b", "secret", 30.0) as client:
            again = Probe.like(client)
            assert (again.base, again.model, again.seconds) == (client.base, "eggs-1b", 30.0)
            answer = await (client.chat if path == "chat" else client.complete)(**fields)
            return answer, client.requests

    with serve(app) as url:
        return asyncio.run(ask(url))


def test_each_form_sends_its_own_fields_and_leaves_out_none() -> None:
    server = Recording()
    chat, _ = asked(server, stop=["."], temperature=None)
    plain, _ = asked(server, "complete", text="Q", max_tokens=4)
    assert server.bodies == [
        {"model": "eggs-1b", "max_tokens": TOKENS, "stop": ["."],
         "messages": [{"role": "user", "content": QUESTION}]},
        {"model": "eggs-1b", "max_tokens": 4, "temperature": 0, "prompt": "Q"},
    ]  # fmt: skip
    assert (chat.status, chat.text, chat.finish, chat.choices) == (200, "60 eggs", "stop", 2)
    assert plain.text == "60"


def test_a_refusal_is_an_answer_without_text() -> None:
    answer, requests = asked(Recording(422))
    assert (answer.status, answer.text, answer.choices, requests) == (422, "", 0, 1)


def test_an_overloaded_server_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "STARTING_WAITS", (0.0, 0.0))
    answer, requests = asked(Recording(429, 503))
    assert (answer.text, requests) == ("60 eggs", 3)
    with pytest.raises(TransientError, match="HTTP 503"):
        asked(Recording(503, 503, 503))


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_an_error(status: int) -> None:
    with pytest.raises(ModelError, match="refuses the API key") as caught:
        asked(Recording(status))
    assert caught.value.cause == f"http {status}"


def test_the_longer_of_two_answers_is_that_of_more_words() -> None:
    short, long = (ProbeAnswer(200, {}, text, "") for text in ("sixty-seven-eggs", "60 eggs"))
    assert FormAnswers(short, long).longer is long
    assert FormAnswers(long, short).longer is long
    assert FormAnswers(short, None).longer is short


@pytest.mark.parametrize("body", [{}, {"choices": []}, {"choices": "no"}, {"choices": [7]}])
def test_an_answer_without_a_choice_has_an_empty_one(body: dict[str, Any]) -> None:
    assert first_choice(body) == {}
    assert first_choice({"choices": [{"text": "60"}, {}]}) == {"text": "60"}


def test_a_deviation_alone_is_a_refusal() -> None:
    findings = [ServerFinding("n", state, "") for state in FindingState]
    assert [finding.state for finding in findings if finding.refuses] == [FindingState.DEVIATES]
