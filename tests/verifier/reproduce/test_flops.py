"""FLOPs of a token, and shapes of models."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradeschool.errors import DataError
from gradeschool.verifier.reproduce.flops import (
    SamplingFlops,
    training_flops,
    transformer_shape,
)
from tests.verifier.reproduce.test_scaling import SHAPE, _model


def test_the_flops_of_a_token() -> None:
    """2 for each weight, and 4 x layers x width for each token that it attends to."""
    assert SHAPE.forward(2) == 2 * (2 * 96 + 4 * 2 * 8 * 1)
    assert SHAPE.forward(2, 10) == 2 * (2 * 96 + 4 * 2 * 8 * 11)
    assert SamplingFlops(5.0, 2.0, 0.0).of_samples(4) == 13


def test_the_shape_of_a_model_leaves_embeddings_out(tmp_path: Path) -> None:
    pytest.importorskip("safetensors", reason="needs safetensors, which make test-all installs")
    _model(tmp_path, updates=4)
    assert transformer_shape(tmp_path) == SHAPE
    assert training_flops(tmp_path, SHAPE) == 3 * 8 * SHAPE.forward(7)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(DataError, match="has no 'num_attention_heads'"):
        transformer_shape(tmp_path)
