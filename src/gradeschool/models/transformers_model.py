"""`transformers/PATH_OR_ID`: the transformers library, left padding, its own generation loop."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from gradeschool.completion import Finish, Usage
from gradeschool.errors import ModelError
from gradeschool.models.base import Reply, Request
from gradeschool.models.batched import (
    DEFAULT_TOKENS,
    BatchedModel,
    Engine,
    ends_of,
    known,
    tokens_of,
    too_long,
)

# A batch that does not fit into the memory is halved.
ROWS_ON_CPU, ROWS_ON_GPU = 16, 64


class TransformersModel(BatchedModel):
    """A causal language model; bfloat16 on a GPU, float32 on a CPU."""

    def __init__(self, spec: str, calculator: bool = False) -> None:
        needs = ("torch", "transformers")
        loading = partial(load, calculator)
        super().__init__(spec, "transformers", needs, "local", loading, calculator)


def load(calculator: bool, folder: Path) -> Engine:
    """Load a model from a folder; code that comes with it is not run."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    gpu = torch.cuda.is_available()
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model: Any = AutoModelForCausalLM.from_pretrained(
        folder, local_files_only=True, dtype=torch.bfloat16 if gpu else torch.float32
    )
    if gpu:
        model.cuda()
    if calculator:
        from gradeschool.models.calculator_engine import CalculatorEngine

        return CalculatorEngine(model.eval(), tokenizer)
    return Generator(model.eval(), tokenizer, ROWS_ON_GPU if gpu else ROWS_ON_CPU)


class Generator:
    """A loaded model with its tokenizer."""

    def __init__(self, model: Any, tokenizer: Any, rows: int) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.rows = rows
        self.positions = getattr(model.config, "max_position_embeddings", None)
        self.ends = ends_of(model, tokenizer)
        self.pad = next(iter([*known(tokenizer.pad_token_id), *self.ends]), 0)

    def alike(self, one: Request, other: Request) -> bool:
        """Tell whether two requests can be generated together.

        Sampling with a seed is repeatable only alone: the numbers drawn depend on the batch.
        """
        if one is other:
            return True
        seeded = bool(one.decoding.temperature) and one.decoding.seed is not None
        return one.decoding == other.decoding and not seeded

    def generate(self, requests: Sequence[Request]) -> list[Reply | ModelError]:
        """Return the reply to each request, or why there is none; all are alike."""
        import torch

        limit = requests[0].decoding.max_tokens or DEFAULT_TOKENS
        try:
            rows = [tokens_of(self.tokenizer, request.prompt) for request in requests]
        except ModelError as error:
            return [error] * len(requests)
        kept = [at for at, row in enumerate(rows) if self._fits(len(row) + limit)]
        try:
            written = self._write([rows[at] for at in kept], requests[0], limit) if kept else []
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            half = len(requests) // 2
            if not half:
                return [ModelError("out of memory", f"a prompt of {len(rows[0])} tokens")]
            return self.generate(requests[:half]) + self.generate(requests[half:])
        results: list[Reply | ModelError] = [
            too_long(len(row), limit, self.positions or 0) for row in rows
        ]
        for at, ids in zip(kept, written, strict=True):
            results[at] = self._reply(len(rows[at]), ids, requests[at])
        return results

    def _fits(self, tokens: int) -> bool:
        return self.positions is None or tokens <= self.positions

    def _write(self, rows: Sequence[list[int]], request: Request, limit: int) -> list[list[int]]:
        """Return the tokens that the model writes behind each row."""
        import torch
        from transformers import GenerationConfig

        decoding = request.decoding
        width = max(map(len, rows))
        ids = torch.tensor([[self.pad] * (width - len(row)) + row for row in rows])
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
        sampled = decoding.temperature is None or decoding.temperature > 0
        drawing = {
            "temperature": 1.0 if decoding.temperature is None else decoding.temperature,
            "top_p": 1.0 if decoding.top_p is None else decoding.top_p,
            "top_k": 0,
        }
        config = GenerationConfig(
            max_new_tokens=limit,
            do_sample=sampled,
            num_beams=1,
            repetition_penalty=1.0,
            eos_token_id=self.ends or None,
            pad_token_id=self.pad,
            stop_strings=list(decoding.stop) or None,
            **(drawing if sampled else {}),
        )
        if decoding.seed is not None:
            torch.manual_seed(decoding.seed + request.sample)
        with torch.inference_mode():
            written = self.model.generate(
                ids.to(self.model.device),
                attention_mask=mask.to(self.model.device),
                generation_config=config,
                tokenizer=self.tokenizer,
            )
        return [list(row) for row in written[:, width:].tolist()]

    def _reply(self, prompt_tokens: int, ids: list[int], request: Request) -> Reply:
        """Cut what was written at the end of the text or the first stop string."""
        stops = [at for at, token in enumerate(ids) if token in self.ends]
        ids = ids[: stops[0]] if stops else _without(ids, self.pad)
        text = str(self.tokenizer.decode(ids, skip_special_tokens=True))
        cuts = [at for stop in request.decoding.stop if (at := text.find(stop)) >= 0]
        finish = Finish.STOP if stops or cuts else Finish.LENGTH
        usage = Usage(prompt_tokens, len(ids))
        return Reply(text[: min(cuts, default=len(text))], finish, usage)


def _without(ids: list[int], pad: int) -> list[int]:
    """Drop the padding behind a row that ended before the others of its batch."""
    end = len(ids)
    while end and ids[end - 1] == pad:
        end -= 1
    return ids[:end]
