"""Check that `gradeschool gguf` writes the same file twice, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.fixtures import skip_without
from tests.support.gguf_verifier import verifier as verifier  # a fixture


@pytest.mark.slow
def test_gguf_writes_the_same_file_twice_and_replaces_no_other(
    verifier: Path, tmp_path: Path, gradeschool: Command
) -> None:
    target = tmp_path / "made.gguf"
    for _ in range(2):
        assert gradeschool("gguf", verifier, "-o", target).status == 0
        assert target.read_bytes() == verifier.with_suffix(".gguf").read_bytes()
    target.write_bytes(b"mine")
    refused = gradeschool("gguf", verifier, "-o", target)
    assert refused.status == 2 and "exists and differs" in refused.err
    assert target.read_bytes() == b"mine"
    assert [path.name for path in tmp_path.iterdir()] == ["made.gguf"]
    assert gradeschool("gguf", tmp_path, "-o", tmp_path / "x.gguf").status == 2
    assert gradeschool("gguf", verifier, "-o", tmp_path / "no" / "x.gguf").status == 2


def test_a_model_that_cannot_be_converted_leaves_no_file(
    tmp_path: Path, gradeschool: Command
) -> None:
    skip_without(("gguf", "safetensors"), "writing GGUF")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "gpt2"}')
    refused = gradeschool("gguf", folder, "-o", tmp_path / "x.gguf")
    assert (refused.status, refused.out) == (2, "")
    assert "no Llama with tied embeddings" in refused.err
    absent = gradeschool("gguf", tmp_path / "absent", "-o", tmp_path / "x.gguf")
    assert (absent.status, "does not exist" in absent.err) == (2, True)
    assert list(tmp_path.iterdir()) == [folder]
