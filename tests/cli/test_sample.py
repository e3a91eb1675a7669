"""`gradeschool sample`: labelled completions in a run folder, resumed and topped up."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from gradeschool.completion import Decoding, Prompt
from gradeschool.errors import InputError, TransientError
from gradeschool.models.base import Reply, Request
from gradeschool.models.spread import QUIET_SECONDS, SpreadModel
from gradeschool.problem import Problem
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture

# Several servers


class Server:
    """A model that writes `text`, and counts what it is asked."""

    def __init__(self, text: str = "7", name: str = "one", fails: bool = False) -> None:
        self.text, self.name, self.fails = text, name, fails
        self.asked = self.entered = self.left = 0
        self.identity = f"{name} at {id(self)}"

    async def __aenter__(self) -> "Server":
        self.entered += 1
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.left += 1

    async def answer(self, request: Request) -> Reply:
        if request.key != "probe":
            self.asked += 1
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
    assert [server.asked for server in servers] == [10, 10, 10]
    assert [reply.text for reply in replies] == ["7"] * 30
    assert [server.left for server in servers] == [1, 1, 1]


def test_the_identity_is_of_the_model_and_not_of_the_addresses() -> None:
    first, _ = ask([Server(), Server()], 0)
    assert ask([Server()], 0)[0] == ask([Server()] * 3, 0)[0] == first
    assert ask([Server(text="8"), Server(text="8")], 0)[0] != first
    assert ask([Server(name="two"), Server(name="two")], 0)[0] != first


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Server(name="two"), "different models: 'one', 'two'"),
        (Server("8"), "greedily: '7' and '8'"),
    ],
)
def test_servers_of_different_models_are_refused(other: Server, message: str) -> None:
    first = Server()
    with pytest.raises(InputError, match=message):
        ask([first, other], 1)
    assert (first.asked, first.left, other.left) == (0, first.entered, other.entered)


def test_a_server_that_fails_is_left_alone_for_a_while_then_tried_by_one_request() -> None:
    good, bad, now = Server(), Server(fails=True), [0.0]

    async def one_by_one() -> None:
        async with SpreadModel([bad, good], clock=lambda: now[0]) as model:
            with pytest.raises(TransientError):
                await model.answer(REQUEST)
            for _ in range(5):
                await model.answer(REQUEST)
            assert (good.asked, bad.asked) == (5, 1)
            now[0] += QUIET_SECONDS
            answers = [model.answer(REQUEST) for _ in range(9)]
            replies = await asyncio.gather(*answers, return_exceptions=True)
            assert sum(isinstance(one, TransientError) for one in replies) == 1
            assert (good.asked, bad.asked) == (13, 2)
            now[0] += QUIET_SECONDS
            bad.fails = False
            await model.answer(REQUEST)
            await asyncio.gather(*(model.answer(REQUEST) for _ in range(8)))
            assert (good.asked, bad.asked) == (17, 7)

    asyncio.run(one_by_one())


def test_a_server_that_cannot_be_reached_is_left_out() -> None:
    class Gone(Server):
        async def __aenter__(self) -> "Server":
            raise TransientError("cannot connect", "cannot connect to there")

    told: list[str] = []

    async def work(servers: list[Server]) -> str:
        async with SpreadModel(servers, told.append) as model:
            await model.answer(REQUEST)
            return model.identity

    good = Server()
    assert asyncio.run(work([Gone(), good])) == ask([Server(), Server()], 0)[0]
    assert told == ["cannot connect to there; going on without it"]
    assert (good.asked, good.left) == (1, 1)
    with pytest.raises(TransientError, match="cannot connect to there"):
        asyncio.run(work([Gone(), Gone()]))


# A model here

PROBLEMS = 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that knows nothing, and problems."""
    pytest.importorskip("torch", reason="needs torch, which make test-all installs")
    pytest.importorskip("transformers")
    from tests.support.trainees import sums, tokenizer_of, trainee, write_problems

    folder = tmp_path_factory.mktemp("sample")
    tokenizer = tokenizer_of(sums(40))
    trainee(tokenizer).save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    write_problems(folder / "sums.jsonl", PROBLEMS)
    return folder


def words(folder: Path, output: Path, samples: int) -> list[object]:
    return ["sample", "-m", f"transformers/{folder / 'model'}", "-d", folder / "sums.jsonl",
            "-k", samples, "--max-tokens", 12, "-o", output, "--quiet"]  # fmt: skip


def rows_of(output: Path) -> dict[str, dict[str, Any]]:
    lines = (output / "completions.jsonl").read_bytes().splitlines()
    return {row["key"]: row for row in map(json.loads, lines)}


def test_a_killed_sampling_goes_on_and_more_can_be_added(
    folder: Path, tmp_path: Path, gradeschool: Command
) -> None:
    output = tmp_path / "run"
    assert gradeschool(*words(folder, output, 3)).status == 0
    first = rows_of(output)
    assert len(first) == 3 * PROBLEMS
    assert len({row["completion"] for row in first.values()}) > 2 * PROBLEMS
    lines = (output / "completions.jsonl").read_bytes().splitlines(keepends=True)
    (output / "completions.jsonl").write_bytes(b"".join(lines[:7]) + lines[7][:30])
    assert gradeschool(*words(folder, output, 3)).status == 0
    assert rows_of(output) == first
    assert gradeschool(*words(folder, output, 5)).status == 0
    more = rows_of(output)
    assert len(more) == 5 * PROBLEMS
    assert {key: more[key] for key in first} == first


def test_labels_lie_beside_the_samples(folder: Path, tmp_path: Path, gradeschool: Command) -> None:
    output = tmp_path / "run"
    ended = gradeschool(*words(folder, output, 2), "--json")
    assert ended.status == 0, ended.err
    found = ended.json()
    assert (found["problems"], found["completions"]) == (PROBLEMS, 2 * PROBLEMS)
    labels = [json.loads(line) for line in (output / "labels.jsonl").read_text().splitlines()]
    assert {row["key"] for row in labels} == rows_of(output).keys()
    assert sum(row["label"] == "correct" for row in labels) == found["right"]
    manifest = json.loads((output / "run.json").read_text())
    assert manifest["decoding"]["temperature"] == 0.7
    assert manifest["model"].endswith("with the calculator")
    scored = gradeschool("score", output)
    assert scored.status == 0
    assert "openai/2021" in scored.out


def test_processes_write_the_same_samples(
    folder: Path, tmp_path: Path, gradeschool: Command
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    assert gradeschool(*words(folder, one, 2)).status == 0
    ended = gradeschool(*words(folder, two, 2), "--processes", 2)
    assert ended.status == 0, ended.err
    texts = [{key: row["completion"] for key, row in rows_of(at).items()} for at in (one, two)]
    assert texts[0] == texts[1]


def test_another_model_is_another_run(folder: Path, tmp_path: Path, gradeschool: Command) -> None:
    output = tmp_path / "run"
    assert gradeschool(*words(folder, output, 1)).status == 0
    ended = gradeschool(*words(folder, output, 1), "--no-calculator")
    assert ended.status == 2
    assert "holds another run: its model is" in ended.err
    greedy = gradeschool(*words(folder, tmp_path / "greedy", 1), "--temperature", 0)
    assert greedy.status == 0
    several = gradeschool(*words(folder, tmp_path / "two", 2), "--temperature", 0)
    assert several.status == 2
    assert "would all be the same" in several.err
