"""The environment gsm8k-olmes under the real `vf-eval` of both APIs, against the real server."""

from __future__ import annotations

import json
import os
import shutil
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from gradeschool import get_protocol, load_dataset
from tests.peers.pages import environment, run, why_not
from tests.support.counting_proxy import Answer, counting_proxy

pytestmark = pytest.mark.peers

ENVIRONMENT = Path(__file__).parents[2] / "environments" / "gsm8k_olmes"
PROTOCOL = "olmes/gsm8k-tulu"
SYSTEM = "Be brief."
JSON, EVENTS = {"Content-Type": "application/json"}, {"Content-Type": "text/event-stream"}
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


def question_of(body: dict[str, Any]) -> str:
    return str(body["messages"][-2]["content"]).removeprefix("Question: ")


def scripted(body: dict[str, Any]) -> Answer | None:
    """Return the scripted response to a question, as JSON or events; None for other questions."""
    text = COMPLETIONS.get(question_of(body))
    if text is None:
        return None
    choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
    facts: dict[str, Any] = {"id": "1", "created": 1, "model": "tiny"}
    if not body.get("stream"):
        facts["usage"] = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        message = {"role": "assistant", "content": text}
        whole = facts | {"object": "chat.completion", "choices": [choice | {"message": message}]}
        return 200, JSON, json.dumps(whole).encode()
    delta = {"role": "assistant", "content": text}
    chunk = facts | {"object": "chat.completion.chunk", "choices": [choice | {"delta": delta}]}
    return 200, EVENTS, f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()


def without_nulls(url: str, body: dict[str, Any]) -> Answer:
    """The server's answer to a request without its null fields, which llama.cpp refuses."""
    turns = [{k: v for k, v in turn.items() if v is not None} for turn in body["messages"]]
    sent = json.dumps(body | {"messages": turns}).encode()
    request = urllib.request.Request(f"{url}/chat/completions", sent, JSON)
    with urllib.request.urlopen(request) as reply:
        return 200, JSON, reply.read()


def evaluate(peer: str, folder: Path, *arguments: str) -> None:
    """Run vf-eval with the environment's module beside the lent package."""
    if reason := why_not(peer):
        pytest.skip(reason)
    path = os.pathsep.join([environment(peer, folder)["PYTHONPATH"], str(ENVIRONMENT)])
    process = run(peer, folder, "vf-eval", *arguments, PYTHONPATH=path, KEY="none")
    assert process.returncode == 0, process.stdout[-2000:] + process.stderr[-3000:]


def requests(log: Path) -> list[dict[str, Any]]:
    events = map(json.loads, log.read_text("utf-8").splitlines())
    return [event["body"] for event in events if event["event"] == "request"]


def check_requests(bodies: list[dict[str, Any]], system: str | None) -> None:
    """The prompts are ours to the letter, the decoding is OLMES's."""
    expected = {prompt[-2]["content"]: prompt for prompt in our_prompts(system)}
    decoding = get_protocol(PROTOCOL).decoding
    assert len(bodies) == 3
    for body in bodies:
        turns = [{"role": t["role"], "content": t["content"]} for t in body["messages"]]
        assert turns == expected[turns[-2]["content"]]
        assert (body["temperature"], body["stop"]) == (0.0, list(decoding.stop))
        assert (body["continue_final_message"], body["add_generation_prompt"]) == (True, False)


@pytest.mark.usefixtures("data")
def test_load_environment_asks_as_olmes_does_and_scores(tmp_path: Path, llama_url: str) -> None:
    log = tmp_path / "log"
    log.touch()
    with counting_proxy(
        llama_url, log, faults=lambda _, body: scripted(body) or without_nulls(llama_url, body)
    ) as url:
        options = json.dumps({"dataset": "sample", "system_prompt": SYSTEM})
        ask = ("-n", "3", "-r", "1", "-t", "24", "-m", "tiny", "-b", url, "-k", "KEY", "-s")
        evaluate("verifiers", tmp_path, "gsm8k-olmes", "-a", options, *ask)
    check_requests(requests(log), SYSTEM)
    (file,) = (tmp_path / "outputs").rglob("results.jsonl")
    rows = sorted(
        map(json.loads, file.read_text("utf-8").splitlines()), key=lambda r: r["info"]["id"]
    )
    assert [row["exact_match"] for row in rows] == [1.0, 0.0, 0.0]
    assert [row["reward"] for row in rows] == [1.0, 0.0, 0.0]


@pytest.mark.usefixtures("data")
def test_the_taskset_asks_as_olmes_does_and_scores(tmp_path: Path, llama_url: str) -> None:
    """verifiers 0.4.0; its chat program is started by uv, which asks the package index."""
    log = tmp_path / "log"
    log.touch()
    shutil.copy(ENVIRONMENT / "olmes.toml", tmp_path)
    (tmp_path / "system.txt").write_text(SYSTEM, "utf-8")
    with counting_proxy(llama_url, log, faults=lambda _, body: scripted(body)) as url:
        client = ("--client.base-url", url, "--client.api-key-var", "KEY")
        taskset = ("--env.taskset.dataset", "sample", "--env.taskset.system-prompt", "system.txt")
        ask = ("-m", "tiny", "-n", "3", "--sampling.max-tokens", "24", "-o", "out")
        evaluate(
            "verifiers_0_4_0", tmp_path, "gsm8k-olmes", "@", "olmes.toml", *client, *taskset, *ask
        )
    check_requests(requests(log), SYSTEM)
    (file,) = (tmp_path / "out").rglob("traces.jsonl")
    rewards = {}
    for line in file.read_text("utf-8").splitlines():
        (trace,) = json.loads(line)["traces"]
        rewards[trace["task"]["data"]["id"]] = trace["rewards"]["exact_match"]["score"]
    ids = [problem.id for problem in SAMPLE[:3]]
    assert [rewards[id] for id in ids] == [1.0, 0.0, 0.0]
