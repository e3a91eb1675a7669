"""vLLM's offline engine as a model: greedy text as transformers writes it, calculator or not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gradeschool.completion import Decoding
from gradeschool.models.base import Request
from gradeschool.models.transformers_model import TransformersModel
from tests.models.test_transformers_model import CHAT, GREEDY, answers, prompts, requests, texts
from tests.peers.pages import SERVER_ENVIRONMENT, run_python, why_not

pytestmark = pytest.mark.peers

PEER = "vllm_cpu"
# Asks the engine in its own environment for what stands in a file.
ASK = """
import asyncio, json, sys
from pathlib import Path
from gradeschool import Problem
from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.models.base import Request
from gradeschool.models.vllm_model import VllmModel

async def main(asked):
    requests = []
    for at, (text, turns, prefix, limit, stop) in enumerate(asked["requests"]):
        messages = tuple(Message(*turn) for turn in turns)
        decoding = Decoding(max_tokens=limit, stop=tuple(stop))
        prompt = Prompt(text=text, messages=messages, prefix=prefix)
        requests.append(Request(Problem.from_gold("18"), prompt, decoding, str(at), 0))
    async with VllmModel(asked["folder"], asked["calculator"]) as model:
        replies = [reply for [reply] in await asyncio.gather(*map(model.complete, requests))]
    used = [reply.usage.completion_tokens for reply in replies]
    Path("replies.json").write_text(json.dumps([[reply.text for reply in replies], used]))

if __name__ == "__main__":
    asyncio.run(main(json.loads(Path("asked.json").read_text())))
"""


def plain(request: Request) -> list[object]:
    """A request as JSON holds it."""
    prompt, decoding = request.prompt, request.decoding
    turns = [list(message) for message in prompt.messages]
    return [prompt.text, turns, prompt.prefix, decoding.max_tokens, list(decoding.stop)]


def written(folder: Path, requests: Sequence[Request], calculator: bool, work: Path) -> list[str]:
    """What vLLM writes."""
    task = {"folder": str(folder), "calculator": calculator, "requests": list(map(plain, requests))}
    (work / "asked.json").write_text(json.dumps(task), "utf-8")
    process = run_python(PEER, work, ASK, **SERVER_ENVIRONMENT)
    assert process.returncode == 0, process.stderr[-4000:]
    completions, tokens = json.loads((work / "replies.json").read_text("utf-8"))
    assert all(tokens)
    return [str(text) for text in completions]


@pytest.mark.parametrize("calculator", [False, True])
def test_greedy_text_is_that_of_transformers(
    tiny_model: Path, tmp_path: Path, calculator: bool
) -> None:
    if reason := why_not(PEER):
        pytest.skip(reason)
    prompted = [
        request
        for form in ("text", "chat", "prefix")
        for request in requests(prompts(form), GREEDY if form == "text" else CHAT)
    ]
    if calculator:
        longer = Decoding(max_tokens=80)
        prompted = [replace(request, decoding=longer) for request in prompted[:24]]
    expected = texts(answers(TransformersModel(str(tiny_model), calculator), prompted))
    assert written(tiny_model, prompted, calculator, tmp_path) == expected
    if calculator:
        assert sum("<<" in text for text in expected) > len(expected) / 2
