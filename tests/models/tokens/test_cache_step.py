"""Tests the step of any architecture against that of Llama models, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradeschool.errors import InputError
from tests.support.fixtures import MODEL_NEEDS, skip_without

skip_without(MODEL_NEEDS, "the token loop")

import transformers  # noqa: E402

from gradeschool.models.token_loop import Draw, Loop, SampleTask, sample  # noqa: E402
from gradeschool.models.tokens.cache_step import CacheStep  # noqa: E402
from gradeschool.models.tokens.llama_step import LlamaStep  # noqa: E402
from tests.support.greedy import LIMIT, Loaded  # noqa: E402
from tests.support.greedy import loaded as loaded  # noqa: E402  # a fixture

SMALL = {"num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 300}
GROUPED = {"num_key_value_heads": 2, "head_dim": 8, "intermediate_size": 48, "hidden_size": 32}


def test_the_two_steps_write_the_same(loaded: Loaded) -> None:
    written = []
    for kind in (LlamaStep, CacheStep):
        loop = Loop(loaded.model, loaded.tokenizer, Draw(0.7, 1.0), loaded.ends, True)
        loop.step = kind(loaded.model)
        tasks = [
            SampleTask(index, n, tuple(loaded.prompts[index]))
            for index in range(6)
            for n in range(3)
        ]
        written.append(sorted(loop.run(tasks, LIMIT, 0, rows=7)))
    for lean, whole in zip(*written, strict=True):
        assert lean[:4] == whole[:4]
        assert np.allclose(lean.logprobs, whole.logprobs, atol=1e-4)


def test_what_the_loop_cannot_run_is_said(loaded: Loaded) -> None:
    config = transformers.BloomConfig(vocab_size=300, hidden_size=32, n_layer=1, n_head=4)
    model = transformers.BloomForCausalLM(config).eval()
    with pytest.raises(InputError, match="'bloom': it has an attention of its own"):
        list(sample(model, loaded.tokenizer, [[3]], ends=[2]))
    sizes: dict[str, Any] = {**SMALL, **GROUPED}
    capped = transformers.Gemma2ForCausalLM(transformers.Gemma2Config(**sizes)).eval()
    with pytest.raises(InputError, match="soft cap"):
        list(sample(capped, loaded.tokenizer, [[3, 4]], ends=[2]))
