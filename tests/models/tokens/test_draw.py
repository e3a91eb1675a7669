"""Draws of tokens: the distribution, the nucleus, fixed random numbers."""

from __future__ import annotations

import pytest

from tests.support.fixtures import MODEL_NEEDS, skip_without

skip_without(MODEL_NEEDS, "the token loop")

import torch  # noqa: E402
import transformers  # noqa: E402

from gradeschool.models.token_loop import Draw  # noqa: E402
from gradeschool.models.tokens.draw import nucleus, uniforms  # noqa: E402


def test_draws_follow_the_distribution() -> None:
    logits = torch.tensor([[1.0, -3.0, 2.0, float("-inf"), 0.0]])
    drawn = torch.from_numpy(uniforms([1, 2], 0, 0, 20_000))
    tokens = Draw(0.5, 1.0)(logits.expand(20_000, -1), drawn)
    shares = torch.bincount(tokens, minlength=5) / 20_000
    assert torch.allclose(shares, torch.softmax(logits[0] / 0.5, -1), atol=0.01)
    edges = Draw(1.0, 1.0)(logits.expand(2, -1), torch.tensor([0.0, 1.0 - 2**-24]))
    assert edges.tolist() == [0, 4]
    last = torch.tensor([[0.0, float("-inf")]])
    assert Draw(1.0, 1.0)(last, torch.tensor([1.0])).tolist() == [0]


@pytest.mark.parametrize("top_p", [0.05, 0.5, 0.9, 0.999])
def test_the_nucleus_is_that_of_transformers(top_p: float) -> None:
    logits = torch.randn(50, 40, generator=torch.Generator().manual_seed(0)) * 3
    warper = transformers.TopPLogitsWarper(top_p)
    theirs = warper(torch.zeros(1, 1, dtype=torch.long), logits).isfinite()
    assert torch.equal(nucleus(logits.softmax(-1), top_p) > 0, theirs)


def test_random_numbers_are_fixed() -> None:
    """A sample stays what it is in the next version."""
    numbers = uniforms([5, 6, 7], 2, 11, 3).tolist()
    assert numbers == pytest.approx([0.50094026, 0.02723455, 0.86110449])
    assert uniforms([5, 6, 7], 2, 11, 5).tolist()[:3] == numbers
    assert uniforms([5, 6, 7], 3, 11, 3).tolist() != numbers
