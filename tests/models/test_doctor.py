"""The doctor on servers with every fault that it looks for, and on good ones."""

import asyncio
import json
from pathlib import Path

import pytest

from gradeschool.models.doctor import (
    DEVIATES,
    FINE,
    UNKNOWN,
    Probe,
    ServerFinding,
    examine,
    obstacles,
)
from gradeschool.protocols.registry import get_protocol
from tests.support.command import Command
from tests.support.fault_server import (
    Behaviour,
    Choose,
    ReceivedRequest,
    body,
    choices,
    fault_server,
    good,
    status,
)
from tests.support.llama_server import DEFAULTS, SINGLE, llama_server

WORDS = "Each of the five boxes holds twelve eggs so there are sixty eggs in all of them"


def disobedient(received: ReceivedRequest) -> Behaviour:
    """Take every field and obey none but the temperature 0.

    Stop strings are left in; without a neutral value, a penalty acts. Nothing is counted.
    """
    text = WORDS
    if "prompt" in received.body and "repetition_penalty" not in received.body:
        text += " penalised"
    for stop in received.body.get("stop") or ():
        text = text[: text.find(stop) + len(stop)] if stop in text else text
    reply = choices(received, text)
    del reply["usage"]
    return body(json.dumps(reply).encode())


def obedient(received: ReceivedRequest, said: str = WORDS) -> Behaviour:
    """Do as a server of a chat model what is requested; a plain text ends at once.

    It has the fields of OpenAI's API, and `said` to say in a chat.
    """
    asked, words, finish = received.body, [], "stop"
    turns = asked.get("messages") or [{"content": asked.get("prompt", "")}]
    read = sum(len(turn["content"].split()) for turn in turns) + 10 * ("messages" in asked)
    if read > 4096:
        return status(400, "too long")
    if "messages" in asked:
        words = said.split()
    if asked.get("temperature") and words:  # each seed begins at another word
        start = asked.get("seed", 0) % len(words)
        words = words[start:] + words[:start]
    if asked.get("continue_final_message"):
        begun = turns[-1]["content"].split()
        words = words[len(begun) :] if words[: len(begun)] == begun else ["elsewhere"]
    if len(words) > asked["max_tokens"]:
        words, finish = words[: asked["max_tokens"]], "length"
    text = " ".join(words)
    for stop in asked.get("stop") or ():
        text = text.partition(stop)[0]
    reply = choices(received, text)
    reply["choices"][0]["finish_reason"] = finish
    reply["usage"] = {"prompt_tokens": read, "completion_tokens": len(words)}
    return body(json.dumps(reply).encode())


def findings_of(choose: Choose) -> dict[str, ServerFinding]:
    """What the doctor says of a server."""
    with fault_server(choose) as server:
        findings = asyncio.run(examine(Probe(server.url, "bad", "", 30.0)))
    return {finding.name: finding for finding in findings}


def test_a_server_that_obeys_nothing() -> None:
    by_name = findings_of(disobedient)
    states = {name: finding.state for name, finding in by_name.items()}
    assert states == {
        "forms": FINE,
        "usage": DEVIATES,
        "chat template": UNKNOWN,
        "greedy": FINE,
        "hidden penalty": DEVIATES,
        "temperature": DEVIATES,
        "stop": DEVIATES,
        "max_tokens": DEVIATES,
        "prefix": DEVIATES,
        "context limit": UNKNOWN,  # it does not count what it read
    }
    assert "left in the text" in by_name["stop"].says
    assert "ignored" in by_name["prefix"].says
    (why,) = obstacles(get_protocol("olmes/gsm8k-tulu"), list(by_name.values()))
    assert "continue_final_message" in why
    assert not obstacles(get_protocol("lm-eval/gsm8k"), list(by_name.values()))
    (why,) = obstacles(get_protocol("simple-evals/mgsm-en"), list(by_name.values()))
    assert "temperature" in why


