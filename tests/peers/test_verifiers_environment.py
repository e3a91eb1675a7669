"""The environment gsm8k-olmes under the real `vf-eval` of both APIs, against the real server."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from gradeschool import get_protocol, load_dataset
from tests.peers.pages import environment, run, why_not
from tests.support.fault_server import (
    Behaviour,
    ReceivedRequest,
    body,
    fault_server,
    forwarded,
)

pytestmark = pytest.mark.peers

ENVIRONMENT = Path(__file__).parents[2] / "environments" / "gsm8k_olmes"
PROTOCOL = "olmes/gsm8k-tulu"
SYSTEM = "Be brief."
# By the place of the problem: a right answer, a wrong one, and what the server itself says.
SAMPLE = load_dataset("sample").problems
COMPLETIONS = {
    SAMPLE[0].question: f" So it is {SAMPLE[0].gold}.",
    SAMPLE[1].question: " So it is 711.",
}


def our_prompts(system: str | None) -> list[list[dict[str, str]]]:
    """The messages of our own olmes/gsm8k-tulu, its prefix as a last message."""
    protocol = get_protocol(PROTOCOL)
    before = [] if system is None else [{"role": "system", "content": system}]
    return [
        [
            *before,
            *(turn._asdict() for turn in prompt.messages),
            {"role": "assistant", "content": str(prompt.prefix)},
        ]
        for prompt in protocol.render(SAMPLE, load_dataset(protocol.shots).problems)
    ]


def scripted(received: ReceivedRequest) -> Behaviour | None:
    """Return the scripted response to a question, as JSON or events; None for other questions."""
    asked = str(received.body["messages"][-2]["content"])
    text = COMPLETIONS.get(asked.removeprefix("Question: "))
    if text is None:
        return None
    choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
    facts: dict[str, Any] = {"id": "1", "created": 1, "model": "tiny"}
    if not received.body.get("stream"):
        facts["usage"] = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        message = {"role": "assistant", "content": text}
        whole = facts | {"object": "chat.completion", "choices": [choice | {"message": message}]}
        return body(json.dumps(whole).encode())
    delta = {"role": "assistant", "content": text}
    chunk = facts | {"object": "chat.completion.chunk", "choices": [choice | {"delta": delta}]}
    events = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"
    return body(events.encode(), "text/event-stream")


def without_nulls(url: str) -> Behaviour:
    """Answer as a server does to a request without its null fields, which llama.cpp refuses."""

    async def answer(request: web.Request, received: ReceivedRequest) -> web.StreamResponse:
        messages = received.body["messages"]
        turns = [{k: v for k, v in turn.items() if v is not None} for turn in messages]
        sent = replace(received, body={**received.body, "messages": turns})
        return await forwarded(url)(request, sent)

    return answer


def evaluate(peer: str, folder: Path, *arguments: str) -> None:
    """Run vf-eval with the environment's module beside the lent package."""
    if reason := why_not(peer):
        pytest.skip(reason)
    path = os.pathsep.join([environment(peer, folder)["PYTHONPATH"], str(ENVIRONMENT)])
    process = run(peer, folder, "vf-eval", *arguments, PYTHONPATH=path, KEY="none")
    assert process.returncode == 0, process.stdout[-2000:] + process.stderr[-3000:]


def check_requests(requests: list[ReceivedRequest], system: str | None) -> None:
    """The prompts are ours to the letter, the decoding is OLMES's."""
    expected = {prompt[-2]["content"]: prompt for prompt in our_prompts(system)}
    decoding = get_protocol(PROTOCOL).decoding
    assert len(requests) == 3
    for sent in (received.body for received in requests):
        turns = [{"role": t["role"], "content": t["content"]} for t in sent["messages"]]
        assert turns == expected[turns[-2]["content"]]
        assert (sent["temperature"], sent["stop"]) == (0.0, list(decoding.stop))
        assert (sent["continue_final_message"], sent["add_generation_prompt"]) == (True, False)


@pytest.mark.usefixtures("data")
def test_load_environment_asks_as_olmes_does_and_scores(tmp_path: Path, llama_url: str) -> None:
    with fault_server(lambda asked: scripted(asked) or without_nulls(llama_url)) as server:
        options = json.dumps({"dataset": "sample", "system_prompt": SYSTEM})
        ask = ("-n", "3", "-r", "1", "-t", "24", "-m", "tiny", "-b", server.url, "-k", "KEY", "-s")
        evaluate("verifiers", tmp_path, "gsm8k-olmes", "-a", options, *ask)
    check_requests(server.requests, SYSTEM)
    (file,) = (tmp_path / "outputs").rglob("results.jsonl")
    rows = sorted(
        map(json.loads, file.read_text("utf-8").splitlines()), key=lambda r: r["info"]["id"]
    )
    assert [row["exact_match"] for row in rows] == [1.0, 0.0, 0.0]
    assert [row["reward"] for row in rows] == [1.0, 0.0, 0.0]


@pytest.mark.usefixtures("data")
def test_the_taskset_asks_as_olmes_does_and_scores(tmp_path: Path, llama_url: str) -> None:
    """verifiers 0.4.0; its chat program is started by uv, which asks the package index."""
    shutil.copy(ENVIRONMENT / "olmes.toml", tmp_path)
    (tmp_path / "system.txt").write_text(SYSTEM, "utf-8")
    with fault_server(lambda asked: scripted(asked) or forwarded(llama_url)) as server:
        client = ("--client.base-url", server.url, "--client.api-key-var", "KEY")
        taskset = ("--env.taskset.dataset", "sample", "--env.taskset.system-prompt", "system.txt")
        ask = ("-m", "tiny", "-n", "3", "--sampling.max-tokens", "24", "-o", "out")
        evaluate(
            "verifiers_0_4_0", tmp_path, "gsm8k-olmes", "@", "olmes.toml", *client, *taskset, *ask
        )
    check_requests(server.requests, SYSTEM)
    (file,) = (tmp_path / "out").rglob("traces.jsonl")
    rewards = {}
    for line in file.read_text("utf-8").splitlines():
        (trace,) = json.loads(line)["traces"]
        rewards[trace["task"]["data"]["id"]] = trace["rewards"]["exact_match"]["score"]
    ids = [problem.id for problem in SAMPLE[:3]]
    assert [rewards[id] for id in ids] == [1.0, 0.0, 0.0]
