"""The local generator: a loaded model that writes samples, if possible with the token loop.

For architectures that the loop does not support, transformers' `generate` is used. A process has
one generator; `workers` starts further processes.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from gradeschool.errors import InputError
from gradeschool.machine import best_device, free_memory
from gradeschool.models.local import (
    GenerationSettings,
    SampleTask,
    WrittenText,
    ends_of,
    load_model,
    load_tokenizer,
)

SEND_ROWS, SEND_SECONDS = 64, 1.0  # number of rows sent and stored together, and the longest wait
# Number of weights up to which more than one thread costs more than it gains.
SMALL_WEIGHTS = 1 << 26
GENERATE_ROWS_ON_CPU, GENERATE_ROWS_ON_GPU = 16, 64
# Maximum share of the free memory for keys and values of all rows.
MEMORY_SHARE = 0.5
ASSUMED_FREE = 4 << 30  # bytes, if the system does not say


class LoadedGenerator:
    """A model from a folder with its tokenizer, on a GPU if available; see `load_model`."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer = load_tokenizer(folder)
        self.model = load_model(folder, best_device())
        self.ends = ends_of(self.model, self.tokenizer)
        self.small = sum(weight.numel() for weight in self.model.parameters()) <= SMALL_WEIGHTS

    def write(
        self, settings: GenerationSettings, limit: int, tasks: Sequence[SampleTask]
    ) -> Generator[list[WrittenText], None, None]:
        """Yield written rows, several at a time; after a second without rows, an empty list.

        A row has at most `limit` tokens, and no more than the model's context allows. Raises
        InputError if the calculator needs the token loop and the loop cannot run the model.
        """
        import torch

        threads = torch.get_num_threads()
        rows: list[WrittenText] = []
        sent = time.monotonic()
        try:
            for step in self._steps(settings, limit, tasks):
                rows += [self._text(row, settings.decoding.stop) for row in step]
                if len(rows) >= SEND_ROWS or time.monotonic() - sent > SEND_SECONDS:
                    yield rows
                    rows, sent = [], time.monotonic()
                    if self.small:
                        torch.set_num_threads(1)  # set per thread
            yield rows
        finally:
            torch.set_num_threads(threads)

    def _steps(
        self, settings: GenerationSettings, limit: int, tasks: Sequence[SampleTask]
    ) -> Iterator[list[Any]]:
        """Yield rows as they end; uses `generate` for those that the token loop cannot write."""
        import torch

        from gradeschool.models.generate import GenerateLoop
        from gradeschool.models.token_loop import Draw, Loop, UnknownArchitectureError

        if self.small:
            torch.set_num_threads(1)
        remaining = {(task.prompt, task.sample): task
                     for task in sorted(tasks, key=lambda task: -len(task.tokens))}  # fmt: skip
        most = self._rows(limit, tasks)
        loop: Any = None
        while remaining:
            todo = list(remaining.values())
            try:
                if loop is None:
                    draw = Draw(settings.temperature, settings.top_p)
                    loop = Loop(self.model, self.tokenizer, draw, self.ends, settings.calculator,
                                settings.decoding.stop)  # fmt: skip
                for rows in loop.steps(todo, limit, settings.decoding.seed or 0, most):
                    for row in rows:
                        del remaining[row.prompt, row.sample]
                    yield rows
            except UnknownArchitectureError:
                if settings.calculator:
                    raise
                loop = GenerateLoop(self.model, self.tokenizer, settings, self.ends)
                gpu = self.model.device.type == "cuda"
                most = min(most, GENERATE_ROWS_ON_GPU if gpu else GENERATE_ROWS_ON_CPU)
            except torch.OutOfMemoryError as error:
                torch.cuda.empty_cache()
                if most == 1:
                    raise InputError("the model does not fit into the GPU's memory with one row; "
                                     "give a smaller --max-tokens") from error  # fmt: skip
                most //= 2

    def _rows(self, limit: int, tasks: Sequence[SampleTask]) -> int:
        """Return the number of concurrent rows: as many as have room for their keys and values."""
        import torch

        from gradeschool.models.token_loop import ROWS_ON_CPU, ROWS_ON_GPU

        config = self.model.config.get_text_config()
        heads = config.num_attention_heads
        size = getattr(config, "head_dim", None) or config.hidden_size // heads
        heads = getattr(config, "num_key_value_heads", None) or heads
        numbers = 2 * config.num_hidden_layers * heads * size * self.model.dtype.itemsize
        row = numbers * (limit + max((len(task.tokens) for task in tasks), default=0))
        if self.model.device.type == "cuda":
            free, most = torch.cuda.mem_get_info(self.model.device)[0], ROWS_ON_GPU
        else:
            free, most = free_memory() or ASSUMED_FREE, ROWS_ON_CPU
        return max(1, min(most, int(free * MEMORY_SHARE / row)))

    def _text(self, row: Any, stop: Sequence[str]) -> WrittenText:
        ids = row.ids[:-1] if row.ids and row.ids[-1] in self.ends else row.ids
        text = str(self.tokenizer.decode(ids, skip_special_tokens=True))
        end = min((start for word in stop if (start := text.find(word)) >= 0), default=len(text))
        logprobs = getattr(row, "logprobs", None)  # `generate` returns none
        whole = end == len(text) and (
            not row.finished or row.ids[-1] == self.tokenizer.eos_token_id
        )
        total = sum(logprobs) if logprobs and whole else None
        return WrittenText(row.prompt, text[:end], len(row.ids), row.finished, total)
