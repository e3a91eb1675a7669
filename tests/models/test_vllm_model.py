"""Tests what vLLM's offline engine is sent for each request, and what becomes of its outputs."""

import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gradeschool import Problem
from gradeschool.completion import Decoding, Finish, Prompt, Usage
from gradeschool.errors import ModelError
from gradeschool.models import local
from gradeschool.models.base import Reply, Request
from gradeschool.models.local import Take, VllmModel
from tests.support.lent_modules import lend_vllm

POSITIONS = 40


@pytest.fixture(autouse=True)
def vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of vLLM that keep what they are given."""
    lend_vllm(monkeypatch)
    monkeypatch.setattr(local, "best_device", lambda: "cpu")


class Words:
    """A tokenizer of one token a word, without a chat template."""

    chat_template = None

    def __call__(self, text: str) -> dict[str, list[int]]:
        return {"input_ids": [len(word) for word in text.split()]}


class Engine:
    """An engine that ends one request at each step, the last sent first; keeps what it is sent."""

    def __init__(self) -> None:
        self.llm_engine = self
        self.model_config = SimpleNamespace(max_model_len=POSITIONS)
        self.sent: list[tuple[list[int], Any]] = []
        self.running: list[tuple[str, Any]] = []
        self.most = 0
        self.aborted: list[str] = []

    def get_tokenizer(self) -> Words:
        return Words()

    def add_request(self, name: str, prompt: dict[str, list[int]], sampling: Any) -> None:
        assert name not in dict(self.running)
        self.sent.append((prompt["prompt_token_ids"], sampling))
        self.running.append((name, prompt["prompt_token_ids"]))
        self.most = max(self.most, len(self.running))

    def step(self) -> list[Any]:
        name, ids = self.running.pop()
        written = SimpleNamespace(
            text=f"after {sum(ids)}", token_ids=[1] * len(ids), finish_reason="length"
        )
        ended = SimpleNamespace(request_id=name, finished=True, outputs=[written])
        others = [SimpleNamespace(request_id=name, finished=False) for name, _ in self.running]
        return [*others, ended]

    def abort_request(self, names: list[str]) -> None:
        self.aborted += names


def requests(texts: Sequence[str], decoding: Decoding) -> list[Request]:
    problem = Problem.from_gold("18")
    return [Request(problem, Prompt(text=text), decoding, text, 0) for text in texts]


def taken(requests: Sequence[Request]) -> Take:
    """Return what gives an engine these requests."""
    waiting = iter(requests)
    return lambda most: list(islice(waiting, most))


class Loaded(VllmModel):
    """A model that vLLM has loaded from a folder."""

    def __init__(self, folder: Path, calculator: bool = False) -> None:
        self.folder, self.calculator, self.thinking, self.arguments = folder, calculator, None, {}
        self.load()


def written(engine: Engine, requests: Sequence[Request]) -> dict[str, Reply | ModelError]:
    """The result of each request by its key, which comes once."""
    sys.modules["vllm"].LLM = lambda **_: engine  # type: ignore[attr-defined]
    model = Loaded(Path("model"))
    pairs = [pair for results in model.write(taken(requests)) for pair in results]
    assert len(pairs) == len(requests)
    return {request.key: result for request, result in pairs}


def test_each_request_gets_the_reply_that_bears_its_name() -> None:
    texts = ["a bb", "ccc", "dd dd dd"]
    replies = written(Engine(), requests(texts, Decoding(max_tokens=8)))
    assert replies == {
        "a bb": Reply("after 3", Finish.LENGTH, Usage(2, 2)),
        "ccc": Reply("after 3", Finish.LENGTH, Usage(1, 1)),
        "dd dd dd": Reply("after 6", Finish.LENGTH, Usage(3, 3)),
    }


def test_a_new_request_is_sent_when_another_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "AHEAD", 3)
    engine, texts = Engine(), ["a " * count for count in range(1, 11)]
    assert list(written(engine, requests(texts, Decoding(max_tokens=8)))) == [
        *(texts[place] for place in (2, 3, 4, 5, 6, 7, 8, 9, 1, 0))
    ]
    assert engine.most == 3


def test_a_limit_is_cut_to_the_context_and_a_prompt_that_leaves_too_little_is_refused() -> None:
    """At least a quarter of the limit must be left."""
    engine, texts = Engine(), ["a " * count for count in (8, 9, 35, 36)]
    replies = written(engine, requests(texts, Decoding(max_tokens=20)))
    failures = {key: reply for key, reply in replies.items() if isinstance(reply, ModelError)}
    assert list(failures) == ["a " * 36]
    assert "a prompt of 36 tokens leaves less than a quarter of 20" in str(failures["a " * 36])
    limits = [(len(ids), sampling.max_tokens) for ids, sampling in engine.sent]
    assert limits == [(8, 20), (9, 20), (35, 5)]


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("calculator", [False, True])
def test_an_engine_is_loaded_for_its_device(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, device: str, calculator: bool
) -> None:
    """Nothing is compiled on a CPU, and the model's own sampling defaults and code are not used."""
    given: dict[str, object] = {}

    def start(**options: object) -> Engine:
        given.update(options)
        return Engine()

    monkeypatch.setattr(sys.modules["vllm"], "LLM", start, raising=False)
    monkeypatch.setattr(local, "best_device", lambda: device)
    assert Loaded(tmp_path, calculator).positions == POSITIONS
    assert given == {
        "model": str(tmp_path),
        "dtype": {"cpu": "float32", "cuda": "bfloat16"}[device],
        "generation_config": "vllm",
        "trust_remote_code": False,
        "logits_processors": [local.CALCULATOR] if calculator else None,
        "enforce_eager": device == "cpu",
    }
