"""Tests batches of transformers' `generate`: padding, limits and seeds leave each row as alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")

from gradeschool.completion import Decoding  # noqa: E402
from gradeschool.models.generate import GenerateLoop  # noqa: E402
from gradeschool.models.local import GenerationSettings, SampleTask  # noqa: E402
from tests.support.greedy import generated  # noqa: E402
from tests.support.trainees import architecture, sums, tokenizer_of  # noqa: E402

ENDS = [1]
PROMPTS = [tuple(range(5, 5 + size)) for size in (3, 9, 1, 9, 40)]


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return tokenizer_of(sums(8))


def loop_of(model: Any, tokenizer: Any, **decoding: Any) -> GenerateLoop:
    settings = GenerationSettings(Path(), False, Decoding(**decoding))
    return GenerateLoop(model, tokenizer, settings, ENDS)


def tasks(samples: int = 1) -> list[SampleTask]:
    return [
        SampleTask(number, sample, prompt)
        for number, prompt in enumerate(PROMPTS)
        for sample in range(samples)
    ]


@pytest.mark.parametrize("rows", [1, 2, 16])
def test_a_greedy_row_is_that_of_the_prompt_alone(tokenizer: Any, rows: int) -> None:
    model = architecture("bloom")
    loop = loop_of(model, tokenizer, temperature=0.0)
    batches = list(loop.steps(tasks(), 12, 0, rows))
    assert max(map(len, batches)) == min(rows, len(PROMPTS))
    written = [row for batch in batches for row in batch]
    assert [row.prompt for row in written] == list(range(len(PROMPTS)))
    for row in written:
        assert row.ids == generated(model, PROMPTS[row.prompt], ENDS, 12)
        assert row.finished == (len(row.ids) < 12 or row.ids[-1] in ENDS)


def test_no_row_is_longer_than_the_context_allows(tokenizer: Any) -> None:
    model = architecture("gpt2")
    model.config.max_position_embeddings = 45
    loop = loop_of(model, tokenizer, temperature=0.0)
    written = [row for batch in loop.steps(tasks(), 20, 0, 8) for row in batch]
    lengths = {row.prompt: len(row.ids) for row in written if not row.finished}
    assert lengths == {row: min(20, 45 - len(PROMPTS[row])) for row in lengths}
    assert lengths[4] == 5


def test_a_sampled_row_with_a_seed_does_not_depend_on_the_others(tokenizer: Any) -> None:
    loop = loop_of(architecture("bloom"), tokenizer, temperature=1.0, seed=7)
    together = {row[:2]: row.ids for batch in loop.steps(tasks(3), 12, 7, 8) for row in batch}
    alone = {row[:2]: row.ids for batch in loop.steps(tasks(3)[4:5], 12, 7, 8) for row in batch}
    assert alone.items() <= together.items()
    assert together[1, 0] != together[1, 1]  # another sample of one prompt


def test_the_end_of_a_row_is_its_first_end_token(tokenizer: Any) -> None:
    model = architecture("bloom")
    free = generated(model, PROMPTS[0], [], 12)
    settings = GenerationSettings(Path(), False, Decoding(temperature=0.0))
    loop = GenerateLoop(model, tokenizer, settings, [free[3]])
    [[row]] = loop.steps(tasks()[:1], 12, 0, 8)
    end = free.index(free[3]) + 1
    assert (row.ids, row.finished) == (free[:end], True)
