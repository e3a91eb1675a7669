"""Generate with transformers' `generate`, for architectures without support in the token loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import torch
from transformers import GenerationConfig

from gradeschool.models.local import GenerationSettings, SampleTask
from gradeschool.models.tokens.rows import SampledTokens


class GenerateLoop:
    """Generates batches of rows, padded on the left, each until its longest row has ended."""

    def __init__(
        self, model: Any, tokenizer: Any, settings: GenerationSettings, ends: Sequence[int]
    ) -> None:
        self.model, self.tokenizer, self.settings, self.ends = model, tokenizer, settings, ends
        pad = tokenizer.pad_token_id
        self.pad = pad if pad is not None else next(iter(ends), 0)
        self.context = getattr(model.config, "max_position_embeddings", None)

    def steps(
        self, tasks: Sequence[SampleTask], max_tokens: int, seed: int, rows: int
    ) -> Iterator[list[SampledTokens]]:
        """Yield a list for each batch, in the order of the tasks.

        Random numbers depend on the batch: with a seed, each sampled row is its own batch.
        """
        drawn = bool(self.settings.temperature) and self.settings.decoding.seed is not None

        def limit(task: SampleTask) -> int:
            """Return the number of tokens that the task's prompt leaves in the context."""
            free = max_tokens if self.context is None else self.context - len(task.tokens)
            return min(max_tokens, free)

        for tokens, group in groupby(tasks, key=limit):
            alike = list(group)
            size = 1 if drawn else rows
            for start in range(0, len(alike), size):
                yield self._batch(alike[start : start + size], tokens, seed if drawn else None)

    def _batch(
        self, tasks: Sequence[SampleTask], limit: int, seed: int | None
    ) -> list[SampledTokens]:
        """Return the continuation of each prompt; seed: None keeps torch's state."""
        width = max(len(task.tokens) for task in tasks)
        padding = [width - len(task.tokens) for task in tasks]
        ids = [[self.pad] * pad + list(task.tokens)
               for pad, task in zip(padding, tasks, strict=True)]  # fmt: skip
        mask = [[0] * pad + [1] * (width - pad) for pad in padding]
        if seed is not None:
            torch.manual_seed(seed + tasks[0].sample)
        with torch.inference_mode():
            whole = self.model.generate(
                torch.tensor(ids, device=self.model.device),
                attention_mask=torch.tensor(mask, device=self.model.device),
                generation_config=self._config(limit),
                tokenizer=self.tokenizer,
            )
        written = whole[:, width:].tolist()
        return [self._row(task, row, limit) for task, row in zip(tasks, written, strict=True)]

    def _config(self, limit: int) -> GenerationConfig:
        drawing = {
            "temperature": self.settings.temperature,
            "top_p": self.settings.top_p,
            "top_k": 0,
        }
        return GenerationConfig(
            max_new_tokens=limit,
            do_sample=bool(self.settings.temperature),
            num_beams=1,
            repetition_penalty=1.0,
            eos_token_id=list(self.ends) or None,
            pad_token_id=self.pad,
            stop_strings=list(self.settings.decoding.stop) or None,
            **(drawing if self.settings.temperature else {}),
        )

    def _row(self, task: SampleTask, ids: list[int], limit: int) -> SampledTokens:
        """Return a row up to its end token; a row that a stop string ended has padding instead."""
        end = next((place + 1 for place, token in enumerate(ids) if token in self.ends), None)
        if end is None:
            end = len(ids)
            while end and ids[end - 1] == self.pad:
                end -= 1
        ids = ids[:end]
        finished = end < limit or bool(ids and ids[-1] in self.ends)
        return SampledTokens(task.prompt, task.sample, ids, [], [], finished)
