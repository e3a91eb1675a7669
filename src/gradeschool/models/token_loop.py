"""The sampling loop: encodes each prompt once, compacts and refills rows, forces tokens.

A batch consists of prompts and rows that began together. Finished rows are removed; when enough
rows are free, a new batch begins; batches that are nearly done are joined. The calculator puts the
result of an annotation into the row's queue.

A sample depends on the weights, the prompt's tokens, the sample's number, the seed and the
settings; never on the other rows, the order of the prompts or `rows`. Its random numbers are
determined exactly by (prompt, sample, seed). The arithmetic of a step may differ in the last bits
with the number of rows. So two runs may diverge where a draw falls within that error of a boundary,
or, in greedy decoding, where two logits are that close.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import torch

from gradeschool.models.local import SampleTask
from gradeschool.models.tokens.annotations import Annotations
from gradeschool.models.tokens.cache_step import CacheStep, UnknownArchitectureError
from gradeschool.models.tokens.draw import Draw, logprobs
from gradeschool.models.tokens.llama_step import LlamaStep
from gradeschool.models.tokens.row_batch import GenerationBatch, encoded
from gradeschool.models.tokens.rows import RowTable, SampledTokens, Stops

__all__ = ["Draw", "Loop", "SampleTask", "SampledTokens", "UnknownArchitectureError", "sample"]

ROWS_ON_CPU, ROWS_ON_GPU = 256, 1024
# A new batch begins when this share of the rows is left.
REFILL = 0.6
# Two batches are joined if that costs at most this many columns of masked keys, over all rows.
JOIN = 1_500

Step = Callable[[torch.Tensor, Sequence[GenerationBatch]], torch.Tensor]


def sample(
    model: Any,
    tokenizer: Any,
    prompts: Sequence[Sequence[int]],
    *,
    samples: int = 1,
    temperature: float = 0.0,
    top_p: float = 1.0,
    max_tokens: int = 400,
    ends: Collection[int],
    calculator: bool = True,
    seed: int = 0,
    rows: int | None = None,
) -> Iterator[SampledTokens]:
    """Yield `samples` completions of each prompt, in the order in which they end.

    model: a Hugging Face causal language model, used on its device, in its mode and precision.
    prompts: at least one token each; equal prompts have equal samples. ends: tokens that end a
    completion. rows: number of concurrent rows.
    """
    tasks = [
        SampleTask(index, number, tuple(prompts[index]))
        for index in sorted(range(len(prompts)), key=lambda index: -len(prompts[index]))
        for number in range(samples)
    ]
    loop = Loop(model, tokenizer, Draw(temperature, top_p), ends, calculator)
    return loop.run(tasks, max_tokens, seed, rows)


class Loop:
    """A model with its sampling settings. stops: strings that end a completion and remain in it."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        draw: Draw,
        ends: Collection[int],
        calculator: bool,
        stops: Sequence[str] = (),
    ) -> None:
        self.model, self.draw, self.device = model, draw, model.device
        self.step: Step = LlamaStep(model) if LlamaStep.fits(model) else CacheStep(model)
        self.context: int | None = getattr(model.config, "max_position_embeddings", None)
        size = model.get_output_embeddings().weight.shape[0]
        self.annotations = Annotations(tokenizer, size) if calculator else None
        self.ends = np.zeros(size, dtype=np.bool_)
        self.ends[list(ends)] = True
        self.stops = Stops(tokenizer, size, stops) if stops else None

    def run(
        self, tasks: Sequence[SampleTask], max_tokens: int, seed: int, rows: int | None = None
    ) -> Iterator[SampledTokens]:
        """Yield the completion of each task, in the order in which rows end."""
        return chain.from_iterable(self.steps(tasks, max_tokens, seed, rows))

    def steps(
        self, tasks: Sequence[SampleTask], max_tokens: int, seed: int, rows: int | None = None
    ) -> Iterator[list[SampledTokens]]:
        """Write one token of every row at a time; yield the rows that end with it.

        A row ends after max_tokens, or at the end of the model's context.
        """
        most = rows or (ROWS_ON_GPU if self.device.type == "cuda" else ROWS_ON_CPU)
        table = RowTable(min(most, len(tasks)), max_tokens, self.annotations, self.context)
        waiting = iter(tasks)
        live: list[GenerationBatch] = []
        while True:
            free = len(table.free)
            if free >= (1 - REFILL) * table.spare and (group := list(islice(waiting, free))):
                live.append(self._begin(table, group, seed))
            if not live:
                return
            yield self._advance(table, live)
            live = [batch for batch in live if batch.live]
            _join(live)

    @torch.inference_mode()
    def _begin(self, table: RowTable, tasks: Sequence[SampleTask], seed: int) -> GenerationBatch:
        """Encode each prompt once, except its last token, which is every row's first."""
        prompts = list(dict.fromkeys(task.tokens for task in tasks))
        numbers = {prompt: index for index, prompt in enumerate(prompts)}
        heads = [prompt[:-1] for prompt in prompts]
        drawing = seed if self.draw.temperature else None
        return GenerationBatch(
            encoded(self.model, heads),
            [len(head) for head in heads],
            [numbers[task.tokens] for task in tasks],
            np.array([table.begin(task, drawing) for task in tasks]),
        )

    @torch.inference_mode()
    def _advance(self, table: RowTable, live: Sequence[GenerationBatch]) -> list[SampledTokens]:
        """Append one token to every row, and remove finished rows."""
        slots = np.concatenate([batch.slots for batch in live])
        logits = self.step(self._there(table.last[slots]), live)
        tokens = self.draw(logits, self._there(table.drawn(slots))).cpu().numpy()
        table.force(slots, tokens)
        table.add(slots, tokens, logprobs(logits, self._there(tokens)).cpu().numpy())
        ended = self.ends[tokens]
        if self.stops is not None:
            ended |= self.stops.reached(table, slots, tokens)
        over = np.flatnonzero(
            (ended | (table.counts[slots] == table.limits[slots])) & (slots < table.spare)
        )
        rows = [table.end(int(slots[place]), bool(ended[place])) for place in over.tolist()]
        if rows:
            ended_slots = np.zeros(table.spare + 1, dtype=np.bool_)
            ended_slots[slots[over]] = True
            for batch in live:
                batch.slots[ended_slots[batch.slots]] = table.spare
        for batch in live:
            batch.tidy(table.spare)
        return rows

    def _there(self, numbers: Any) -> torch.Tensor:
        return torch.from_numpy(numbers).to(self.device)


def _join(live: list[GenerationBatch]) -> None:
    """Join each batch, oldest first, with the next one if that is cheap."""
    index = 0
    while index + 1 < len(live):
        older, younger = live[index], live[index + 1]
        if younger.rows * (older.written - younger.written) <= JOIN:
            with torch.inference_mode():
                older.join(younger)
            del live[index + 1]
        else:
            index += 1
