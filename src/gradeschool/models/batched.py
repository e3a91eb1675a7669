"""A model that runs in this process: requests that wait are answered together, in a thread."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from gradeschool.completion import Prompt
from gradeschool.errors import InputError, MissingExtraError, ModelError
from gradeschool.models.base import Reply, Request

# So long a batch waits for further requests.
GATHER_SECONDS = 0.02
# Where the protocol sets no limit: the length of a long chain of thought.
DEFAULT_TOKENS = 2048
# Of a weight file so much is read at each end to tell it from another.
SAMPLE_BYTES = 1 << 20
FILES = ("*.safetensors", "*.bin", "config.json", "generation_config.json", "tokenizer*")


class Engine(Protocol):
    """A loaded model."""

    rows: int  # how many requests a batch holds at most

    def alike(self, one: Request, other: Request) -> bool:
        """Tell whether two requests can be generated together."""

    def generate(self, requests: Sequence[Request]) -> list[Reply | ModelError]:
        """Return the reply to each request, or why there is none; all are alike."""


class BatchedModel:
    """A Hugging Face model that a library runs here.

    spec: a folder, or the name of a model that is in the Hugging Face cache already: nothing is
    downloaded. library, needs, extra: who runs it, what it imports, and the extra that brings that.
    load: from the folder to an engine. calculator: whether the engine computes annotations. Raises
    InputError where there is no such model, MissingExtraError where the library is not installed.
    """

    def __init__(
        self,
        spec: str,
        library: str,
        needs: Sequence[str],
        extra: str,
        load: Callable[[Path], Engine],
        calculator: bool = False,
    ) -> None:
        if missing := [name for name in needs if importlib.util.find_spec(name) is None]:
            raise MissingExtraError(f"a model run here ({', '.join(missing)})", extra)
        self.folder = folder_of(spec)
        self.name = spec.rstrip("/").rpartition("/")[2]
        self.identity = f"{library}/{self.name} {fingerprint(self.folder)}"
        if calculator:
            self.identity += " with the calculator"
            self.name += "+calculator"
        self._load = load
        self._engine: Engine | None = None
        self._waiting: list[tuple[Request, asyncio.Future[Reply]]] = []
        self._arrived = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None

    async def __aenter__(self) -> BatchedModel:
        """Load the model."""
        self._engine = await asyncio.to_thread(self._load, self.folder)
        self._worker = asyncio.create_task(self._work(self._engine))
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Stop asking, and let the model go."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.wait([self._worker])
        self._engine = None

    async def answer(self, request: Request) -> Reply:
        """Return the reply to one request, generated with others that wait; raises ModelError."""
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, reply))
        self._arrived.set()
        return await reply

    async def _work(self, engine: Engine) -> None:
        while True:
            await self._arrived.wait()
            await asyncio.sleep(GATHER_SECONDS)
            batch = self._next_batch(engine)
            try:
                asked = [request for request, _ in batch]
                replies = await asyncio.to_thread(engine.generate, asked)
            except BaseException as error:
                _fail(batch, error)
                raise
            for (_, future), result in zip(batch, replies, strict=True):
                if not future.done():
                    _settle(future, result)

    def _next_batch(self, engine: Engine) -> list[tuple[Request, asyncio.Future[Reply]]]:
        """Take the requests that can be generated together with the one that waits longest."""
        first = self._waiting[0][0]
        batch = [pair for pair in self._waiting if engine.alike(pair[0], first)][: engine.rows]
        taken = {id(future) for _, future in batch}
        self._waiting = [pair for pair in self._waiting if id(pair[1]) not in taken]
        if not self._waiting:
            self._arrived.clear()
        return batch


def _settle(future: asyncio.Future[Reply], result: Reply | ModelError) -> None:
    if isinstance(result, ModelError):
        future.set_exception(result)
    else:
        future.set_result(result)


def _fail(batch: Sequence[tuple[Request, asyncio.Future[Reply]]], error: BaseException) -> None:
    """Let whoever waits for a batch know that it will not come."""
    for _, future in batch:
        if not future.done():
            if isinstance(error, asyncio.CancelledError):
                future.cancel()
            else:
                future.set_exception(error)


def tokens_of(tokenizer: Any, prompt: Prompt) -> list[int]:
    """Return a prompt as tokens; a chat in the model's own template, its prefix left open.

    Raises ModelError where a chat is asked of a model without a template.
    """
    if prompt.text is not None:
        return list(tokenizer(prompt.text)["input_ids"])
    if not tokenizer.chat_template:
        raise ModelError(
            "no chat template", "the model has no chat template; use a completion protocol"
        )
    turns = [{"role": turn.role, "content": turn.content} for turn in prompt.messages]
    text = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    # The template wrote the first token already.
    return list(tokenizer(text + (prompt.prefix or ""), add_special_tokens=False)["input_ids"])


def ends_of(model: Any, tokenizer: Any) -> list[int]:
    """Return the tokens that end a text of a Hugging Face model."""
    ends = model.generation_config.eos_token_id
    ends = [ends] if isinstance(ends, int) else list(ends or [])
    return list(dict.fromkeys([*ends, *known(tokenizer.eos_token_id)]))


def known(token: int | None) -> list[int]:
    """Return a token that a tokenizer may not have as a list of one or none."""
    return [] if token is None else [token]


def too_long(tokens: int, limit: int, positions: int) -> ModelError:
    """Return the failure of a prompt that leaves no room for its completion."""
    return ModelError(
        "context length",
        f"{tokens} tokens of prompt and {limit} of completion do not fit into the model's "
        f"{positions}; use fewer shots or a smaller limit",
    )


def fingerprint(folder: Path) -> str:
    """Return a short digest of a model's files: names, sizes, and a megabyte at each end."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in FILES for path in folder.glob(pattern)}):
        size = path.stat().st_size
        digest.update(f"{path.name} {size}\n".encode())
        with path.open("rb") as file:
            digest.update(file.read(SAMPLE_BYTES))
            file.seek(max(0, size - SAMPLE_BYTES))
            digest.update(file.read())
    return digest.hexdigest()[:16]


def folder_of(spec: str) -> Path:
    """Return a model's folder: a path, or a name in the Hugging Face cache."""
    folder = Path(spec).expanduser()
    if (folder / "config.json").is_file():
        return folder
    if folder.is_dir():
        raise InputError(f"the folder {spec!r} holds no model: it has no config.json")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        return Path(snapshot_download(spec, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError) as error:
        raise InputError(
            f"there is no folder {spec!r}, and no model of that name in the Hugging Face cache; "
            f"give a folder, or fetch it first: hf download {spec}"
        ) from error
