"""Parts of the token loop: shapes of Llama models, linear layers laid out anew."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.fixtures import MODEL_NEEDS, skip_without

skip_without(MODEL_NEEDS, "the token loop")

import torch  # noqa: E402
import transformers  # noqa: E402

from gradeschool.models.tokens.llama_step import (  # noqa: E402
    EVEN,
    LlamaStep,
    linear,
)
from tests.support.greedy import compare_with_generate  # noqa: E402

BASE = {"num_hidden_layers": 2, "vocab_size": 300, "hidden_size": 32, "intermediate_size": 48}
SHAPES: dict[str, dict[str, Any]] = {
    "tied": {"num_attention_heads": 4, "num_key_value_heads": 2, "tie_word_embeddings": True},
    "untied": {"num_attention_heads": 4, "num_key_value_heads": 2, "tie_word_embeddings": False},
    "every head its own": {"num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 8},
    "one for all": {"num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 16},
    "three": {"num_attention_heads": 6, "num_key_value_heads": 3, "hidden_size": 48},
    "wide": {"num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 64},
    "biases": {"num_attention_heads": 4, "num_key_value_heads": 2, "attention_bias": True},
}


def _llama(shape: str) -> Any:
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**{**BASE, **SHAPES[shape]}))
    for weight in model.parameters():
        torch.nn.init.normal_(weight, 1.0 if weight.ndim == 1 else 0.0, 0.3)
    return model.eval()


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_writes_what_generate_writes(shape: str) -> None:
    """Fewer rows than there are prompts: rows end, are taken out, and batches join."""
    model = _llama(shape)
    assert LlamaStep.fits(model)
    prompts = [[3 + (7 * number + size) % 290 for number in range(size)]
               for size in (1, 4, 9, 17, 17, 30)]  # fmt: skip
    for rows in (2, EVEN + 1):
        compare_with_generate(model, None, prompts, ends=[2], limit=24, rows=rows)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.bfloat16])
def test_one_linear_map_for_several(kind: torch.dtype) -> None:
    torch.manual_seed(0)
    parts = [torch.nn.Linear(24, width).to(kind) for width in (5, 40)]
    bare = torch.nn.Linear(24, 7, bias=False).to(kind)
    with torch.inference_mode():
        for rows in (1, 3, 33):
            state, onto = torch.randn(rows, 24).to(kind), torch.randn(rows, 45).to(kind)
            expected = torch.cat([part(state) for part in parts], -1)
            assert torch.allclose(linear(*parts)(state), expected, atol=1e-5)
            assert torch.allclose(linear(*parts)(state, onto), expected + onto, atol=0.05)
            assert torch.allclose(linear(bare)(state), bare(state), atol=1e-5)
