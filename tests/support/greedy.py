"""Compare greedy texts of the token loop and `generate`: logits at each step, and tokens.

Two programs that compute the same sums in another order differ in the last bits. A logit may differ
from the reference by `TOLERANCE` times the largest logit of the row, which is ten to a hundred
times the rounding error here. A token must equal the reference's if the two highest logits are
further apart than twice that; if they are closer, either of the two is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import transformers

from gradeschool.models.token_loop import Draw, Loop, SampledTokens, SampleTask, sample
from gradeschool.models.tokens.rows import RowTable
from tests.support.tiny_corpus import load_problems

TOLERANCE = 5e-5
LIMIT = 70  # tokens that the loaded model writes


class Comparison(NamedTuple):
    """The compared data: the loop's rows in order, all steps, and those too close to decide."""

    rows: list[SampledTokens]
    steps: int
    ties: int


class RecordingLoop(Loop):
    """A greedy token loop that keeps the logits of each step of each prompt's row."""

    def __init__(self, model: Any, tokenizer: Any, ends: Sequence[int]) -> None:
        super().__init__(model, tokenizer, Draw(0, 1), ends, calculator=False)
        self.logits: dict[int, list[torch.Tensor]] = {}
        self._step, self.step = self.step, self._recorded
        self._latest: torch.Tensor

    def _recorded(self, tokens: torch.Tensor, batches: Any) -> torch.Tensor:
        self._latest = self._step(tokens, batches)
        return self._latest

    def written(
        self, prompts: Sequence[Sequence[int]], limit: int, rows: int
    ) -> list[SampledTokens]:
        """The completion of each prompt, in order."""
        add = RowTable.add

        def recorded(table: RowTable, slots: Any, tokens: Any, logprobs: Any) -> None:
            for place, slot in enumerate(slots.tolist()):
                if slot != table.spare:
                    row = self.logits.setdefault(table.tasks[slot].prompt, [])
                    row.append(self._latest[place].clone())
            add(table, slots, tokens, logprobs)

        tasks = [SampleTask(number, 0, tuple(prompt)) for number, prompt in enumerate(prompts)]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(RowTable, "add", recorded)
            return sorted(self.run(tasks, limit, 0, rows))


def generated(model: Any, prompt: Sequence[int], ends: Sequence[int], limit: int) -> list[int]:
    """The tokens that `generate` writes greedily for a single prompt."""
    ids = torch.tensor([prompt])
    settings = {"max_new_tokens": limit, "do_sample": False, "eos_token_id": list(ends)}
    with torch.inference_mode():
        whole = model.generate(ids, attention_mask=torch.ones_like(ids), pad_token_id=0, **settings)
    return [int(token) for token in whole[0, len(prompt) :]]


def compare_with_generate(
    model: Any,
    tokenizer: Any,
    prompts: Sequence[Sequence[int]],
    ends: Sequence[int],
    limit: int,
    rows: int,
) -> Comparison:
    """Assert that the loop's logits equal a plain forward's, and its tokens those of `generate`."""
    loop = RecordingLoop(model, tokenizer, ends)
    written = loop.written(prompts, limit, rows)
    assert [row.prompt for row in written] == list(range(len(prompts)))
    steps = ties = 0
    for row, prompt in zip(written, prompts, strict=True):
        with torch.inference_mode():
            whole = model(torch.tensor([[*prompt, *row.ids]])).logits[0]
        expected = whole[len(prompt) - 1 : -1]
        ours = torch.stack(loop.logits[row.prompt])
        bound = TOLERANCE * float(expected.abs().max())
        worst = float((ours - expected).abs().max())
        assert worst <= bound, f"prompt {row.prompt}: a logit differs by {worst}, more than {bound}"
        highest = expected.topk(2, -1).values
        clear = (highest[:, 0] - highest[:, 1] > 2 * bound).numpy()
        chosen = np.array(row.ids)
        assert np.array_equal(chosen[clear], expected.argmax(-1).numpy()[clear])
        first_tie = len(row.ids) if clear.all() else int(np.argmin(clear))
        other = generated(model, prompt, ends, limit)
        assert row.ids[:first_tie] == other[:first_tie]
        assert not clear.all() or row.ids == other
        assert row.finished == (row.ids[-1] in ends)
        assert row.finished or len(row.ids) == limit
        steps, ties = steps + len(row.ids), ties + int((~clear).sum())
    assert ties <= 0.05 * steps, "too many ties to tell"
    return Comparison(written, steps, ties)


class Loaded:
    """The tiny model, its tokenizer, and prompts of uneven length."""

    def __init__(self, folder: Path) -> None:
        self.model: Any = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
        self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
        questions = [problem.question for problem in load_problems()][:20]
        self.prompts = [self.tokenizer(f"Question: {q}\nAnswer:")["input_ids"] for q in questions]
        self.ends = [0, 2]

    def written(self, prompts: Sequence[Sequence[int]], **settings: Any) -> list[SampledTokens]:
        """What the loop writes, in the order of prompts and samples."""
        settings = {"ends": self.ends, "max_tokens": LIMIT, **settings}
        return sorted(sample(self.model, self.tokenizer, prompts, **settings))


@pytest.fixture(scope="module")
def loaded(tiny_model: Path) -> Loaded:
    """The tiny model, loaded once for each file of tests."""
    return Loaded(tiny_model)
