"""Sending requests: retries, waits, failures as data, early stops."""

import asyncio
from collections.abc import Callable

import pytest

from gradeschool.completion import Completion, Decoding, Prompt
from gradeschool.errors import FatalModelError, TransientError
from gradeschool.models.base import Model, Reply, Request
from gradeschool.problem import Problem
from gradeschool.runs import send as sending
from gradeschool.runs.send import (
    FIRST_LIMIT,
    HIGHEST_LIMIT,
    ConcurrencyLimiter,
    Dispatcher,
    wait_before,
)

PROBLEM = Problem.from_row("0", "Q?", "#### 1")


def request(number: int = 0, prompt: Prompt | None = None, stop: tuple[str, ...] = ()) -> Request:
    return Request(PROBLEM, prompt or Prompt(text="Q"), Decoding(stop=stop), f"k{number}", number)


class Scripted(Model):
    """Answers by a function of (request, number of the try)."""

    identity = name = "scripted"

    def __init__(self, answer: Callable[[Request, int], Reply]) -> None:
        self._answer = answer
        self.tries: dict[str, int] = {}
        self.running = self.most = 0

    async def complete(self, request: Request) -> Reply:
        self.tries[request.key] = self.tries.get(request.key, 0) + 1
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0.001)
        self.running -= 1
        return self._answer(request, self.tries[request.key])


def sent(model: Scripted, count: int, connections: int = 4) -> tuple[list[Completion], int]:
    """The completions of a run of `count` requests, and the number of its retries."""
    completions: list[Completion] = []
    dispatcher = Dispatcher(model, lambda _, row: completions.append(row), connections)
    asyncio.run(dispatcher.send_all([request(number) for number in range(count)]))
    return completions, dispatcher.retries


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "FIRST_WAIT", 0.001)


def test_every_request_is_asked_once_within_the_connections() -> None:
    model = Scripted(lambda request, tries: Reply(f"#### {request.sample}"))
    completions, retries = sent(model, 50, connections=7)
    assert sorted(item.key for item in completions) == sorted(f"k{n}" for n in range(50))
    assert model.most == 7
    assert retries == 0


def test_a_transient_failure_is_asked_again_and_then_recorded_as_an_error() -> None:
    def answer(request: Request, tries: int) -> Reply:
        if request.key == "k1" or (request.key == "k2" and tries < 3):
            raise TransientError("http 500", "HTTP 500")
        return Reply("ok")

    model = Scripted(answer)
    completions, retries = sent(model, 4)
    by_key = {item.key: item for item in completions}
    assert by_key["k1"].error == "http 500: HTTP 500"
    assert by_key["k2"].text == "ok"
    assert model.tries == {"k0": 1, "k1": sending.TRIES, "k2": 3, "k3": 1}
    assert retries == sending.TRIES - 1 + 2


def test_a_server_that_is_not_there_is_asked_three_times_and_not_for_every_sample() -> None:
    def answer(request: Request, tries: int) -> Reply:
        raise TransientError("cannot connect", "cannot connect to http://x")

    model = Scripted(answer)
    with pytest.raises(FatalModelError, match="cannot connect"):
        sent(model, 1000)
    assert sum(model.tries.values()) <= 4 * sending.UNREACHED_TRIES


def test_an_error_of_the_recorder_ends_the_run_as_itself() -> None:
    def record(_: Request, item: Completion) -> None:
        raise OSError("disk")

    model = Scripted(lambda request, tries: Reply("ok"))
    dispatcher = Dispatcher(model, record, 3)
    with pytest.raises(OSError, match="disk"):
        asyncio.run(dispatcher.send_all([request(number) for number in range(9)]))


def test_the_wait_is_the_servers_wish_or_doubles_up_to_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sending, "FIRST_WAIT", 0.5)
    assert 7.5 <= wait_before(1, 7.5) <= 7.5 * 1.1
    for tries in range(1, 30):
        longest = min(0.5 * 2 ** (tries - 1), sending.LONGEST_BACKOFF)
        assert longest / 2 <= wait_before(tries, None) <= longest


# How many requests are in flight: more while it helps, half on trouble, always in bounds.


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def served(
    limiter: ConcurrencyLimiter, clock: Clock, rate: Callable[[int], float], answers: int = 5000
) -> None:
    """Let a server answer `rate(requests in flight)` times a second."""
    for _ in range(answers):
        clock.now += 1 / rate(limiter.limit)
        limiter.succeeded()


def test_without_a_number_it_doubles_while_answers_come_faster() -> None:
    clock = Clock()
    limiter = ConcurrencyLimiter(clock=clock)
    assert limiter.limit == FIRST_LIMIT
    served(limiter, clock, lambda limit: 10.0 * limit)
    assert limiter.limit == HIGHEST_LIMIT


@pytest.mark.parametrize("slots", [4, 16, 40, 64])
def test_it_stays_where_more_does_not_help(slots: int) -> None:
    clock = Clock()
    limiter = ConcurrencyLimiter(clock=clock)
    served(limiter, clock, lambda limit: 10.0 * min(limit, slots))
    assert max(FIRST_LIMIT, slots) <= limiter.limit <= max(FIRST_LIMIT, 2 * slots)


def test_one_storm_halves_it_once_and_the_next_once_more() -> None:
    clock = Clock()
    limiter = ConcurrencyLimiter(64, clock)
    clock.now = 5.0
    for _ in range(64):
        limiter.overloaded(sent=4.0)
    assert limiter.limit == 32
    clock.now = 6.0
    for _ in range(32):
        limiter.overloaded(sent=5.5)
    assert limiter.limit == 16
