"""Several servers of one model as one: shared work, identity, failures."""

import asyncio
from typing import Any

import pytest

from gradeschool.completion import Decoding, Prompt
from gradeschool.errors import FatalModelError, InputError, TransientError
from gradeschool.models.base import Reply, Request
from gradeschool.models.doctor import check_server
from gradeschool.models.endpoint import Endpoint
from gradeschool.models.probe import FindingState, ServerFinding
from gradeschool.models.spread import QUIET_SECONDS, SpreadModel
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_protocol
from tests.support.command import gradeschool as gradeschool  # a fixture


class Server:
    """A model that writes `text`, and counts what it is asked."""

    def __init__(self, text: str = "7", name: str = "one", fails: bool = False) -> None:
        self.text, self.name, self.fails = text, name, fails
        self.calls = self.entered = self.exits = 0
        self.identity = f"{name} at {id(self)}"

    async def __aenter__(self) -> "Server":
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
        async def __aenter__(self) -> "Server":
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
