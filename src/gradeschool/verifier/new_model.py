"""Language models from random weights, small enough to be trained on a laptop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gradeschool.errors import UnknownNameError
from gradeschool.verifier.tokens import CONTEXT

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

PREFIX = "new:"


class Shape(NamedTuple):
    """The sizes of a Llama: width of the stream and of the MLP, layers, heads."""

    hidden: int
    intermediate: int
    layers: int
    heads: int


# Named by their parameters beside the embedding, which is vocabulary x hidden.
SHAPES = {
    "0.05M": Shape(32, 88, 4, 4),
    "0.2M": Shape(64, 176, 4, 4),
    "1M": Shape(128, 352, 5, 4),
    "5M": Shape(256, 704, 6, 8),
}


def new_model(
    tokenizer: PreTrainedTokenizerFast, size: str | Shape, seed: int = 0
) -> LlamaForCausalLM:
    """Return a Llama with tied embeddings and random weights that depend on the seed alone.

    The projections back into the residual stream begin at zero: every block then begins as the
    identity, and training from nothing is faster. Raises UnknownNameError for a size without a
    shape.
    """
    import torch
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

    shape = shape_of(size) if isinstance(size, str) else size
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape.hidden,
        intermediate_size=shape.intermediate,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.heads,
        head_dim=shape.hidden // shape.heads,
        max_position_embeddings=CONTEXT,
        initializer_range=shape.hidden**-0.5,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LlamaForCausalLM(config)
    with torch.no_grad():
        for layer in model.model.layers:
            block: Any = layer
            block.self_attn.o_proj.weight.zero_()
            block.mlp.down_proj.weight.zero_()
    model.generation_config = GenerationConfig(
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id
    )
    return model


def shape_of(size: str) -> Shape:
    """Return the shape of a size's name, with or without "new:"."""
    name = size.removeprefix(PREFIX)
    if name not in SHAPES:
        raise UnknownNameError("size of a new model", name, SHAPES)
    return SHAPES[name]
