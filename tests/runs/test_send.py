"""Sending requests: retries, waits, failures as data, early stops."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradeschool.completion import Completion, Decoding, Finish, Message, Prompt, Usage
from gradeschool.errors import FatalModelError, InputError, TransientError
from gradeschool.models.base import Model, Reply, Request
from gradeschool.problem import Problem
from gradeschool.runs import send as sending
from gradeschool.runs.send import (
    FIRST_LIMIT,
    HIGHEST_LIMIT,
    Budget,
    ConcurrencyLimiter,
    Dispatcher,
    Price,
    estimate,
    estimated_tokens,
    parse_price,
    wait_before,
)
from tests.support.command import Command
from tests.support.fault_server import fault_server, write_sums

PROBLEM = Problem.from_row("0", "Q?", "#### 1")


def request(number: int) -> Request:
    return Request(PROBLEM, Prompt(text="Q"), Decoding(), f"k{number}", number)


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


def test_a_server_that_is_not_there_is_asked_three_times_and_not_for_every_sample() -> None:
    def answer(request: Request, tries: int) -> Reply:
        raise TransientError("cannot connect", "cannot connect to http://x")

    model = Scripted(answer)
    with pytest.raises(FatalModelError, match="cannot connect"):
        sent(model, 1000)
    assert sum(model.tries.values()) <= 4 * sending.UNREACHED_TRIES


def test_the_wait_is_the_servers_wish_or_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "FIRST_WAIT", 0.5)
    assert 7.5 <= wait_before(1, 7.5) <= 7.5 * 1.1
    for tries in range(1, 30):
        longest = min(0.5 * 2 ** (tries - 1), sending.LONGEST_BACKOFF)
        assert longest / 2 <= wait_before(tries, None) <= longest


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, in a list that a test changes."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def served(rate: Callable[[int], float], clock: list[float]) -> int:
    """The limit after a server answered `rate(requests in flight)` times a second."""
    limiter = ConcurrencyLimiter()
    assert limiter.limit == FIRST_LIMIT
    for _ in range(5000):
        clock[0] += 1 / rate(limiter.limit)
        limiter.succeeded()
    return limiter.limit


def test_without_a_number_it_doubles_while_answers_come_faster(clock: list[float]) -> None:
    assert served(lambda limit: 10.0 * limit, clock) == HIGHEST_LIMIT


@pytest.mark.parametrize("slots", [4, 16, 40, 64])
def test_it_stays_where_more_does_not_help(slots: int, clock: list[float]) -> None:
    limit = served(lambda limit: 10.0 * min(limit, slots), clock)
    assert max(FIRST_LIMIT, slots) <= limit <= max(FIRST_LIMIT, 2 * slots)


def test_one_storm_halves_it_once_and_the_next_once_more(clock: list[float]) -> None:
    limiter = ConcurrencyLimiter(64)
    clock[0] = 5.0
    for _ in range(64):
        limiter.overloaded(sent_at=4.0)
    assert limiter.limit == 32
    clock[0] = 6.0
    for _ in range(32):
        limiter.overloaded(sent_at=5.5)
    assert limiter.limit == 16


PROMPT = Prompt(messages=(Message("user", "Q" * 396),))


def priced(problem: int = 0, sample: int = 0, **decoding: Any) -> Request:
    answered = Problem.from_row(str(problem), "Q?", "#### 1")
    return Request(answered, PROMPT, Decoding(**decoding), f"{problem}-{sample}", sample)


def completion(
    row: Request, prompt: int | None, written: int | None, error: str = ""
) -> Completion:
    usage = Usage(prompt, written)
    return Completion(row.key, row.problem.id, row.sample, "x", Finish.STOP, usage, error=error)


def test_a_price_is_a_pair_or_an_entry_of_a_table(tmp_path: Path) -> None:
    assert parse_price("2.50/10", "m") == Price(2.5, 10.0)
    table = tmp_path / "prices.json"
    table.write_text('{"m": [0.4, 1.6]}')
    assert parse_price(str(table), "m") == Price(0.4, 1.6)
    assert Price(2.5, 10.0).of(Usage(1_000_000, 200_000)) == 4.5
    assert Price(2.5, 10.0).of(Usage(None, None)) == 0.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3", "is not two numbers from 0 on"),
        ("a/b", "is not two numbers from 0 on"),
        ("/", "is not two numbers from 0 on"),
        ("-1/2", "give IN/OUT in dollars"),
        ("nan/2", "give IN/OUT in dollars"),
        ("1/inf", "give IN/OUT in dollars"),
        ("nowhere.json", "cannot read the prices in 'nowhere.json'"),
    ],
)
def test_a_price_that_is_none_is_a_clear_error(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_price(text, "m")


def test_an_estimate_learns_from_what_the_server_counted() -> None:
    todo = [priced(n, max_tokens=512) for n in range(10)]
    blind = estimate(todo, [])
    assert (blind["missing"], blind["measured"], blind["cost"]) == (10, False, None)
    assert blind["prompt_tokens"] == 10 * estimated_tokens(PROMPT)
    assert (blind["completion_tokens"], blind["most_completion_tokens"]) == (3000, 5120)
    answered = priced(99)
    failed = (priced(98), completion(priced(98), None, None, "timeout: x"))
    pairs = [(answered, completion(answered, 206, 80)), failed]
    measured = estimate(todo, pairs, Price(1.0, 10.0))
    assert (measured["prompt_tokens"], measured["completion_tokens"]) == (2060, 800)
    assert measured["cost"] == pytest.approx((2060 + 8000) / 1e6)
    assert measured["most_cost"] == pytest.approx((2060 + 51_200) / 1e6)
    assert estimate([priced()], [], Price(1.0, 1.0))["most_cost"] is None


def budget(limit: float | None, answers: int = 0, tokens: int = 0) -> Budget:
    """A dollar a token; each request is expected to cost one, before the first answer."""
    requests = [priced(0, sample, max_tokens=1) for sample in range(4)]
    stored = {each.key: completion(each, 0, tokens) for each in requests[:answers]}
    return Budget(Price(0.0, 1_000_000.0), limit, requests, stored)


def test_a_budget_counts_what_is_in_flight() -> None:
    spent = budget(4.0, answers=1, tokens=1)
    assert spent.affordable(in_flight=2)
    assert not spent.affordable(in_flight=3)
    assert not spent.stopped  # it is known better when those have come
    spent = budget(4.0)
    spent.add(completion(priced(), 1, 2))
    assert spent.cost == 2.0
    assert spent.affordable(0)  # 2 spent, 2 for the next
    assert not spent.affordable(1)
    spent.add(completion(priced(), 1, 1))
    assert not spent.affordable(0)
    assert spent.stopped
    assert budget(0.5).affordable(0)  # one may find out
    assert not budget(1.0, answers=1, tokens=1).affordable(0)
    assert budget(None, answers=1, tokens=9).affordable(1000)


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    return write_sums(tmp_path / "problems.jsonl", 40)


def test_a_run_stops_at_its_cost(gradeschool: Command, problems: Path, tmp_path: Path) -> None:
    """Each request is 10 tokens in and 5 out: a dollar, at 0 and 200,000 a million."""
    arguments = ("-d", problems, "-o", tmp_path / "run", "--price", "0/200000", "--connections", 4)
    with fault_server(delay=0.002) as server:
        url = f"{server.url}/m"
        first = gradeschool("eval", "-m", url, *arguments, "--max-cost", 10)
        assert first.status == 3
        assert "not requested, because of --max-cost" in first.err
        assert "($10.0000)" in first.out
        assert len(server.requests) == 10
        again = gradeschool("eval", "-m", url, *arguments, "--max-cost", 10)
        assert (again.status, len(server.requests)) == (3, 10)
        rest = gradeschool("eval", "-m", url, *arguments, "--max-cost", 100)
    assert (rest.status, len(server.requests)) == (0, 40)
    fields = json.loads((tmp_path / "run" / "results.json").read_text())
    assert fields["cost"] == {"dollars": 40.0, "price": [0.0, 200_000.0]}


@pytest.mark.slow
def test_a_cost_at_a_look_of_until_stops_the_run(gradeschool: Command, tmp_path: Path) -> None:
    arguments = ("-d", "fresh:1", "-n", 300, "-o", tmp_path / "run", "--price", "0/200000")
    with fault_server() as server:
        shown = gradeschool("eval", "-m", f"{server.url}/m", *arguments, "--connections", 4,
                            "--until", 1, "--max-cost", 100)  # fmt: skip
        assert (shown.status, len(server.requests)) == (3, 100)
    assert "200 samples were not requested, because of --max-cost" in shown.err


def test_a_dry_run_asks_nothing(gradeschool: Command, problems: Path, tmp_path: Path) -> None:
    arguments = ("-d", problems, "-o", tmp_path / "run", "--price", "1/2")
    with fault_server() as server:
        url = f"{server.url}/m"
        blind = gradeschool("eval", "-m", url, *arguments, "--dry-run", "--json").json()
        assert not server.requests
        assert not (tmp_path / "run").exists()
        gradeschool("eval", "-m", url, *arguments, "-n", 30)
        printed = gradeschool("eval", "-m", url, *arguments, "--dry-run", "--json").json()
        text = gradeschool("eval", "-m", url, *arguments, "--dry-run").out
        assert len(server.requests) == 30
    assert (blind["missing"], blind["stored"]) == (40, 0)
    assert (printed["missing"], printed["stored"]) == (10, 30)
    assert (printed["prompt_tokens"], printed["completion_tokens"]) == (100, 50)
    assert printed["cost"] == pytest.approx(200 / 1e6)
    assert "missing  10 requests" in text
    assert "from the completions so far" in text
