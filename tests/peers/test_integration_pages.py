"""The examples of docs/integrations.md, each section in a folder, run against the real package."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.peers.pages import Example, run_example, sections, why_not

pytestmark = pytest.mark.peers
SECTIONS = sections("integrations.md")


@pytest.mark.parametrize("name", SECTIONS)
def test_every_example_of_a_section_runs(
    name: str, tmp_path: Path, data: Path, request: pytest.FixtureRequest
) -> None:
    """A section that names the tiny model or a server gets the real ones."""
    blocks: list[Example] = SECTIONS[name]
    for reason in filter(None, (why_not(block.peer) for block in blocks)):
        pytest.skip(reason)
    text = "".join(block.code for block in blocks)
    changes = {}
    if "tiny-model" in text:
        (tmp_path / "tiny-model").symlink_to(request.getfixturevalue("tiny_model"))
    if "LLAMA_URL" in text:
        changes["LLAMA_URL"] = request.getfixturevalue("llama_url")
    for block in blocks:
        print(run_example(block, tmp_path, **changes))
