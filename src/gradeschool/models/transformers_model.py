"""`transformers/PATH_OR_ID`: weights in Hugging Face's format, written by the local generator."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from gradeschool.completion import Decoding, Finish, Usage
from gradeschool.errors import ModelError
from gradeschool.models.base import Reply, Request, Results, Take
from gradeschool.models.generation import LoadedGenerator
from gradeschool.models.local import (
    DEFAULT_TOKENS,
    GenerationSettings,
    LocalModel,
    SampleTask,
    WrittenText,
    fits,
    from_folder,
    load_tokenizer,
    tokens_of,
    too_long,
)

# Writes tasks in other processes, here or elsewhere, like `LoadedGenerator.write`.
Workers = Callable[
    [GenerationSettings, int, Sequence[SampleTask]], Generator[list[WrittenText], None, None]
]


MOST_REQUESTS = 4096  # that are written together


class TransformersModel(LocalModel):
    """A causal language model. workers: the processes that generate; None: this process.

    A sample depends only on the weights, the prompt, its number and the seed (default 0), not on
    the other requests.
    """

    def __init__(self, spec: str, calculator: bool = False, workers: Workers | None = None) -> None:
        needs = ("torch", "transformers")
        load = partial(TransformersEngine, calculator, workers)
        super().__init__(spec, "transformers", needs, "local", load, calculator)


class TransformersEngine:
    """Converts requests to tokens, and written texts to replies."""

    def __init__(self, calculator: bool, workers: Workers | None, folder: Path) -> None:
        from transformers import AutoConfig

        self.folder, self.calculator = folder, calculator
        self.tokenizer = load_tokenizer(folder)
        config = from_folder(AutoConfig, folder)
        self.context: int | None = getattr(config, "max_position_embeddings", None)
        self._write = LoadedGenerator(folder).write if workers is None else workers

    def write(self, take: Take) -> Generator[Results, None, None]:
        """Yield results in any order; see `Engine`."""
        while requests := take(MOST_REQUESTS):
            for decoding in dict.fromkeys(request.decoding for request in requests):
                alike = [request for request in requests if request.decoding == decoding]
                yield from self._write_alike(decoding, alike)

    def _write_alike(self, decoding: Decoding, requests: Sequence[Request]) -> Iterator[Results]:
        """Yield the results of requests with the same decoding."""
        limit = decoding.max_tokens or DEFAULT_TOKENS
        try:
            prompts = dict.fromkeys(request.prompt for request in requests)
            tokens = {prompt: tuple(tokens_of(self.tokenizer, prompt)) for prompt in prompts}
        except ModelError as error:
            yield [(request, error) for request in requests]
            return
        tasks, failures = [], []
        for index, request in enumerate(requests):
            ids = tokens[request.prompt]
            if self.context is None or fits(len(ids), limit, self.context):
                tasks.append(SampleTask(index, request.sample, ids))
            else:
                failures.append((request, too_long(len(ids), limit, self.context)))
        yield list(failures)
        settings = GenerationSettings(self.folder, self.calculator, decoding)
        if tasks:
            with closing(self._write(settings, limit, tasks)) as written:
                for rows in written:
                    yield [self._result(requests[row.prompt], row, tokens) for row in rows]

    def _result(self, request: Request, row: WrittenText, tokens: Any) -> tuple[Request, Reply]:
        finish = Finish.STOP if row.finished else Finish.LENGTH
        usage = Usage(len(tokens[request.prompt]), row.tokens)
        return request, Reply(row.text, finish, usage, logprob=row.logprob)
