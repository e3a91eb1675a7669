"""The examples of docs/integrations/*.md, each run against the real package."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.peers.pages import examples, pages, run_example, why_not

pytestmark = pytest.mark.peers


@pytest.mark.parametrize("page", pages())
def test_every_example_of_a_page_runs(
    page: str, tmp_path: Path, data: Path, request: pytest.FixtureRequest
) -> None:
    """A page that names the tiny model or a server gets the real ones."""
    blocks = examples(page)
    assert blocks, "a page without an example that is run"
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
