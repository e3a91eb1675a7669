"""Several servers of one model as one: shared work, identity, failures."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from gradeschool.calculator import evaluate, written
from gradeschool.completion import Decoding, Prompt
from gradeschool.errors import FatalModelError, InputError, TransientError
from gradeschool.models.base import Reply, Request
from gradeschool.models.doctor import check_server
from gradeschool.models.endpoint import Endpoint
from gradeschool.models.gguf_file import TINY_FILE
from gradeschool.models.probe import FindingState, ServerFinding
from gradeschool.models.spread import PROBES, QUIET_SECONDS, SpreadModel
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_protocol
from tests.models.test_calculator_endpoint import ANNOTATION
from tests.support.command import gradeschool as gradeschool
from tests.support.counting_proxy import counting_proxy, read_log
from tests.support.fixtures import SERVER_NEEDS, skip_without
from tests.support.llama_server import LlamaServer


class Server:
    """A model that writes `text`, and counts what it is asked."""

    def __init__(self, text: str = "7", name: str = "one", fails: bool = False) -> None:
        self.text, self.name, self.fails = text, name, fails
        self.calls = self.entered = self.exits = 0
        self.identity = f"{name} at {id(self)}"

    async def __aenter__(self) -> Server:
        self.entered += 1
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.exits += 1

    async def answer(self, request: Request) -> Reply:
        if request.key != "probe":
            self.calls += 1
            await asyncio.sleep(0)
            if self.fails:
                raise TransientError("http 503", "busy")
        return Reply(self.text)


REQUEST = Request("k", Problem.from_gold("7"), Prompt(text="?"), Decoding(), 0)


def ask(servers: list[Server], times: int) -> tuple[str, list[Any]]:
    """The identity of the servers together, and what they answer to equal requests at once."""

    async def work() -> tuple[str, list[Any]]:
        async with SpreadModel(servers) as model:
            answers = (model.answer(REQUEST) for _ in range(times))
            return model.identity, await asyncio.gather(*answers, return_exceptions=True)

    return asyncio.run(work())


def test_servers_share_the_work_evenly() -> None:
    servers = [Server(), Server(), Server()]
    _, replies = ask(servers, 30)
    assert [server.calls for server in servers] == [10, 10, 10]
    assert [reply.text for reply in replies] == ["7"] * 30
    assert [server.exits for server in servers] == [1, 1, 1]


def test_the_identity_is_of_the_model_and_not_of_the_addresses() -> None:
    first, _ = ask([Server(), Server()], 0)
    assert ask([Server()], 0)[0] == ask([Server()] * 3, 0)[0] == first
    assert ask([Server(text="8"), Server(text="8")], 0)[0] != first
    assert ask([Server(name="two"), Server(name="two")], 0)[0] != first


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Server(name="two"), "different models: 'one', 'two'"),
        (Server("8"), "the same greedy text: '7' and '8'"),
    ],
)
def test_servers_of_different_models_are_refused(other: Server, message: str) -> None:
    first = Server()
    with pytest.raises(InputError, match=message):
        ask([first, other], 1)
    assert (first.calls, first.exits, other.exits) == (0, first.entered, other.entered)


def test_a_server_that_fails_is_left_alone_for_a_while_then_tried_by_one_request() -> None:
    good, bad, now = Server(), Server(fails=True), [0.0]

    async def one_by_one() -> None:
        async with SpreadModel([bad, good], clock=lambda: now[0]) as model:
            with pytest.raises(TransientError):
                await model.answer(REQUEST)
            for _ in range(5):
                await model.answer(REQUEST)
            assert (good.calls, bad.calls) == (5, 1)
            now[0] += QUIET_SECONDS
            answers = [model.answer(REQUEST) for _ in range(9)]
            replies = await asyncio.gather(*answers, return_exceptions=True)
            assert sum(isinstance(reply, TransientError) for reply in replies) == 1
            assert (good.calls, bad.calls) == (13, 2)
            now[0] += QUIET_SECONDS
            bad.fails = False
            await model.answer(REQUEST)
            await asyncio.gather(*(model.answer(REQUEST) for _ in range(8)))
            assert (good.calls, bad.calls) == (17, 7)

    asyncio.run(one_by_one())


def test_a_server_that_cannot_be_reached_is_left_out() -> None:
    class Gone(Server):
        async def __aenter__(self) -> Server:
            raise TransientError("cannot connect", "cannot connect to there")

    warnings: list[str] = []

    async def work(servers: list[Server]) -> str:
        async with SpreadModel(servers, warnings.append) as model:
            await model.answer(REQUEST)
            return model.identity

    good = Server()
    assert asyncio.run(work([Gone(), good])) == ask([Server(), Server()], 0)[0]
    assert warnings == ["cannot connect to there; continuing without it"]
    assert (good.calls, good.exits) == (1, 1)
    with pytest.raises(TransientError, match="cannot connect to there"):
        asyncio.run(work([Gone(), Gone()]))


def test_every_server_must_continue_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    async def finding(model: Endpoint) -> ServerFinding:
        state = FindingState.DEVIATES if ":2/" in model.base else FindingState.FINE
        return ServerFinding("prefix", state, "what the probe shows")

    monkeypatch.setattr("gradeschool.models.doctor.continues_prefix", finding)
    protocol = get_protocol("olmes/gsm8k-tulu")
    good, bad = (Endpoint(f"http://127.0.0.1:{port}/v1", "m", "") for port in (1, 2))
    assert asyncio.run(check_server(SpreadModel([good, good]), protocol)) == {
        "prefix": "what the probe shows"
    }
    with pytest.raises(FatalModelError, match=r"127\.0\.0\.1:2/v1 does not continue it"):
        asyncio.run(check_server(SpreadModel([good, bad]), protocol))


def test_a_key_that_goes_unencrypted_to_any_server_is_known() -> None:
    safe, bare = (Endpoint(f"{scheme}://example.org/v1", "m", "k") for scheme in ("https", "http"))
    shown = [SpreadModel(servers).shows_its_key for servers in ([safe, safe], [safe, bare])]
    assert shown == [False, True]


# `gradeschool sample` on two real llama.cpp servers of one model: killed, resumed, one dying.


PROBLEMS, SAMPLES = 6, 6
SECONDS = 120


class Pair:
    """Two servers of the model that the package ships, each behind a proxy that writes a log."""

    def __init__(self, folder: Path) -> None:
        self.logs = [folder / f"{index}.log" for index in range(2)]
        self.stacks = [ExitStack() for _ in self.logs]
        self.urls = []
        for stack, log in zip(self.stacks, self.logs, strict=True):
            server = LlamaServer(TINY_FILE, slots=4, context=4096)
            stack.callback(server.stop)
            stack.callback(server.kill)
            self.urls.append(stack.enter_context(counting_proxy(server.url, log)))

    def die(self, index: int) -> None:
        """Break off what a server answers, and let nothing listen there any more."""
        self.stacks[index].close()

    def words(self, output: Path, *more: object) -> list[str]:
        models = [word for url in self.urls for word in ("-m", url)]
        options = ("-d", f"fresh:5:dev:{PROBLEMS}", "-k", SAMPLES, "--max-tokens", 160, "--quiet")
        return ["sample", *models, "-o", str(output), *map(str, (*options, *more))]

    def answered(self) -> list[list[dict[str, Any]]]:
        """What each server was asked for and answered, the probes left out."""
        return [[entry for entry in read_log(log, "response")
                 if entry["status"] == 200 and not entry["request"]["prompt"].startswith(PROBES)]
                for log in self.logs]  # fmt: skip


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    skip_without(SERVER_NEEDS, "the llama.cpp test server")
    pair = Pair(tmp_path)
    yield pair
    for index in range(2):
        pair.die(index)


def start(words: list[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "gradeschool", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=SECONDS)
    return process.returncode, out, err


def stored(output: Path) -> list[dict[str, Any]]:
    path = output / "completions.jsonl"
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    return [json.loads(line) for line in lines]


def when(ready: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until something is so, while a process runs."""
    deadline = time.monotonic() + SECONDS
    while not ready():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def whole(output: Path) -> list[dict[str, Any]]:
    """The rows of a finished run: each sample of each problem once, without an error, labelled."""
    rows = stored(output)
    places = Counter((row["problem_id"], row["sample"]) for row in rows)
    assert len(places) == len(rows) == PROBLEMS * SAMPLES
    assert len({row["key"] for row in rows}) == len(rows)
    assert not [row["error"] for row in rows if row["error"]]
    labels = [json.loads(line) for line in (output / "labels.jsonl").read_text().splitlines()]
    assert {label["key"] for label in labels} == {row["key"] for row in rows}
    return rows


