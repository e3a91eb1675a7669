"""`gradeschool integrations`."""

from __future__ import annotations

from pathlib import Path

from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture


def test_integrations_prints_paths_that_are_there(gradeschool: Command) -> None:
    folder = Path(gradeschool("integrations", "lm-eval").out.strip())
    assert (folder / "gsm8k_gradeschool.yaml").is_file()
    assert Path(gradeschool("integrations", "openrlhf").out.strip()).is_file()
    assert "pkg://gradeschool.integrations.verl" in gradeschool("integrations").out


def test_an_unknown_tool_is_refused_with_those_that_are_close(
    gradeschool: Command,
) -> None:
    result = gradeschool("integrations", "lmeval")
    assert (result.status, "did you mean lm-eval?" in result.err) == (2, True)
