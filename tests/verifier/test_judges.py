"""Scorers that are asked: reward models behind a server, critics."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import log
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from gradeschool.errors import InputError
from gradeschool.verifier.judges import RewardServer
from gradeschool.verifier.scores import load_scorer
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture


class Handler(BaseHTTPRequestHandler):
    """A server of one reward model, which likes long answers; `paths` are those that it has."""

    paths: tuple[str, ...] = ()
    asked: list[dict[str, Any]] = []  # noqa: RUF012  (reset by each test)
    keys: list[str | None] = []  # noqa: RUF012

    def do_GET(self) -> None:
        self._reply({"data": [{"id": "reward"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append({"path": self.path, **body})
        self.keys.append(self.headers["Authorization"])
        if self.path not in self.paths:
            self.send_error(404)
        elif self.path == "/pooling":
            text = body["messages"][-1]["content"]
            steps = text.split("<extra_0>")[:-1] or text.split("\n")
            self._reply({"data": [{"data": [[1 - len(step) / 100, len(step) / 100]
                                            for step in steps]}]})  # fmt: skip
        elif self.path == "/score":
            self._reply({"data": [{"score": len(body["text_2"]) / 100}]})
        else:
            said = "yes" if "7" in body["messages"][-1]["content"].split("Solution:")[1] else "no"
            message = {"role": "assistant", "content": f"So it is.\nCorrect: {said}"}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            if body.get("logprobs"):
                shares = {" Yes": 0.6, "yes": 0.15, "No": 0.05, "So": 0.1}
                listed = [{"token": word, "logprob": log(share)} for word, share in shares.items()]
                choice["logprobs"] = {"content": [{"top_logprobs": listed}]}
            self._reply({"model": "reward", "usage": {"prompt_tokens": 1, "completion_tokens": 1},
                         "choices": [choice]})  # fmt: skip

    def _reply(self, fields: dict[str, Any]) -> None:
        data = json.dumps(fields).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    """The address of a running server."""
    Handler.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


SOLUTIONS = [("Why?", ["One.", "So 7."]), ("How?", ["Twelve."])]


def test_pooling_gives_a_score_to_each_step(url: str) -> None:
    Handler.paths = ("/pooling",)
    assert RewardServer(url).step_scores(SOLUTIONS) == [[0.04, 0.05], [0.07]]
    assert Handler.asked[0]["model"] == "reward"
    assert RewardServer(url, "qwen").step_scores(SOLUTIONS[:1]) == [[0.04, 0.05]]
    assert "<extra_0>" in Handler.asked[-1]["messages"][-1]["content"]


def test_score_is_asked_where_there_is_no_pooling(url: str) -> None:
    Handler.paths = ("/score",)
    assert RewardServer(f"{url}/reward").step_scores(SOLUTIONS) == [[0.1], [0.07]]
    Handler.paths = ()
    with pytest.raises(InputError, match="neither /pooling nor /score"):
        RewardServer(url).step_scores(SOLUTIONS)


def test_a_critic_gives_the_probability_of_yes(url: str) -> None:
    Handler.paths = ("/v1/chat/completions",)
    critic: Any = load_scorer(critic=f"{url}/reward", critiques=0).verifier
    assert critic.step_scores(SOLUTIONS) == [[pytest.approx(0.75 / 0.8)]] * 2
    assert Handler.asked[-1]["max_tokens"] == 1
    with pytest.raises(InputError, match="has an unknown form"):
        load_scorer(critic="transformers/model", critiques=0)


def test_a_server_gets_its_own_key_alone(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Handler.paths = ("/pooling",)
    host = url.removeprefix("http://").removesuffix("/v1")
    monkeypatch.setenv("GRADESCHOOL_API_KEY", f"other.example=no-1 {host}=yes-2")
    RewardServer(f"{url}/reward").step_scores(SOLUTIONS[:1])
    assert Handler.keys[-1] == "Bearer yes-2"


def test_rank_takes_an_address_and_a_critic(url: str, tmp_path: Path, gradeschool: Command) -> None:
    Handler.paths = ("/pooling", "/v1/chat/completions")
    rows = [{"index": index, "sample": sample, "completion": f"So\n#### {sample + 6}"}
            for index in range(3) for sample in range(3)]  # fmt: skip
    file = tmp_path / "samples.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    ended = gradeschool("verifier", "rank", file, "-d", "sample", "--verifier", url, "--json")
    assert ended.status == 0, ended.err
    assert ended.json()["verifier"].startswith("reward at 127.0.0.1:")
    critic = gradeschool("verifier", "rank", file, "-d", "sample", "--critic", f"{url}/reward",
                         "--json")  # fmt: skip
    assert critic.status == 0, critic.err
    assert "critic" in critic.json()["verifier"]
    both = gradeschool("verifier", "rank", file, "--critic", url, "--verifier", "tiny")
    assert (both.status, "are both given; give one" in both.err) == (2, True)
    written = (tmp_path / "samples.verifier-scores.jsonl").read_text().splitlines()
    scores = {json.loads(line)["score"] for line in written if "critic" in line}
    assert scores == {0.0, 1.0}
