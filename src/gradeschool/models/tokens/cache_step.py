"""One step of any model that uses transformers' attention interface.

The model itself is unchanged. Its keys and values are in a `GenerationBatch`: the attention
function that it looks up by name reads each prompt once for all samples, as in `llama_step`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

import torch
from transformers import AttentionInterface
from transformers.cache_utils import Cache

from gradeschool.errors import InputError
from gradeschool.models.tokens.row_batch import GenerationBatch, read_all

NAME = "gradeschool_rows"
_BATCHES: ContextVar[Sequence[GenerationBatch]] = ContextVar("batches")


class UnknownArchitectureError(InputError):
    """The token loop cannot run a model, or rows of this length."""


class CacheStep:
    """Steps of one model. Raises UnknownArchitectureError if its attention is not supported."""

    def __init__(self, model: Any) -> None:
        if not getattr(model, "_supports_attention_backend", False):
            raise _unsupported(model.config, "it has an attention of its own")
        self.model = model
        AttentionInterface.register(NAME, _attention)

    def __call__(self, tokens: torch.Tensor, batches: Sequence[GenerationBatch]) -> torch.Tensor:
        """Return the logits after a new token of each row, in the order of the batches."""
        config = self.model.config
        positions = torch.cat([batch.positions() for batch in batches])[:, None]
        before = config._attn_implementation
        token = _BATCHES.set(batches)
        config._attn_implementation = NAME
        try:
            output = self.model(
                tokens[:, None], position_ids=positions, past_key_values=_Passing(), use_cache=True
            )
        finally:
            config._attn_implementation = before
            _BATCHES.reset(token)
        for batch in batches:
            batch.step()
        logits: torch.Tensor = output.logits[:, -1]
        return logits


class _Passing(Cache):
    """A cache that stores nothing: the attention function stores keys and values."""

    def __init__(self) -> None:
        super().__init__(layers=[])

    def update(self, key_states: Any, value_states: Any, *args: Any, **kwargs: Any) -> Any:
        """Return a token's key and value unchanged."""
        return key_states, value_states

    def get_seq_length(self, *args: Any, **kwargs: Any) -> int:
        """Return 0: nothing is stored, and positions are passed with the tokens."""
        return 0


def _attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    softcap: float | None = None,
    s_aux: torch.Tensor | None = None,
    sliding_window: int | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Attend like transformers' functions: [rows, heads, 1, size] to [rows, 1, heads, size]."""
    batches = _BATCHES.get()
    if softcap is not None or s_aux is not None:
        raise _unsupported(module.config, "its attention has a soft cap or sinks")
    if sliding_window and max(batch.longest + batch.written for batch in batches) >= sliding_window:
        raise _unsupported(module.config, f"a row is longer than its window of {sliding_window}")
    kept = batches[0].prefixes[module.layer_idx].keys
    if key.shape[1] != kept.shape[1] or key.shape[3] != kept.shape[3]:
        raise _unsupported(module.config, "its cache does not store keys and values as attended to")
    scale = query.shape[-1] ** -0.5 if scaling is None else float(scaling)
    read = read_all(batches, module.layer_idx, query[:, :, 0], key[:, :, 0], value[:, :, 0], scale)
    return read[:, None], None


def _unsupported(config: Any, why: str) -> UnknownArchitectureError:
    return UnknownArchitectureError(
        f"the token loop cannot run a model of the type {config.model_type!r}: {why}; "
        "sample it without the calculator"
    )
