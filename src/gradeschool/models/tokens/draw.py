"""Choose the next token: greedy, or by the inverse of the distribution function."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

BLOCK = 64


def uniforms(prompt: Sequence[int], sample: int, seed: int, count: int) -> NDArray[np.float32]:
    """Return the random numbers of one sample in [0, 1), one for each token.

    They depend only on the prompt's tokens, the sample's number and the seed.
    """
    text = array("q", (seed, sample, *prompt)).tobytes()
    key = int.from_bytes(hashlib.blake2b(text, digest_size=16).digest(), "little")
    return np.random.Generator(np.random.Philox(key=key)).random(count, dtype=np.float32)


class Draw:
    """How tokens are drawn. temperature 0: the likeliest; top_p: only from the nucleus."""

    def __init__(self, temperature: float, top_p: float) -> None:
        self.temperature, self.top_p = temperature, top_p

    def __call__(self, logits: torch.Tensor, drawn: torch.Tensor) -> torch.Tensor:
        """Return a token for each row of logits; drawn: a number in [0, 1) for each row."""
        if not self.temperature:
            return logits.argmax(-1)
        chances = torch.softmax(logits.float() / self.temperature, -1)
        if self.top_p < 1:
            chances = nucleus(chances, self.top_p)
        # In two steps, first a block of tokens, then a token in it: running sums are slow.
        if rest := -chances.shape[1] % BLOCK:
            chances = functional.pad(chances, (0, rest))
        blocks = chances.view(len(chances), -1, BLOCK)
        sums = blocks.sum(-1).cumsum(-1)
        block, behind = _place(sums, drawn[:, None] * sums[:, -1:])
        inside = blocks.gather(1, block[..., None].expand(-1, -1, BLOCK))[:, 0].cumsum(-1)
        return (block * BLOCK + _place(inside, behind)[0])[:, 0]


def _place(sums: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return where a target falls between running sums, and its distance from the previous sum.

    Never a place with probability zero: a target that is rounded up to the total is moved back.
    """
    total = sums[:, -1:]
    target = torch.minimum(target, torch.nextafter(total, torch.zeros_like(total)))
    place = torch.searchsorted(sums, target, right=True)
    before = functional.pad(sums, (1, 0)).gather(1, place)
    return place, target - before


def nucleus(chances: torch.Tensor, top_p: float) -> torch.Tensor:
    """Keep only the smallest set of likeliest tokens whose probabilities reach top_p."""
    ordered, order = chances.sort(-1, descending=True)
    outside = ordered.cumsum(-1) - ordered >= top_p
    return chances.masked_fill(outside.scatter(-1, order, outside), 0.0)


def logprobs(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Return the log-probability of a token of each row, at temperature 1."""
    return logits.float().log_softmax(-1).gather(-1, tokens[:, None])[:, 0]
