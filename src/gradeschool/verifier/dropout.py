"""Dropout on what attention and MLP add to the residual stream, for models that have none.

The paper's regulariser (section 4.3): 20 % along the residual paths of each layer.
"""

from __future__ import annotations

from typing import Any

from gradeschool.errors import InputError
from gradeschool.verifier.parallel import layers_of

# The modules of a block whose output is added to the stream as it is, by config.model_type.
RESIDUAL = {
    **dict.fromkeys(
        ("llama", "mistral", "qwen2", "qwen3", "gemma", "phi3", "smollm3", "olmo"),
        ("self_attn", "mlp"),
    ),
    "gpt2": ("attn", "mlp"),
    "gpt_neox": ("attention", "mlp"),
}


def drop_residuals(model: Any, share: float) -> None:
    """Drop a share of every block's outputs in training, instead of any dropout the model has.

    A share of 0 turns the model's own dropout off too. Raises InputError for an architecture whose
    blocks are not known.
    """
    from torch import nn

    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        if isinstance(getattr(module, "attention_dropout", None), float):
            module.attention_dropout = 0.0
    if not share:
        return
    kind = model.config.model_type
    if kind not in RESIDUAL:
        raise InputError(
            f"--dropout does not know where the residual paths of {kind!r} are; leave it out, or "
            f"use one of {', '.join(sorted(RESIDUAL))}"
        )
    for block in layers_of(model):
        for name in RESIDUAL[kind]:
            getattr(block, name).register_forward_hook(Dropped(share))


class Dropped:
    """A forward hook that drops a share of a module's first output while it trains."""

    def __init__(self, share: float) -> None:
        self.share = share

    def __call__(self, module: Any, inputs: Any, output: Any) -> Any:
        """Return the output with dropout."""
        from torch.nn.functional import dropout

        if not module.training:
            return output
        if isinstance(output, tuple):
            return (dropout(output[0], self.share), *output[1:])
        return dropout(output, self.share)
