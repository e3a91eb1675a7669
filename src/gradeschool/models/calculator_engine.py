"""`transformers/PATH_OR_ID` with the calculator: the token loop instead of `generate`."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from gradeschool.completion import Finish, Usage
from gradeschool.errors import ModelError
from gradeschool.models.base import Reply, Request
from gradeschool.models.batched import DEFAULT_TOKENS, ends_of, tokens_of, too_long
from gradeschool.models.token_loop import ROWS_ON_CPU, ROWS_ON_GPU, Draw, Loop, Sampled
from gradeschool.models.tokens.rows import Job


class CalculatorEngine:
    """A loaded model whose annotations are computed as it writes them."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.rows = ROWS_ON_GPU if model.device.type == "cuda" else ROWS_ON_CPU
        self.positions = getattr(model.config, "max_position_embeddings", None)
        self.ends = ends_of(model, tokenizer)

    def alike(self, one: Request, other: Request) -> bool:
        """Tell whether two requests can be written together: a sample does not see the others."""
        return one.decoding == other.decoding

    def generate(self, requests: Sequence[Request]) -> list[Reply | ModelError]:
        """Return the reply to each request, or why there is none; all are alike."""
        decoding = requests[0].decoding
        limit = decoding.max_tokens or DEFAULT_TOKENS
        results: list[Reply | ModelError] = []
        jobs = []
        for at, request in enumerate(requests):
            prompt = tokens_of(self.tokenizer, request.prompt)
            results.append(too_long(len(prompt), limit, self.positions or 0))
            if self.positions is None or len(prompt) + limit <= self.positions:
                jobs.append(Job(at, request.sample, tuple(prompt)))
        temperature = 1.0 if decoding.temperature is None else decoding.temperature
        draw = Draw(temperature, 1.0 if decoding.top_p is None else decoding.top_p)
        loop = Loop(self.model, self.tokenizer, draw, self.ends, True, decoding.stop)
        seed = secrets.randbits(62) if decoding.seed is None else decoding.seed
        for written in loop.run(jobs, limit, seed, self.rows):
            prompt_tokens = len(tokens_of(self.tokenizer, requests[written.prompt].prompt))
            results[written.prompt] = self._reply(written, prompt_tokens, decoding.stop)
        return results

    def _reply(self, written: Sampled, prompt_tokens: int, stop: Sequence[str]) -> Reply:
        text = str(self.tokenizer.decode(written.ids, skip_special_tokens=True))
        cut = min((at for one in stop if (at := text.find(one)) >= 0), default=len(text))
        finish = Finish.STOP if written.finished else Finish.LENGTH
        return Reply(text[:cut], finish, Usage(prompt_tokens, len(written.ids)))