def test_killed_and_resumed_with_the_calculator(pair: Pair, tmp_path: Path) -> None:
    """What was stored is not asked for again; both servers work; annotations are right."""
    output = tmp_path / "run"
    process = start(pair.words(output, "--connections", 4))
    when(lambda: len(stored(output)) >= 8, process)
    process.kill()
    process.communicate()
    before = stored(output)
    assert 8 <= len(before) < PROBLEMS * SAMPLES
    status, out, err = finish(start(pair.words(output, "--json")))
    assert status == 0, err
    rows = whole(output)
    assert rows[: len(before)] == before
    assert all(len(label) > SAMPLES for label in pair.answered())
    pairs = [pair for row in rows for pair in ANNOTATION.findall(row["completion"])]
    assert len(pairs) > len(rows)
    assert all(written(left) == right for left, right in pairs if evaluate(left) is not None)
    summary = json.loads(out)
    assert (summary["problems"], summary["completions"]) == (PROBLEMS, PROBLEMS * SAMPLES)
    labels = [json.loads(line) for line in (output / "labels.jsonl").read_text().splitlines()]
    assert summary["right"] == sum(label["label"] == "correct" for label in labels)
    answers = sum(map(len, pair.answered()))
    assert finish(start(pair.words(output)))[0] == 0
    assert sum(map(len, pair.answered())) == answers
    assert stored(output) == rows


