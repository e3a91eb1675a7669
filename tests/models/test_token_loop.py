"""The token loop: the tokens of `generate`, in any batch; forced tokens; log-probabilities."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from gradeschool.calculator import evaluate, forced
from tests.support.fixtures import MODEL_NEEDS, skip_without

skip_without(MODEL_NEEDS, "the token loop")

import torch  # noqa: E402
import transformers  # noqa: E402

from gradeschool.models.token_loop import Draw, Loop, SampleTask, sample  # noqa: E402
from gradeschool.models.tokens.llama_step import LlamaStep  # noqa: E402
from tests.support.greedy import LIMIT, Loaded, compare_with_generate  # noqa: E402
from tests.support.greedy import loaded as loaded  # noqa: E402  # a fixture

ANNOTATION = re.compile(r"<<([^<>=]*)=([^<>=]*)>>")
SMALL = {"num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 300}
GROUPED = {"num_key_value_heads": 2, "head_dim": 8, "intermediate_size": 48, "hidden_size": 32}
KINDS: dict[str, dict[str, Any]] = {
    "llama": {**SMALL, **GROUPED},
    "qwen2": {**SMALL, **GROUPED},
    "qwen3": {**SMALL, **GROUPED},
    "gemma": {**SMALL, **GROUPED},
    "gpt2": {"n_layer": 2, "n_head": 4, "n_embd": 32, "vocab_size": 300},
    "gpt_neox": {**SMALL, "hidden_size": 32, "intermediate_size": 48},
}


@pytest.mark.parametrize("rows", [5, 64])
def test_greedy_is_generate(loaded: Loaded, rows: int) -> None:
    compared = compare_with_generate(
        loaded.model, loaded.tokenizer, loaded.prompts, loaded.ends, LIMIT, rows
    )
    assert len({len(row.ids) for row in compared.rows}) > 3  # rows ended at different times


@pytest.mark.parametrize("kind", KINDS)
def test_other_architectures_write_what_generate_writes(loaded: Loaded, kind: str) -> None:
    config = transformers.AutoConfig.for_model(kind, **KINDS[kind])
    torch.manual_seed(0)
    model: Any = transformers.AutoModelForCausalLM.from_config(config).eval()
    for weight in model.parameters():
        if weight.ndim > 1:
            torch.nn.init.normal_(weight, 0, 0.3)
    assert LlamaStep.fits(model) == (kind in {"llama", "qwen2"})
    prompts = [[3 + (5 * number + size) % 290 for number in range(size)]
               for size in (1, 4, 9, 9, 15)]  # fmt: skip
    implementation = model.config._attn_implementation
    compare_with_generate(model, loaded.tokenizer, prompts, ends=[2], limit=20, rows=3)
    assert model.config._attn_implementation == implementation


def test_a_sample_does_not_depend_on_the_batch(loaded: Loaded) -> None:
    """Neither on how many rows there are, nor on the other prompts, nor on their order."""
    prompts = loaded.prompts[:8]
    settings: dict[str, Any] = {"samples": 3, "temperature": 0.8, "seed": 3, "max_tokens": 50}
    whole = {row[:2]: row.ids for row in loaded.written(prompts, rows=64, **settings)}
    few = {row[:2]: row.ids for row in loaded.written(prompts, rows=5, **settings)}
    turned = {(7 - row.prompt, row.sample): row.ids
              for row in loaded.written(prompts[::-1], rows=9, **settings)}  # fmt: skip
    alone = {(6, row.sample): row.ids for row in loaded.written(prompts[6:7], **settings)}
    assert set(whole) == set(product(range(8), range(3)))
    assert whole == few == turned
    assert alone.items() <= whole.items()
    assert len(set(map(tuple, whole.values()))) > 18
    other = loaded.written(prompts, rows=64, **{**settings, "seed": 4})
    assert sum(row.ids == whole[row[:2]] for row in other) < 8


def test_forced_tokens_are_those_of_a_loop_without_cache(loaded: Loaded) -> None:
    """One row, one token at a time, the text decoded whole each time: nothing shared with ours."""
    for row in loaded.written(loaded.prompts[:6]):
        prompt = loaded.prompts[row.prompt]
        ids: list[int] = []
        mask: list[bool] = []
        due: list[int] = []
        while len(ids) < LIMIT and not (ids and ids[-1] in loaded.ends):
            with torch.inference_mode():
                logits = loaded.model(torch.tensor([[*prompt, *ids]])).logits[0, -1]
            mask.append(bool(due))
            ids.append(due.pop(0) if due else int(logits.argmax()))
            if not due and not mask[-1]:
                text = loaded.tokenizer.decode(ids)
                due = loaded.tokenizer(forced(text))["input_ids"]
        assert (row.ids, row.forced) == (ids, mask)


def test_annotations_are_right(loaded: Loaded) -> None:
    prompts = loaded.prompts[:8]
    settings = {"samples": 4, "temperature": 1.0, "max_tokens": 80}
    rights = []
    for calculator in (True, False):
        texts = [loaded.tokenizer.decode(row.ids)
                 for row in loaded.written(prompts, calculator=calculator, **settings)]  # fmt: skip
        pairs = [pair for text in texts for pair in ANNOTATION.findall(text) if evaluate(pair[0])]
        assert len(pairs) > 10
        rights.append(
            sum(str(right) == _plain(expression) for expression, right in pairs) / len(pairs)
        )
    assert rights[0] == 1
    assert rights[1] < 0.9  # it cannot do this by itself


def _plain(expression: str) -> str:
    value = evaluate(expression) or Fraction(0)
    exact = value.denominator == 1
    return str(value.numerator) if exact else f"{float(value):.6f}".rstrip("0")


def test_logprobs_are_those_of_a_plain_forward(loaded: Loaded) -> None:
    written = loaded.written(loaded.prompts[:6], samples=3, temperature=0.7, rows=7)
    assert any(any(row.forced) for row in written)
    for row in written:
        prompt = loaded.prompts[row.prompt]
        with torch.inference_mode():
            logits = loaded.model(torch.tensor([[*prompt, *row.ids]])).logits[0]
        every = logits.log_softmax(-1)[len(prompt) - 1 : -1]
        exact = every.gather(1, torch.tensor(row.ids)[:, None])[:, 0]
        assert np.allclose(row.logprobs, exact.numpy(), atol=1e-4)


def test_limits_and_stops(loaded: Loaded) -> None:
    prompts = loaded.prompts[:6]
    short = loaded.written(prompts, max_tokens=1)
    assert [len(row.ids) for row in short] == [1] * 6
    loop = Loop(loaded.model, loaded.tokenizer, Draw(0, 1), loaded.ends, False, ["\n", "####"])
    tasks = [SampleTask(index, 0, tuple(prompt)) for index, prompt in enumerate(prompts)]
    stopped = sorted(loop.run(tasks, LIMIT, 0))
    free = loaded.written(prompts, calculator=False)
    for row, whole in zip(stopped, free, strict=True):
        assert whole.ids[: len(row.ids)] == row.ids
        text = loaded.tokenizer.decode(row.ids)
        assert ("\n" in text or "####" in text) == row.finished
        assert "\n" not in loaded.tokenizer.decode(row.ids[:-1])
    assert any(
        row.finished and len(row.ids) < len(w.ids) for row, w in zip(stopped, free, strict=True)
    )
    assert list(sample(loaded.model, loaded.tokenizer, [], ends=[0])) == []
