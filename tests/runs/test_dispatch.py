"""Sending requests: retries, waits, failures as data, early stops."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from gradeschool.completion import Completion, Decoding, Finish, Message, Prompt
from gradeschool.errors import FatalModelError, ModelError, TransientError
from gradeschool.models.base import Reply, Request
from gradeschool.models.openai_api import LONGEST_WAIT, classify, parse_replies, retry_after
from gradeschool.problem import Problem
from gradeschool.runs import dispatch
from gradeschool.runs.dispatch import ConcurrencyLimiter, Dispatcher, wait_before
from gradeschool.runs.plan import request_key

PROBLEM = Problem.from_row("0", "Q?", "#### 1")


def request(number: int = 0, prompt: Prompt | None = None, stop: tuple[str, ...] = ()) -> Request:
    return Request(f"k{number}", PROBLEM, prompt or Prompt(text="Q"), Decoding(stop=stop), number)


class Scripted:
    """Answers by a function of (request, number of the try)."""

    identity = name = "scripted"

    def __init__(self, answer: Callable[[Request, int], Reply]) -> None:
        self._answer = answer
        self.tries: dict[str, int] = {}
        self.running = self.most = 0

    async def __aenter__(self) -> Scripted:
        return self

    async def __aexit__(self, *exc: object) -> None:
        pass

    async def answer(self, request: Request) -> Reply:
        self.tries[request.key] = self.tries.get(request.key, 0) + 1
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0.001)
        self.running -= 1
        return self._answer(request, self.tries[request.key])


def sent(model: Scripted, count: int, connections: int = 4) -> tuple[list[Completion], list[str]]:
    completions: list[Completion] = []
    events: list[str] = []
    dispatcher = Dispatcher(
        model,
        ConcurrencyLimiter(connections),
        lambda _, completion: completions.append(completion),
        lambda: events.append("retry"),
        "r",
    )
    asyncio.run(dispatcher.send_all([request(number) for number in range(count)]))
    return completions, events


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "FIRST_WAIT", 0.001)


def test_every_request_is_asked_once_within_the_connections() -> None:
    model = Scripted(lambda request, tries: Reply(f"#### {request.sample}"))
    completions, events = sent(model, 50, connections=7)
    assert sorted(item.key for item in completions) == sorted(f"k{n}" for n in range(50))
    assert model.most == 7
    assert not events


def test_a_transient_failure_is_asked_again_and_then_recorded_as_an_error() -> None:
    def answer(request: Request, tries: int) -> Reply:
        if request.key == "k1" or (request.key == "k2" and tries < 3):
            raise TransientError("http 500", "HTTP 500")
        return Reply("ok")

    model = Scripted(answer)
    completions, events = sent(model, 4)
    by_key = {item.key: item for item in completions}
    assert by_key["k1"].error == "http 500: HTTP 500"
    assert by_key["k2"].text == "ok"
    assert model.tries == {"k0": 1, "k1": dispatch.TRIES, "k2": 3, "k3": 1}
    assert len(events) == dispatch.TRIES - 1 + 2


def test_a_permanent_failure_is_recorded_at_once_and_ends_nothing() -> None:
    def answer(request: Request, tries: int) -> Reply:
        if request.key == "k3":
            raise ModelError("http 400", "HTTP 400: too long")
        return Reply("ok")

    model = Scripted(answer)
    completions, _ = sent(model, 10)
    assert model.tries["k3"] == 1
    assert [item.key for item in completions if item.error] == ["k3"]
    assert len(completions) == 10


def test_a_refused_key_stops_the_run_before_all_is_asked() -> None:
    def answer(request: Request, tries: int) -> Reply:
        raise FatalModelError("http 401", "the server refuses the API key")

    model = Scripted(answer)
    with pytest.raises(FatalModelError, match="refuses the API key"):
        sent(model, 1000)
    assert len(model.tries) <= 4


def test_a_server_that_is_not_there_is_asked_three_times_and_not_for_every_sample() -> None:
    def answer(request: Request, tries: int) -> Reply:
        raise TransientError("cannot connect", "cannot connect to http://x")

    model = Scripted(answer)
    with pytest.raises(FatalModelError, match="is the server running"):
        sent(model, 1000)
    assert sum(model.tries.values()) <= 4 * dispatch.UNREACHED_TRIES


def test_an_error_of_the_recorder_ends_the_run_as_itself() -> None:
    def record(_: Request, item: Completion) -> None:
        raise OSError("disk")

    model = Scripted(lambda request, tries: Reply("ok"))
    dispatcher = Dispatcher(model, ConcurrencyLimiter(3), record, lambda: None, "r")
    with pytest.raises(OSError, match="disk"):
        asyncio.run(dispatcher.send_all([request(number) for number in range(9)]))


def test_the_wait_is_the_servers_wish_or_doubles_up_to_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dispatch, "FIRST_WAIT", 0.5)
    assert 7.5 <= wait_before(1, 7.5) <= 7.5 * 1.1
    for tries in range(1, 30):
        longest = min(0.5 * 2 ** (tries - 1), dispatch.LONGEST_WAIT)
        assert longest / 2 <= wait_before(tries, None) <= longest


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "5"}, 5.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "86400"}, LONGEST_WAIT),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "9" * 5000}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
    ],
)
def test_retry_after_is_read_in_seconds_and_bounded(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers) == seconds


def test_retry_after_is_read_as_a_date() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    date = format_datetime(now + timedelta(seconds=9), usegmt=True)
    assert retry_after({"retry-after": date}, now) == 9.0
    past = format_datetime(now - timedelta(seconds=9), usegmt=True)
    assert retry_after({"retry-after": past}, now) == 0.0


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_statuses_that_may_pass_are_transient(status: int) -> None:
    error = classify(status, {"retry-after": "2"}, b"", "http://x")
    assert isinstance(error, TransientError)
    assert error.retry_after == 2.0
    assert error.cause == f"http {status}"


@pytest.mark.parametrize("status", [301, 307, 401, 402, 403, 404])
def test_statuses_that_no_request_escapes_stop_the_run(status: int) -> None:
    assert isinstance(classify(status, {}, b"{}", "http://x"), FatalModelError)


@pytest.mark.parametrize("status", [400, 405, 413, 422])
def test_other_statuses_fail_one_sample(status: int) -> None:
    error = classify(status, {}, b'{"error": {"message": "too long"}}', "http://x")
    assert type(error) is ModelError
    assert "too long" in str(error)


BAD_BODIES = [
    b"", b"<html>", b'{"choices": [', b"[]", b"null", b"3", b"{}", b'{"choices": []}',
    b'{"choices": null}', b'{"choices": [null]}', b'{"error": {"message": "overloaded"}}',
    b'{"choices": ' + b"[" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("raw", BAD_BODIES)
def test_a_body_that_is_no_completion_is_a_transient_failure(raw: bytes) -> None:
    with pytest.raises(TransientError):
        parse_replies(raw, (request(),))


def chat_reply(content: Any, **choice: Any) -> Reply:
    import json

    body = {"choices": [{"message": {"content": content}, **choice}], "model": "m"}
    prompt = Prompt(messages=(Message("user", "Q"),), prefix="Answer:")
    return parse_replies(json.dumps(body).encode(), (request(0, prompt, ("Question:",)),))[0]


@pytest.mark.parametrize(
    ("content", "text"),
    [("x", "x"), (None, ""), ([{"type": "text", "text": "a"}, {"text": "b"}], "ab"), (3, "")],
)
def test_content_of_any_shape_becomes_text(content: Any, text: str) -> None:
    assert chat_reply(content).text == text


def test_a_stop_string_left_in_and_a_repeated_prefix_are_taken_off_and_named() -> None:
    reply = chat_reply("Answer: 5\nQuestion: next", finish_reason="length")
    assert reply.text == " 5\n"
    assert reply.deviations == ("prefix repeated", "stop string left in")
    assert reply.finish is Finish.LENGTH


def test_reasoning_is_kept_apart_from_the_answer() -> None:
    raw = b'{"choices": [{"message": {"content": "5", "reasoning_content": "because"}}]}'
    (reply,) = parse_replies(raw, (request(0, Prompt(messages=(Message("user", "Q"),))),))
    assert (reply.text, reply.reasoning) == ("5", "because")


def test_usage_that_makes_no_sense_is_left_out() -> None:
    raw = b'{"choices": [{"text": "x"}], "usage": {"prompt_tokens": -1, "completion_tokens": 4}}'
    assert parse_replies(raw, (request(),))[0].usage == (None, 4)


def test_keys_differ_wherever_a_request_differs() -> None:
    base = ("model at x", Prompt(text="Q"), Decoding(), 0)
    others = [
        ("other at x", *base[1:]),
        (base[0], Prompt(text="Q "), *base[2:]),
        (base[0], Prompt(messages=(Message("user", "Q"),)), *base[2:]),
        (base[0], Prompt(messages=(Message("user", "Q"),), prefix=""), *base[2:]),
        (*base[:2], Decoding(temperature=0.7), 0),
        (*base[:2], Decoding(stop=("a", "b")), 0),
        (*base[:2], Decoding(stop=("ab",)), 0),
        (*base[:2], Decoding(seed=1), 0),
        (*base[:3], 1),
    ]
    keys = [request_key(*item) for item in (base, *others)]
    assert len(set(keys)) == len(keys)
    assert request_key(*base) == keys[0]
