"""A run of recorded completions, and its accuracy as it is shown."""

import json
from pathlib import Path

import pytest

from tests.support.command import Command

RECORDED = ("-m", "recorded/sample#handwritten/chat", "-d", "sample", "--quiet")


@pytest.fixture
def run(gradeschool: Command, tmp_path: Path) -> Path:
    """A run of 48 samples."""
    folder = tmp_path / "runs" / "chat"
    assert gradeschool("eval", *RECORDED, "-o", folder).status == 0
    return folder


def accuracy(run: Path) -> str:
    """The figure of the headline scorer, as it is shown."""
    (figures,) = json.loads((run / "results.json").read_text())["scorers"].values()
    return f"{100 * figures['accuracy']:.2f} %"
