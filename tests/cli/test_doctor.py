"""Check what `gradeschool doctor` finds of servers, and its exit status."""

from pathlib import Path

import pytest

from tests.support.command import Command
from tests.support.fault_server import Behaviour, ReceivedRequest, fault_server, good, status
from tests.support.llama_server import DEFAULTS, SINGLE, llama_server


@pytest.mark.parametrize("protocol", ["olmes/gsm8k-tulu", "lm-eval/gsm8k"])
def test_the_real_server(gradeschool: Command, llama_url: str, protocol: str) -> None:
    result = gradeschool("doctor", llama_url, "-p", protocol, "--json")
    assert result.status == 0, result
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


def test_an_unknown_protocol_is_refused_before_a_server_is_asked(gradeschool: Command) -> None:
    with fault_server() as server:
        ended = gradeschool("doctor", f"{server.url}/m", "-p", "openai/2020")
        assert not server.requests
    assert ended.status == 2
    assert "no protocol is called 'openai/2020'; did you mean openai/2021" in ended.err
