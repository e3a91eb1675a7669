"""Several samples of a problem from a real llama.cpp server: one request for many, topped up."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.counting_proxy import counting_proxy, read_log
from tests.support.llama_server import SLOTS


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    path = tmp_path / "problems.jsonl"
    rows = [{"question": f"What is {n} + 1?", "answer": f"#### {n + 1}"} for n in range(4)]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def rows(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "completions.jsonl").read_bytes().split(b"\n")
    return [json.loads(line) for line in lines if line]


def test_samples_that_differ_are_got_in_one_request_and_topped_up_in_others(
    llama_url: str, problems: Path, tmp_path: Path, gradeschool: Command
) -> None:
    log, folder = tmp_path / "log", tmp_path / "run"
    with counting_proxy(llama_url, log) as url:
        arguments = ("-m", f"{url}/tiny", "-p", "openai/2021", "-d", problems, "-o", folder,
                     "--temperature", 1, "--max-tokens", 16, "--choices", 5)  # fmt: skip
        first = gradeschool("eval", *arguments, "-k", 5)
        second = gradeschool("eval", *arguments, "-k", 8)
    assert (first.status, second.status) == (0, 0), second.err
    bodies = [entry["body"] for entry in read_log(log, "request")]
    assert Counter(body.get("n", 1) for body in bodies) == {5: 4, 3: 4}
    stored = rows(folder)
    assert len({row["key"] for row in stored}) == 4 * 8
    assert len({row["completion"] for row in stored}) > 8
    answered = [entry["body"]["usage"] for entry in read_log(log, "response")]
    assert sum(row["completion_tokens"] or 0 for row in stored) == sum(
        usage["completion_tokens"] for usage in answered
    )
    assert "maj@k" in second.out


def test_more_choices_than_the_server_has_slots_are_asked_for_one_by_one(
    llama_url: str, problems: Path, tmp_path: Path, gradeschool: Command
) -> None:
    log, folder, samples = tmp_path / "log", tmp_path / "run", SLOTS + 4
    with counting_proxy(llama_url, log) as url:
        result = gradeschool(
            "eval", "-m", f"{url}/tiny", "-p", "openai/2021", "-d", problems, "-o", folder,
            "--temperature", 1, "--max-tokens", 8, "-n", 2, "-k", samples,
            "--choices", samples, "--connections", 1,
        )  # fmt: skip
    assert result.status == 0, result.err
    assert len({row["key"] for row in rows(folder)}) == 2 * samples
    statuses = Counter(entry["status"] for entry in read_log(log, "response"))
    assert statuses == {400: 1, 200: 2 * samples}


def test_neutral_values_change_no_greedy_text(
    llama_url: str, problems: Path, tmp_path: Path, gradeschool: Command
) -> None:
    from tests.support.openai_client import complete

    folder = tmp_path / "run"
    result = gradeschool("eval", "-m", f"{llama_url}/tiny", "-p", "openai/2021", "-d", problems,
                       "-o", folder, "--max-tokens", 24)  # fmt: skip
    assert result.status == 0, result.err
    for row in rows(folder):
        plain = complete(llama_url, row["question"] + "\n", max_tokens=24)
        assert row["completion"] == plain["text"]
