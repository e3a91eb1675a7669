"""The doctor on servers with every fault that it looks for, and on good ones."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from gradeschool.models.doctor import (
    DEVIATES,
    FINE,
    UNKNOWN,
    Probe,
    ServerFinding,
    examine,
    obstacles,
)
from gradeschool.protocols.registry import get_protocol
from tests.support.command import Command
from tests.support.fault_server import Behaviour, ReceivedRequest, fault_server, good, status
from tests.support.http_server import serve
from tests.support.llama_server import DEFAULTS, SINGLE, llama_server

WORDS = "Each of the five boxes holds twelve eggs so there are sixty eggs in all of them"


class BadCitizen:
    """A server that takes every field and obeys none but the temperature 0."""

    def __init__(self) -> None:
        self.calls = 0

    async def answer(self, request: web.Request) -> web.Response:
        """Answer chat and completions alike."""
        self.calls += 1
        body = json.loads(await request.read())
        chat = request.path.endswith("/chat/completions")
        text = self.text(body)
        message: dict[str, Any] = {"message": {"role": "assistant", "content": text}}
        choice = {"index": 0, **(message if chat else {"text": text}), "finish_reason": "stop"}
        return web.json_response({"model": body["model"], "choices": [choice]})

    def text(self, body: dict[str, Any]) -> str:
        """Leave stop strings in; without a neutral value, let a penalty act."""
        penalised = "repetition_penalty" not in body
        text = WORDS + (" penalised" if penalised and "prompt" in body else "")
        for stop in body.get("stop") or ():
            text = text[: text.find(stop) + len(stop)] if stop in text else text
        return text


class ChatServer:
    """A server of a chat model that does what is requested; it ends a plain text at once.

    It has the fields of OpenAI's API, and `words` to say in a chat.
    """

    def __init__(self, words: str = WORDS) -> None:
        self.words = words.split()

    async def answer(self, request: web.Request) -> web.Response:
        """Answer chat and completions."""
        body = json.loads(await request.read())
        read = len(request_text(body).split()) + 10 * ("messages" in body)
        if read > 4096:
            return web.json_response({"error": {"message": "too long"}}, status=400)
        words, finish = (self.words if "messages" in body else []), "stop"
        if body.get("temperature") and words:  # each seed begins at another word
            start = body.get("seed", 0) % len(words)
            words = words[start:] + words[:start]
        if body.get("continue_final_message"):
            begun = body["messages"][-1]["content"].split()
            words = words[len(begun) :] if words[: len(begun)] == begun else ["elsewhere"]
        if len(words) > body["max_tokens"]:
            words, finish = words[: body["max_tokens"]], "length"
        text = " ".join(words)
        for stop in body.get("stop") or ():
            text = text.partition(stop)[0]
        inside = {"message": {"content": text}} if "messages" in body else {"text": text}
        usage = {"prompt_tokens": read, "completion_tokens": len(words)}
        choices = [{**inside, "finish_reason": finish}]
        return web.json_response({"model": "chat", "choices": choices, "usage": usage})


def request_text(body: dict[str, Any]) -> str:
    """The text of a request of either form."""
    turns = body.get("messages") or [{"content": body.get("prompt", "")}]
    return " ".join(turn["content"] for turn in turns)


Answer = Callable[[web.Request], Awaitable[web.Response]]


def serving(answer: Answer) -> web.Application:
    """An application that has both forms."""
    app = web.Application(client_max_size=2**24)
    for path in ("/v1/chat/completions", "/v1/completions"):
        app.router.add_post(path, answer)
    return app


def findings_of(answer: Answer) -> dict[str, ServerFinding]:
    """What the doctor says of a server."""
    with serve(serving(answer)) as url:
        findings = asyncio.run(examine(Probe(url, "bad", "", 30.0)))
    return {finding.name: finding for finding in findings}


def test_a_server_that_obeys_nothing() -> None:
    by_name = findings_of(BadCitizen().answer)
    states = {name: finding.state for name, finding in by_name.items()}
    assert states == {
        "forms": FINE,
        "usage": DEVIATES,
        "chat template": UNKNOWN,
        "greedy": FINE,
        "hidden penalty": DEVIATES,
        "temperature": DEVIATES,
        "stop": DEVIATES,
        "max_tokens": DEVIATES,
        "prefix": DEVIATES,
        "context limit": UNKNOWN,  # it does not count what it read
    }
    assert "left in the text" in by_name["stop"].says
    assert "ignored" in by_name["prefix"].says
    (why,) = obstacles(get_protocol("olmes/gsm8k-tulu"), list(by_name.values()))
    assert "continue_final_message" in why
    assert not obstacles(get_protocol("lm-eval/gsm8k"), list(by_name.values()))
    (why,) = obstacles(get_protocol("simple-evals/mgsm-en"), list(by_name.values()))
    assert "temperature" in why


@pytest.mark.parametrize("words", [WORDS, "60", ""])
@pytest.mark.parametrize("has_chat", [True, False])
def test_nothing_deviates_where_a_plain_text_ends_at_once(words: str, has_chat: bool) -> None:
    server = ChatServer(words)

    async def answer(request: web.Request) -> web.Response:
        if request.path.endswith("/chat/completions") and not has_chat:
            return web.json_response({"error": {"message": "no such route"}}, status=404)
        return await server.answer(request)

    by_name = findings_of(answer)
    deviates = {name for name, finding in by_name.items() if finding.state is DEVIATES}
    assert deviates == (set() if has_chat else {"forms"})
    needs_words = {"temperature", "stop", "max_tokens", "hidden penalty"}
    expected = FINE if has_chat and words == WORDS else UNKNOWN
    assert {by_name[name].state for name in needs_words} == {expected}
    if expected is UNKNOWN:
        assert all("ends its answer" in by_name[name].says for name in needs_words)


def test_a_server_that_ignores_the_prefix_stops_a_run(tmp_path: Path, gradeschool: Command) -> None:
    citizen, folder = BadCitizen(), tmp_path / "run"
    with serve(serving(citizen.answer)) as url:
        ended = gradeschool("eval", "-m", f"{url}/bad", "-n", 3, "-p", "olmes/gsm8k-zs-cot-r1",
                            "-d", "sample", "-o", folder)  # fmt: skip
    assert ended.status == 2
    assert "continue_final_message is ignored" in ended.err
    assert citizen.calls == 4
    assert not (folder / "completions.jsonl").stat().st_size


@pytest.mark.parametrize("protocol", ["olmes/gsm8k-tulu", "lm-eval/gsm8k"])
def test_the_real_server(gradeschool: Command, llama_url: str, protocol: str) -> None:
    result = gradeschool.done("doctor", llama_url, "-p", protocol, "--json")
    report = result.json()
    deviates = {finding["name"] for finding in report["findings"] if finding["state"] == "deviates"}
    assert not deviates
    fine = {finding["name"] for finding in report["findings"] if finding["state"] == "fine"}
    assert {"chat template", "temperature", "prefix"} <= fine
    assert report["obstacles"] == []
    assert report["requests"] < 30


@pytest.mark.parametrize("settings", [DEFAULTS, SINGLE])
def test_a_real_chat_model(gradeschool: Command, smollm: Path, settings: str) -> None:
    with llama_server(smollm, slots=2, context=4096, settings=settings) as url:
        result = gradeschool("doctor", url, "-p", "olmes/gsm8k-tulu", "--json")
    assert result.status == 0, result
    findings = {finding["name"]: finding for finding in result.json()["findings"]}
    assert {finding["state"] for finding in findings.values()} == {"fine"}
    assert "max_tokens is obeyed" in findings["max_tokens"]["says"]


def test_a_header_opens_a_server_with_a_key(gradeschool: Command) -> None:
    def keyed(received: ReceivedRequest) -> Behaviour | None:
        return None if received.authorization == "Bearer key-of-a-server" else status(401)

    with fault_server(keyed) as server:
        url = f"{server.url}/m"
        assert "no API key was sent" in gradeschool("doctor", url).err
        header = ("--header", "Authorization=Bearer key-of-a-server")
        gradeschool.done("doctor", url, *header)


def test_a_protocol_that_cannot_run_on_a_server_is_an_exit_status(gradeschool: Command) -> None:
    """The server has no form for completions, and says what is needed for a terminal."""

    def chat_only(received: ReceivedRequest) -> Behaviour | None:
        return status(404) if "prompt" in received.body else good("#### 60\x1b[31m")

    with fault_server(chat_only) as server:
        url = f"{server.url}/m"
        refused = gradeschool("doctor", url, "-p", "openai/2021")
        fields = gradeschool("doctor", url, "-p", "openai/2021", "--json")
        alone = gradeschool("doctor", url)
    assert (refused.status, fields.status, alone.status) == (1, 1, 0)
    assert "openai/2021 cannot be run here: " in refused.out
    assert "\x1b" not in refused.out
    report = fields.json()
    assert (report["model"], report["protocol"], bool(report["obstacles"])) == (
        "m", "openai/2021", True,
    )  # fmt: skip
    forms = next(finding for finding in report["findings"] if finding["name"] == "forms")
    assert forms["state"] == "deviates"
    assert forms["says"] in refused.out
    assert "can be run" not in alone.out
