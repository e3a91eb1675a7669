"""Check what is printed of a run folder, and of one without a judged completion."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.fault_server import fault_server, status
from tests.support.recorded_run import accuracy
from tests.support.recorded_run import run as run  # a fixture


def test_nothing_judged_is_nothing_claimed(gradeschool: Command, tmp_path: Path) -> None:
    problems = tmp_path / "problems.jsonl"
    problems.write_text('{"question": "What is 3 + 0?", "answer": "#### 3"}\n')
    folder = tmp_path / "runs" / "failed"
    with fault_server(lambda _: status(400)) as server:
        ended = gradeschool("eval", "-m", f"{server.url}/m", "-d", problems, "-o", folder)
    assert ended.status == 3
    fields = json.loads((folder / "results.json").read_text())
    assert [(row["accuracy"], row["ci95"]) for row in fields["scorers"].values()] == [(None, None)]
    page = tmp_path / "page.html"
    for words in (
        ("score", folder),
        ("runs", "list", tmp_path / "runs"),
        ("runs", "show", folder),
        ("report", folder, "-o", page),
        ("report", folder, "-o", tmp_path / "page.md"),
    ):
        result = gradeschool(*words)
        assert "0.00 %" not in result.out + result.err + ended.out + ended.err, words
    assert "No completion of this run could be judged" in page.read_text()
    assert "0.00" not in (tmp_path / "page.md").read_text()


def test_show_tells_what_the_run_is(gradeschool: Command, run: Path) -> None:
    shown = gradeschool("runs", "show", run).out
    for words in ("zero-shot/chat (", "temperature 0.0", "48 answered, 0 failed", accuracy(run)):
        assert words in shown
    assert gradeschool("runs", "show", run, "--json").json()["results"]["n"] == 48
    assert "is not a run folder" in gradeschool("runs", "show", run.parent).err
