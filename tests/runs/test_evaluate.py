"""`gradeschool eval` as a user runs it: a real llama.cpp server, kills, faults, bad input."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gradeschool.models.doctor import QUESTION
from tests.support.command import Command
from tests.support.counting_proxy import counting_proxy, read_log


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "gradeschool", "eval", *arguments]


def rows(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "completions.jsonl").read_bytes().split(b"\n")
    return [json.loads(line) for line in lines if line]


def results(folder: Path) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return fields


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    """200 short problems in a local file."""
    path = tmp_path / "problems.jsonl"
    lines = [
        json.dumps({"question": f"What is {n} + {n + 1}?", "answer": f"#### {2 * n + 1}"})
        for n in range(200)
    ]
    path.write_text("\n".join(lines))
    return path


def asked_of(log: Path) -> list[dict[str, Any]]:
    """The bodies that ask for samples: not those that ask what the server does with a prefix."""
    bodies = [entry["body"] for entry in read_log(log, "request")]
    return [body for body in bodies if QUESTION not in json.dumps(body)]


@pytest.mark.parametrize("protocol", [
    pytest.param("lm-eval/gsm8k", marks=pytest.mark.slow),
    pytest.param("olmes/gsm8k-tulu", marks=pytest.mark.slow),
    "zero-shot/chat",
])  # fmt: skip
def test_every_protocol_runs_end_to_end_on_the_real_server(
    data: Path, llama_url: str, tmp_path: Path, protocol: str, gradeschool: Command
) -> None:
    log, folder = tmp_path / "log", tmp_path / "run"
    with counting_proxy(llama_url, log) as url:
        result = gradeschool(
            "eval", "-m", url, "-p", protocol, "-n", 3, "-o", folder, "--max-tokens", 40
        )
    assert result.status == 0, result.err
    assert len(rows(folder)) == 3
    fields = results(folder)
    assert fields["n"] == 3
    assert fields["completion_tokens"] > 0
    sent = asked_of(log)
    is_chat = "messages" in sent[0]
    begins = is_chat and sent[0]["messages"][-1]["role"] == "assistant"
    assert begins == (protocol == "olmes/gsm8k-tulu") == ("continue_final_message" in sent[0])
    manifest = json.loads((folder / "run.json").read_text())
    assert manifest["protocol"]["name"] == f"{protocol} with max tokens 40"
    assert manifest["decoding"]["max_tokens"] == 40
    listed = gradeschool("protocols", "prompts", protocol, "-n", 3)
    prompts = [json.loads(line) for line in listed.out.splitlines()]
    name = "messages" if is_chat else "prompt"
    assert sorted(json.dumps(body[name]) for body in sent) == sorted(
        json.dumps(prompt[name]) for prompt in prompts
    )


def rows_so_far(folder: Path) -> list[dict[str, Any]]:
    """The whole lines of a file that is being written."""
    whole = (folder / "completions.jsonl").read_bytes().rpartition(b"\n")[0]
    return [json.loads(line) for line in whole.split(b"\n") if line]


@pytest.mark.slow
def test_ctrl_c_stores_what_is_in_flight_exits_130_and_leaves_a_resumable_run(
    llama_url: str, problems: Path, tmp_path: Path
) -> None:
    log, folder = tmp_path / "log", tmp_path / "run"
    with counting_proxy(llama_url, log, delay=0.05) as url:
        arguments = ["-m", f"{url}/tiny", "-p", "openai/2021", "-d", str(problems), "-o",
                     str(folder), "--connections", "4", "--max-tokens", "8"]  # fmt: skip
        first = subprocess.Popen(command(*arguments), stderr=subprocess.PIPE, text=True)
        while not (folder / "completions.jsonl").exists() or len(rows_so_far(folder)) < 20:
            assert first.poll() is None
            time.sleep(0.005)
        first.send_signal(signal.SIGINT)
        _, printed = first.communicate(timeout=60)
        assert first.returncode == 130
        assert "run the same command again to request them" in printed
        assert "Traceback" not in printed
        answered = len(read_log(log, "response"))
        assert len(rows(folder)) == answered < 200
        assert results(folder)["missing"] == 200 - answered
        second = subprocess.run(command(*arguments), timeout=60)
    assert second.returncode == 0
    assert len(read_log(log, "request")) == 200
