"""Prices, estimates, and a run that stops before it costs too much."""

import json
from pathlib import Path
from typing import Any

import pytest

from gradeschool.completion import Completion, Decoding, Finish, Message, Prompt, Usage
from gradeschool.errors import InputError
from gradeschool.models.base import Request
from gradeschool.problem import Problem
from gradeschool.runs.send import Budget, Price, estimate, estimated_tokens, parse_price
from tests.support.command import Command
from tests.support.fault_server import fault_server

PROMPT = Prompt(messages=(Message("user", "Q" * 396),))


def request(problem: int = 0, sample: int = 0, **decoding: Any) -> Request:
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
    todo = [request(n, max_tokens=512) for n in range(10)]
    blind = estimate(todo, [])
    assert (blind["missing"], blind["measured"], blind["cost"]) == (10, False, None)
    assert blind["prompt_tokens"] == 10 * estimated_tokens(PROMPT)
    assert (blind["completion_tokens"], blind["most_completion_tokens"]) == (3000, 5120)
    answered = request(99)
    failed = (request(98), completion(request(98), None, None, "timeout: x"))
    pairs = [(answered, completion(answered, 206, 80)), failed]
    measured = estimate(todo, pairs, Price(1.0, 10.0))
    assert (measured["prompt_tokens"], measured["completion_tokens"]) == (2060, 800)
    assert measured["cost"] == pytest.approx((2060 + 8000) / 1e6)
    assert measured["most_cost"] == pytest.approx((2060 + 51_200) / 1e6)
    assert estimate([request()], [], Price(1.0, 1.0))["most_cost"] is None


def budget(limit: float | None, answers: int = 0, tokens: int = 0) -> Budget:
    """A dollar a token; each request is expected to cost one, before the first answer."""
    requests = [request(0, sample, max_tokens=1) for sample in range(4)]
    stored = {each.key: completion(each, 0, tokens) for each in requests[:answers]}
    return Budget(Price(0.0, 1_000_000.0), limit, requests, stored)


def test_a_budget_counts_what_is_in_flight() -> None:
    spent = budget(4.0, answers=1, tokens=1)
    assert spent.affordable(in_flight=2)
    assert not spent.affordable(in_flight=3)
    assert not spent.stopped  # it is known better when those have come
    spent = budget(4.0)
    spent.add(completion(request(), 1, 2))
    assert spent.cost == 2.0
    assert spent.affordable(0)  # 2 spent, 2 for the next
    assert not spent.affordable(1)
    spent.add(completion(request(), 1, 1))
    assert not spent.affordable(0)
    assert spent.stopped
    assert budget(0.5).affordable(0)  # one may find out
    assert not budget(1.0, answers=1, tokens=1).affordable(0)
    assert budget(None, answers=1, tokens=9).affordable(1000)


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    path = tmp_path / "problems.jsonl"
    lines = [json.dumps({"question": f"{n}?", "answer": str(n)}) for n in range(40)]
    path.write_text("\n".join(lines))
    return path


def test_a_run_stops_at_its_cost_and_goes_on_with_more(
    gradeschool: Command, problems: Path, tmp_path: Path
) -> None:
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


def test_a_cost_that_ends_at_a_look_of_until_stops_the_run(
    gradeschool: Command, tmp_path: Path
) -> None:
    arguments = ("-d", "fresh:1", "-n", 300, "-o", tmp_path / "run", "--price", "0/200000")
    with fault_server() as server:
        shown = gradeschool("eval", "-m", f"{server.url}/m", *arguments, "--connections", 4,
                            "--until", 1, "--max-cost", 100)  # fmt: skip
        assert (shown.status, len(server.requests)) == (3, 100)
    assert "200 samples were not requested, because of --max-cost" in shown.err


def test_a_dry_run_asks_nothing_and_tells_what_is_missing(
    gradeschool: Command, problems: Path, tmp_path: Path
) -> None:
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
