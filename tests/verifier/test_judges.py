"""Scorers that are asked: reward models behind a server, critics."""

import json
from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from gradeschool.errors import InputError
from gradeschool.verifier.scores import RewardServer, load_rater
from tests.support.command import Command
from tests.support.http_server import serve

PATHS: set[str] = set()  # that the server has
ASKED: list[dict[str, Any]] = []  # what it was asked, with the key


async def answer(request: web.Request) -> web.Response:
    """The answer of a reward model that likes long steps, and of a critic that likes sevens."""
    if request.path == "/v1/models":
        listed = [{"id": "reward"}]
        return web.json_response(listed if "/refused" in PATHS else {"data": listed})
    body = await request.json()
    ASKED.append({"key": request.headers.get("Authorization"), **body})
    if request.path not in PATHS:
        raise web.HTTPNotFound
    if request.path == "/score":
        return web.json_response({"data": [{"score": len(body["text_2"]) / 100}]})
    text = body["messages"][-1]["content"]
    if request.path == "/pooling":
        steps = text.split("<extra_0>")[:-1] or text.split("\n")
        classes = [[1 - len(step) / 100, len(step) / 100] for step in steps]
        return web.json_response({"data": [{"data": classes}]})
    said = "yes" if "7" in text.split("Solution:")[1] else "no"
    message = {"role": "assistant", "content": f"So it is.\nCorrect: {said}"}
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": "stop"}
    if body.get("logprobs"):
        shares = {" Yes": 0.6, "yes": 0.15, "No": 0.05, "So": 0.1}
        tokens: list[dict[str, Any]] = [
            {"token": word, "logprob": log(share)} for word, share in shares.items()
        ]
        choice["logprobs"] = {"content": [{"top_logprobs": tokens}]}
    usage = {"prompt_tokens": 1, "completion_tokens": 1}
    return web.json_response({"model": "reward", "usage": usage, "choices": [choice]})


@pytest.fixture
def url() -> Iterator[str]:
    """The address of a running server."""
    ASKED.clear()
    PATHS.clear()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    with serve(app) as base:
        yield base


SOLUTIONS = [("Why?", ["One.", "So 7."]), ("How?", ["Twelve."])]


def test_pooling_gives_a_score_to_each_step(url: str) -> None:
    PATHS.add("/pooling")
    assert RewardServer(url).step_scores(SOLUTIONS) == [[0.04, 0.05], [0.07]]
    assert ASKED[0]["model"] == "reward"
    assert RewardServer(url, "qwen").step_scores(SOLUTIONS[:1]) == [[0.04, 0.05]]
    assert "<extra_0>" in ASKED[-1]["messages"][-1]["content"]


def test_score_is_asked_where_there_is_no_pooling(url: str) -> None:
    PATHS.add("/score")
    assert RewardServer(f"{url}/reward").step_scores(SOLUTIONS) == [[0.1], [0.07]]
    PATHS.clear()
    with pytest.raises(InputError, match="neither /pooling nor /score"):
        RewardServer(url).step_scores(SOLUTIONS)
    PATHS.add("/refused")
    with pytest.raises(InputError, match="does not serve exactly one model"):
        RewardServer(url)


def test_a_critic_gives_the_probability_of_yes(url: str) -> None:
    PATHS.add("/v1/chat/completions")
    critic: Any = load_rater(critic=f"{url}/reward", critiques=0).verifier
    assert critic.step_scores(SOLUTIONS) == [[pytest.approx(0.75 / 0.8)]] * 2
    assert ASKED[-1]["max_tokens"] == 1
    with pytest.raises(InputError, match="has an unknown form"):
        load_rater(critic="transformers/model", critiques=0)


def test_a_server_gets_its_own_key_alone(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    PATHS.add("/pooling")
    host = url.removeprefix("http://").removesuffix("/v1")
    monkeypatch.setenv("GRADESCHOOL_API_KEY", f"other.example=no-1 {host}=yes-2")
    RewardServer(f"{url}/reward").step_scores(SOLUTIONS[:1])
    assert ASKED[-1]["key"] == "Bearer yes-2"


def test_rank_takes_an_address_and_a_critic(url: str, tmp_path: Path, gradeschool: Command) -> None:
    PATHS.update(("/pooling", "/v1/chat/completions"))
    rows = [{"index": index, "sample": sample, "completion": f"So\n#### {sample + 6}"}
            for index in range(3) for sample in range(3)]  # fmt: skip
    file = tmp_path / "samples.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    ended = gradeschool.done("verifier", "rank", file, "-d", "sample", "--verifier", url, "--json")
    assert ended.json()["verifier"].startswith("reward at 127.0.0.1:")
    critic = gradeschool.done("verifier", "rank", file, "-d", "sample", "--critic", f"{url}/reward",
                         "--json")  # fmt: skip
    assert "critic" in critic.json()["verifier"]
    said = gradeschool.refused("verifier", "rank", file, "--critic", url, "--verifier", "tiny")
    assert "are both given; give one" in said
    written = (tmp_path / "samples.verifier-scores.jsonl").read_text().splitlines()
    scores = {json.loads(line)["score"] for line in written if "critic" in line}
    assert scores == {0.0, 1.0}
