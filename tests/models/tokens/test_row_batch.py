"""Tensors of a batch of rows: their comparison."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.fixtures import MODEL_NEEDS, skip_without

skip_without(MODEL_NEEDS, "the token loop")

import torch  # noqa: E402

from gradeschool.models.tokens.row_batch import (  # noqa: E402
    GenerationBatch,
    KeyValues,
    barred,
    joined,
)
from tests.support.greedy import LIMIT, Loaded, compare_with_generate  # noqa: E402
from tests.support.greedy import loaded as loaded  # noqa: E402  # a fixture


def _positions_off_by_one(batch: GenerationBatch) -> torch.Tensor:
    return batch.begins + batch.written - 1


def _rows_kept_in_their_old_places(batch: GenerationBatch, kept: Any) -> None:
    """Drop rows without moving the keys and values of those that take their places."""
    blocks = [KeyValues(keys.clone(), values.clone()) for keys, values in batch.suffixes]
    KEEP(batch, kept)
    for (keys, values), (old_keys, old_values) in zip(batch.suffixes, blocks, strict=True):
        keys.copy_(old_keys[: len(keys), :, :, -keys.shape[3] :])
        values.copy_(old_values[: len(values), :, -values.shape[2] :])


def _nothing_barred(where: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    return BARRED(torch.zeros_like(where), keys)


KEEP, BARRED = GenerationBatch.keep, barred


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("GenerationBatch.positions", _positions_off_by_one),
        ("GenerationBatch.keep", _rows_kept_in_their_old_places),
        ("barred", _nothing_barred),
    ],
)
def test_the_comparison_finds_faults(
    loaded: Loaded, monkeypatch: pytest.MonkeyPatch, name: str, fault: Any
) -> None:
    """A position, a row's memory, a mask: each of these faults shows in the logits."""
    monkeypatch.setattr(f"gradeschool.models.tokens.row_batch.{name}", fault)
    with pytest.raises(AssertionError, match="a logit differs by"):
        compare_with_generate(
            loaded.model, loaded.tokenizer, loaded.prompts[:8], loaded.ends, LIMIT, 5
        )


@pytest.mark.parametrize(
    ("heads", "size", "together"), [(2, 32, 2), (2, 64, 1), (3, 16, 3), (5, 16, 1), (8, 8, 8)]
)
def test_heads_that_are_read_together(heads: int, size: int, together: int) -> None:
    assert joined(torch.empty(1, heads, 0, size)) == together
