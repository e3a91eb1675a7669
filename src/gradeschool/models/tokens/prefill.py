"""Prompts through the model's own forward, once each."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

import torch
from torch.nn import functional
from transformers.cache_utils import DynamicCache

from gradeschool.models.tokens.blocks import Block

# So many tokens at a time, padding included.
TOKENS_ON_CPU, TOKENS_ON_GPU = 8192, 65536


def encoded(model: Any, prompts: Sequence[Sequence[int]]) -> list[Block]:
    """Return the keys and values of prompts, a block a layer, padded on the right.

    A causal model's tokens do not see what stands behind them: the padding needs no mask.
    """
    width = max(map(len, prompts))
    most = TOKENS_ON_GPU if model.device.type == "cuda" else TOKENS_ON_CPU
    chunk = max(1, most // max(1, width))
    parts = [
        _blocks(model, prompts[at : at + chunk], width) for at in range(0, len(prompts), chunk)
    ]
    return [
        Block(*(torch.cat(pieces) for pieces in zip(*layer, strict=True)))
        for layer in zip(*parts, strict=True)
    ]


def _blocks(model: Any, prompts: Sequence[Sequence[int]], width: int) -> list[Block]:
    longest = max(1, *map(len, prompts))
    padded = [[*prompt, *[0] * (longest - len(prompt))] for prompt in prompts]
    # Without a configuration every layer of it keeps every token, sliding windows too.
    cache: Any = DynamicCache()
    few = {"logits_to_keep": 1} if "logits_to_keep" in signature(model.forward).parameters else {}
    model(torch.tensor(padded, device=model.device), past_key_values=cache, use_cache=True, **few)
    return [
        Block(*(_wide(part, width) for part in (layer.keys, layer.values)))
        for layer in cache.layers
    ]


def _wide(part: torch.Tensor, width: int) -> torch.Tensor:
    return functional.pad(part, (0, 0, 0, width - part.shape[2]))
