"""Check which earlier results and other models a summary of a run names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.fault_server import changed, fault_server
from tests.support.recorded_run import RECORDED, accuracy


@pytest.mark.parametrize(
    ("model", "answered", "shown"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06", False),
        ("org/tiny", "/models/tiny.gguf", False),
        ("gpt-4o", "gpt-3.5-turbo", True),
        ("gpt-4o", "gpt-4", True),
        ("gpt-4o", "gpt-4o-mini", True),
        ("gpt-4", "gpt-4-1106-preview", False),
        ("gemini-1.5-pro", "models/gemini-1.5-pro-002", False),
        ("qwen2.5", "qwen2.5:7b", False),
    ],
)
def test_a_server_that_answers_as_another_model_is_said(
    model: str, answered: str, shown: bool, gradeschool: Command, tmp_path: Path
) -> None:
    problems = tmp_path / "problems.jsonl"
    problems.write_text('{"question": "What is 3 + 0?", "answer": "#### 3"}\n')
    folder, page = tmp_path / "run", tmp_path / "page.html"
    with fault_server(lambda _: changed(lambda body: body.update(model=answered))) as server:
        ended = gradeschool("eval", "-m", f"{server.url}/{model}", "-d", problems, "-o", folder)
    gradeschool("report", folder, "-o", page)
    words = f"'{answered}' (1 answers)"
    assert (words in ended.err) == shown
    assert (words in gradeschool("runs", "show", folder).out) == shown
    assert ("another model answered" in page.read_text()) == shown


def test_an_accuracy_of_fewer_samples_is_not_shown_as_that_of_all(
    gradeschool: Command, tmp_path: Path
) -> None:
    """Of a run that was continued from 20 to 48 samples and ended before its results."""
    folder = tmp_path / "continued"
    assert gradeschool("eval", *RECORDED, "-n", 20, "-o", folder).status == 0
    results, figure = (folder / "results.json").read_bytes(), accuracy(folder)
    assert figure in gradeschool("runs", "list", folder, columns=160).out
    assert "earlier" not in gradeschool("runs", "show", folder).out
    assert gradeschool("eval", *RECORDED, "-o", folder).status == 0
    (folder / "results.json").write_bytes(results)
    listed = gradeschool("runs", "list", folder, columns=80).out
    assert ["48", "0", "-"] in [line.split()[:3] for line in listed.splitlines()]
    shown = gradeschool("runs", "show", folder).out
    assert "results            of an earlier session, of 20 samples" in shown
    (line,) = [line for line in shown.splitlines() if figure in line]
    assert line.endswith("] of 20 samples")
