"""One step of a Llama-shaped model directly on its weights, without its modules.

In a small model, most of a step is overhead of the modules. This is used for models of exactly the
known shape; all others go through `cache_step`, and tests require the same tokens from both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import torch
from torch.nn import functional

from gradeschool.models.tokens.row_batch import GenerationBatch, read_all

KINDS = frozenset({"llama", "mistral", "qwen2"})
# Up to this size, a rearranged copy of the weights costs less than the calls that it saves.
JOINED = 1 << 28
# oneDNN prepares itself for each number of rows, which takes as long as a step: on a CPU, rows are
# padded to a multiple of this.
EVEN = 16


class Layer(NamedTuple):
    """The parts of a decoder layer; qkv and gate_up are joined."""

    before: torch.Tensor
    qkv: Linear
    out: Linear
    after: torch.Tensor
    gate_up: Linear
    down: Linear


class LlamaStep:
    """Steps of one model."""

    def __init__(self, model: Any) -> None:
        self.model = model
        config = model.config
        body = model.model
        self.heads, self.key_heads = config.num_attention_heads, config.num_key_value_heads
        self.size = body.layers[0].self_attn.head_dim
        self.scale = float(body.layers[0].self_attn.scaling)
        self.eps = float(config.rms_norm_eps)
        self.even = model.device.type == "cpu"
        self.layers = [_layer(layer) for layer in body.layers]
        self.head = linear(model.lm_head)
        self.turns = torch.empty(0, 2, self.size)

    @staticmethod
    def fits(model: Any) -> bool:
        """Return whether a model has the shape that this step computes."""
        config = model.config
        return (
            config.model_type in KINDS
            and type(model).__name__.endswith("ForCausalLM")
            and config.hidden_act == "silu"
            and config.rope_parameters.get("rope_type") in ("default", "linear", "llama3")
            and not getattr(config, "use_sliding_window", False)
            and sum(weight.numel() for weight in model.parameters()) <= JOINED
            and type(model.lm_head) is torch.nn.Linear
            and all(_is_plain(layer) for layer in model.model.layers)
        )

    def __call__(self, tokens: torch.Tensor, batches: Sequence[GenerationBatch]) -> torch.Tensor:
        """Return the logits after a new token of each row, in the order of the batches."""
        body, rows = self.model.model, len(tokens)
        extra = -rows % EVEN if self.even else 0
        self._reach(max(batch.longest + batch.written for batch in batches))
        turns = self.turns[torch.cat([batch.positions() for batch in batches])]
        cos, sin = turns[:, 0, None], turns[:, 1, None]
        both = self.heads + self.key_heads
        state = body.embed_tokens(functional.pad(tokens, (0, extra)))
        for index, layer in enumerate(self.layers):
            joined = layer.qkv(self._norm(state, layer.before))
            joined = joined[:rows].view(rows, both + self.key_heads, self.size)
            turned = _rotated(joined[:, :both], cos, sin)
            query, key, value = turned[:, : self.heads], turned[:, self.heads :], joined[:, both:]
            read = read_all(batches, index, query, key, value, self.scale)
            state = layer.out(functional.pad(read.flatten(1), (0, 0, 0, extra)), state)
            gate, up = layer.gate_up(self._norm(state, layer.after)).chunk(2, -1)
            state = layer.down(functional.silu(gate) * up, state)
        for batch in batches:
            batch.step()
        logits: torch.Tensor = self.head(self._norm(state, body.norm.weight))
        return logits[:rows]

    def _norm(self, state: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return functional.rms_norm(state, (state.shape[-1],), weight, self.eps)

    def _reach(self, position: int) -> None:
        """Extend the table of cosines and signed sines to a position."""
        if position >= len(self.turns):
            weight = self.model.model.embed_tokens.weight
            every = torch.arange(max(position + 1, 2 * len(self.turns)), device=weight.device)
            cos, sin = self.model.model.rotary_emb(weight, every[None])
            signs = torch.ones(self.size, device=sin.device, dtype=sin.dtype)
            signs[: self.size // 2] = -1
            self.turns = torch.stack((cos[0], sin[0] * signs), 1)


def _rotated(state: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    first, second = state.chunk(2, -1)
    return torch.addcmul(state * cos, torch.cat((second, first), -1), sin)


def _layer(layer: Any) -> Layer:
    attention, mlp = layer.self_attn, layer.mlp
    return Layer(
        layer.input_layernorm.weight,
        linear(attention.q_proj, attention.k_proj, attention.v_proj),
        linear(attention.o_proj),
        layer.post_attention_layernorm.weight,
        linear(mlp.gate_proj, mlp.up_proj),
        linear(mlp.down_proj),
    )


def _is_plain(layer: Any) -> bool:
    """Return whether a layer's weights are plain: nothing quantised, adapted or added to them."""
    attention, mlp = layer.self_attn, layer.mlp
    linears = [attention.q_proj, attention.k_proj, attention.v_proj, attention.o_proj]
    linears += [mlp.gate_proj, mlp.up_proj, mlp.down_proj]
    return all(type(module) is torch.nn.Linear for module in linears) and not hasattr(
        attention, "q_norm"
    )


class Linear(Protocol):
    """A linear map; its outputs are added to `onto`."""

    def __call__(self, state: torch.Tensor, onto: torch.Tensor | None = None) -> torch.Tensor:
        """Return the outputs of some rows."""


def linear(*parts: torch.nn.Linear) -> Linear:
    """Return one map with the concatenated outputs of several, on a copy of their weights."""
    weight = torch.cat([part.weight.detach() for part in parts])
    biases = [part.bias.detach() for part in parts if part.bias is not None]
    bias = torch.cat(biases) if biases else None
    return _reordered(weight, bias) if _fits(weight) else _unordered(weight, bias)


def _unordered(weight: torch.Tensor, bias: torch.Tensor | None) -> Linear:
    def apply(state: torch.Tensor, onto: torch.Tensor | None = None) -> torch.Tensor:
        written = functional.linear(state, weight, bias)
        return written if onto is None else onto + written

    return apply


def _reordered(weight: torch.Tensor, bias: torch.Tensor | None) -> Linear:
    packed = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous())
    write = torch.ops.mkldnn._linear_pointwise

    def apply(state: torch.Tensor, onto: torch.Tensor | None = None) -> torch.Tensor:
        written: torch.Tensor
        if onto is None:
            written = write.default(state, packed, bias, "none", [], "")
        else:
            written = write.binary(state, onto, packed, bias, "add")
        return written

    return apply


def _fits(weight: torch.Tensor) -> bool:
    """Return whether oneDNN can take this weight; it refuses bfloat16 on a CPU without AVX-512."""
    if weight.device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return False
    if not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        return False
    if weight.dtype == torch.bfloat16:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return weight.dtype == torch.float32