@pytest.mark.parametrize("words", [WORDS, "60", ""])
@pytest.mark.parametrize("has_chat", [True, False])
def test_nothing_deviates_where_a_plain_text_ends_at_once(words: str, has_chat: bool) -> None:
    def choose(received: ReceivedRequest) -> Behaviour:
        if "messages" in received.body and not has_chat:
            return status(404, "no such route")
        return obedient(received, words)

    by_name = findings_of(choose)
    deviates = {name for name, finding in by_name.items() if finding.state is DEVIATES}
    assert deviates == (set() if has_chat else {"forms"})
    needs_words = {"temperature", "stop", "max_tokens", "hidden penalty"}
    expected = FINE if has_chat and words == WORDS else UNKNOWN
    assert {by_name[name].state for name in needs_words} == {expected}
    if expected is UNKNOWN:
        assert all("ends its answer" in by_name[name].says for name in needs_words)


def test_a_server_that_ignores_the_prefix_stops_a_run(tmp_path: Path, gradeschool: Command) -> None:
    folder = tmp_path / "run"
    with fault_server(disobedient) as server:
        words = ("-p", "olmes/gsm8k-zs-cot-r1", "-d", "sample", "-n", 3, "-o", folder)
        ended = gradeschool("eval", "-m", f"{server.url}/bad", *words)
    assert ended.status == 2
    assert "continue_final_message is ignored" in ended.err
    assert len(server.requests) == 4
    assert not (folder / "completions.jsonl").stat().st_size


@pytest.mark.parametrize("protocol", ["olmes/gsm8k-tulu", "lm-eval/gsm8k"])
def test_the_real_server(gradeschool: Command, llama_url: str, protocol: str) -> None:
    result = gradeschool.done("doctor", llama_url, "-p", protocol, "--json")
    report = result.json()
    deviates = {finding["name"] for finding in report["findings"] if finding["state"] == "deviates"}
    assert not deviates
    fine = {finding["name"] for finding in report["findings"] if finding["state"] == "fine"}
    assert {"chat template", "temperature", "prefix"} <= fine
    assert report["obstacles"] == []
    assert report["requests"] < 30


@pytest.mark.parametrize("settings", [DEFAULTS, SINGLE])
def test_a_real_chat_model(gradeschool: Command, smollm: Path, settings: str) -> None:
    with llama_server(smollm, slots=2, context=4096, settings=settings) as url:
        result = gradeschool("doctor", url, "-p", "olmes/gsm8k-tulu", "--json")
    assert result.status == 0, result
    findings = {finding["name"]: finding for finding in result.json()["findings"]}
    assert {finding["state"] for finding in findings.values()} == {"fine"}
    assert "max_tokens is obeyed" in findings["max_tokens"]["says"]


def test_a_header_opens_a_server_with_a_key(gradeschool: Command) -> None:
    def keyed(received: ReceivedRequest) -> Behaviour | None:
        return None if received.authorization == "Bearer key-of-a-server" else status(401)

    with fault_server(keyed) as server:
        url = f"{server.url}/m"
        assert "no API key was sent" in gradeschool("doctor", url).err
        header = ("--header", "Authorization=Bearer key-of-a-server")
        gradeschool.done("doctor", url, *header)


def test_a_protocol_that_cannot_run_on_a_server_is_an_exit_status(gradeschool: Command) -> None:
    """The server has no form for completions, and says what is needed for a terminal."""

    def chat_only(received: ReceivedRequest) -> Behaviour | None:
        return status(404) if "prompt" in received.body else good("#### 60\x1b[31m")

    with fault_server(chat_only) as server:
        url = f"{server.url}/m"
        refused = gradeschool("doctor", url, "-p", "openai/2021")
        fields = gradeschool("doctor", url, "-p", "openai/2021", "--json")
        alone = gradeschool("doctor", url)
    assert (refused.status, fields.status, alone.status) == (1, 1, 0)
    assert "openai/2021 cannot be run here: " in refused.out
    assert "\x1b" not in refused.out
    report = fields.json()
    assert (report["model"], report["protocol"], bool(report["obstacles"])) == (
        "m", "openai/2021", True,
    )  # fmt: skip
    forms = next(finding for finding in report["findings"] if finding["name"] == "forms")
    assert forms["state"] == "deviates"
    assert forms["says"] in refused.out
    assert "can be run" not in alone.out