def test_a_server_that_dies_and_one_that_is_gone(pair: Pair, tmp_path: Path) -> None:
    """The other one is asked for the rest: now, and when the run goes on with more samples."""
    output = tmp_path / "run"
    words = pair.words(output, "--no-calculator", "--connections", 4)
    process = start(words)
    when(lambda: len(stored(output)) >= 8 and len(pair.answered()[1]) > 2, process)
    pair.die(1)
    status, _, err = finish(process)
    assert status == 0, err
    rows = whole(output)
    assert "calculator" not in json.loads((output / "run.json").read_text())["model"]
    first, second = pair.answered()
    lost = 4  # answered, and broken off on the way
    assert len(rows) <= len(first) + len(second) <= len(rows) + lost
    assert len(second) > 2
    more = [SAMPLES + 1 if word == str(SAMPLES) else word for word in words]
    status, _, err = finish(start(list(map(str, more))))
    assert status == 0, err
    assert "continuing without it" in err
    assert stored(output)[: len(rows)] == rows
    assert len(stored(output)) == PROBLEMS * (SAMPLES + 1)
    assert len(pair.answered()[1]) == len(second)


def test_an_interrupted_sampling_says_what_is_left(pair: Pair, tmp_path: Path) -> None:
    output = tmp_path / "run"
    process = start(pair.words(output, "--connections", 2))
    when(lambda: len(stored(output)) >= 2, process)
    process.send_signal(signal.SIGINT)
    status, out, err = finish(process)
    assert status == 130, err
    assert "run the same command again to request them" in err
    assert "labelled by" in out
    assert 2 <= len(stored(output)) < PROBLEMS * SAMPLES
