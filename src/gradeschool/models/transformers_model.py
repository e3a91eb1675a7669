"""`transformers/PATH_OR_ID`: weights in Hugging Face's format, written here in batches.

One forward pass of the model for each token of all rows. A row that has ended leaves the batch;
equal prompts are read once; the calculator replaces tokens as they are chosen. `generate` of
transformers can do none of that: its batch runs until the longest row ends, which for samples of
grade-school solutions takes four times the CPU time.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import Any

import numpy
import torch
from torch.nn.functional import pad
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from gradeschool.completion import Finish, Usage, cut_at
from gradeschool.errors import InputError, ModelError
from gradeschool.models import local
from gradeschool.models.base import Reply, Request

ROWS_ON_CPU, ROWS_ON_GPU = 512, 1024
SMALL_WEIGHTS = 1 << 26  # up to this many, a second thread costs more than it gains
MEMORY_SHARE = 0.5  # of the free memory, for keys and values
ASSUMED_FREE = 4 << 30  # bytes, if the system does not say
DEAD_SHARE = 0.1  # of ended rows, from which they are removed from the batch
SORTED_BATCHES = 4  # that many batches are sorted by length, which saves padding
STEPS = 128  # places by which keys and values grow
TAIL = 16  # tokens that are searched for a stop string


class TransformersModel(local.LocalModel):
    """A causal language model that writes batches of rows.

    A sample depends only on the weights, the prompt, its number and the seed (default 0). Rounding
    may differ with the other rows of a batch.
    """

    library = "transformers"

    def load(self) -> None:
        """Load the folder's model, on a GPU if there is one."""
        model = local.load_model(self.folder, local.best_device())
        self.begin(model, local.load_tokenizer(self.folder))

    def begin(self, model: Any, tokenizer: Any, rows: int | None = None) -> None:
        """Use a model and its tokenizer. rows: maximum number in a batch."""
        self.engine, self.tokenizer = model, tokenizer
        ends = model.generation_config.eos_token_id
        ends = [*ends] if isinstance(ends, list) else [ends]
        self.ends = {*ends, tokenizer.eos_token_id} - {None}
        self.context: int | None = getattr(model.config, "max_position_embeddings", None)
        self.annotations = None
        if self.calculator:
            size = model.get_output_embeddings().weight.shape[0]
            self.annotations = local.Annotations(tokenizer, size)
        self.rows = rows or (ROWS_ON_GPU if model.device.type == "cuda" else ROWS_ON_CPU)
        self.is_small = sum(each.numel() for each in model.parameters()) <= SMALL_WEIGHTS
        known = signature(model.forward).parameters
        self._takes_positions = "position_ids" in known
        self._last_only = {"logits_to_keep": 1} if "logits_to_keep" in known else {}

    def write(self, take: local.Take) -> Generator[local.Results, None, None]:
        """Yield results as they end; see `LocalModel`."""
        threads = torch.get_num_threads()
        if self.is_small:
            torch.set_num_threads(1)
        try:
            while requests := take(SORTED_BATCHES * self.rows):
                rows: list[SampleRow] = []
                for request in requests:
                    try:
                        ids = local.encode_prompt(self.tokenizer, request.prompt, self.thinking)
                        limit = local.room_for(len(ids), request.decoding.max_tokens, self.context)
                        rows.append(SampleRow(request, tuple(ids), limit))
                    except ModelError as error:
                        yield [(request, error)]
                rows.sort(key=lambda row: len(row.prompt))
                while rows:
                    most = self._most(rows)
                    part, rows = rows[:most], rows[most:]
                    yield from self._write_batch(part)
        except torch.OutOfMemoryError as error:
            advice = "give fewer --connections or a smaller --max-tokens"
            raise InputError(f"the GPU's memory is too small; {advice}") from error
        finally:
            torch.set_num_threads(threads)

    def _most(self, rows: Sequence[SampleRow]) -> int:
        """Return how many rows have room for their keys and values."""
        config = self.engine.config.get_text_config()
        heads = config.num_attention_heads
        size = getattr(config, "head_dim", None) or config.hidden_size // heads
        heads = getattr(config, "num_key_value_heads", None) or heads
        place = 2 * config.num_hidden_layers * heads * size * self.engine.dtype.itemsize
        longest = max(len(row.prompt) + row.limit for row in rows)
        free = ASSUMED_FREE
        if self.engine.device.type == "cuda":
            free = torch.cuda.mem_get_info(self.engine.device)[0]
        else:
            with suppress(OSError, ValueError, IndexError):
                _, _, words = Path("/proc/meminfo").read_text("ascii").partition("MemAvailable:")
                free = 1024 * int(words.split()[0])
        return max(1, min(self.rows, int(free * MEMORY_SHARE / (place * longest))))

    def _write_batch(self, rows: Sequence[SampleRow]) -> Generator[local.Results, None, None]:
        """Yield the results of rows that begin together; the prompts are padded on the left."""
        device = self.engine.device
        prompts = list(dict.fromkeys(row.prompt for row in rows))
        numbers = {prompt: number for number, prompt in enumerate(prompts)}
        owners = torch.tensor([numbers[row.prompt] for row in rows], device=device)
        width = max(map(len, prompts))
        pads = [width - len(prompt) for prompt in prompts]
        ids = [[0] * pad + list(prompt) for pad, prompt in zip(pads, prompts, strict=True)]
        mask = torch.tensor([[0] * pad + [1] * (width - pad) for pad in pads], device=device)
        with torch.inference_mode():
            cache = _new_cache(self.engine)
            logits = self._forward(torch.tensor(ids, device=device), mask, cache)[owners]
            cache.batch_select_indices(owners)
            mask, alive, draw = mask[owners], list(rows), Draw(rows, device)
            while True:
                ended: local.Results = []
                for row, token in zip(alive, draw.choose(logits), strict=True):
                    if not row.ended and self._add(row, token):
                        ended.append((row.request, self._reply(row)))
                yield ended
                left = [place for place, row in enumerate(alive) if not row.ended]
                if not left:
                    return
                if len(left) < len(alive) * (1 - DEAD_SHARE):
                    kept = torch.tensor(left, device=device)
                    alive, mask = [alive[place] for place in left], mask[kept]
                    cache.batch_select_indices(kept)
                    draw.select(kept)
                last = torch.tensor([[row.written[-1]] for row in alive], device=device)
                mask = torch.cat([mask, mask.new_ones(len(alive), 1)], 1)
                logits = self._forward(last, mask, cache)

    def _forward(self, ids: Any, mask: Any, cache: Any) -> Any:
        """Return the logits after the last of these tokens, in float32."""
        positions = {}
        if self._takes_positions:
            places = (mask.cumsum(1) - 1).clamp(min=0)
            positions = {"position_ids": places[:, -ids.shape[1] :]}
        output = self.engine(
            input_ids=ids, attention_mask=mask, past_key_values=cache, use_cache=True,
            **positions, **self._last_only,
        )  # fmt: skip
        if getattr(output, "past_key_values", None) is None:
            kind = self.engine.config.model_type
            raise InputError(f"a model of type {kind!r} has no cache; give vllm/FOLDER, or a URL")
        return output.logits[:, -1].float()

    def _add(self, row: SampleRow, token: int) -> bool:
        """Add the chosen token, or one that the calculator forces; return whether the row ends."""
        if row.forced:
            token = row.forced.popleft()
        elif self.annotations is not None and token in self.annotations.watched:
            forced, replaces = self.annotations.override(row.written, token)
            row.forced.extend(forced)
            if replaces:
                token = row.forced.popleft()
        row.written.append(token)
        row.ended = token in self.ends or len(row.written) >= row.limit
        stops = row.request.decoding.stop
        if stops and not row.ended:
            size = max(map(len, stops)) + TAIL
            tail = self.tokenizer.decode(row.written[-size:], skip_special_tokens=True)
            row.ended = any(stop in tail for stop in stops)
        return row.ended

    def _reply(self, row: SampleRow) -> Reply:
        ids = row.written[:-1] if row.written[-1] in self.ends else row.written
        text = str(self.tokenizer.decode(ids, skip_special_tokens=True))
        kept = cut_at(text, row.request.decoding.stop)
        whole = kept == text and ids is row.written
        finish = Finish.LENGTH if whole else Finish.STOP
        return Reply(kept, finish, Usage(len(row.prompt), len(row.written)))


@dataclass(slots=True)
class SampleRow:
    """One sample that is being written. forced: the calculator's next tokens."""

    request: Request
    prompt: tuple[int, ...]
    limit: int
    written: list[int] = field(default_factory=list)
    forced: deque[int] = field(default_factory=deque)
    ended: bool = False


class Draw:
    """Chooses the next token of each row, by its temperature, top_p and random numbers.

    The numbers, one a token, depend only on the row's seed, sample and prompt.
    """

    def __init__(self, rows: Sequence[SampleRow], device: Any) -> None:
        self.step = 0
        decodings = [row.request.decoding for row in rows]
        self.greedy = all(each.temperature == 0 for each in decodings)
        if self.greedy:
            return
        numbers = numpy.zeros((len(rows), max(row.limit for row in rows)), numpy.float32)
        for place, row in enumerate(rows):
            facts = f"{row.request.decoding.seed or 0} {row.request.sample} {row.prompt}"
            seed = int.from_bytes(hashlib.sha256(facts.encode()).digest()[:8], "big")
            drawn = numpy.random.default_rng(seed).random(row.limit, dtype=numpy.float32)
            numbers[place, : row.limit] = drawn
        self.numbers = torch.from_numpy(numbers).to(device)
        self.temperature, self.top_p = (
            torch.tensor([1.0 if value is None else value for value in values], device=device)
            for values in zip(*((each.temperature, each.top_p) for each in decodings), strict=True)
        )

    def select(self, kept: Any) -> None:
        """Keep some of the rows."""
        if not self.greedy:
            self.numbers = self.numbers[kept]
            self.temperature, self.top_p = self.temperature[kept], self.top_p[kept]

    def choose(self, logits: Any) -> list[int]:
        """Return a token for each row."""
        likeliest = logits.argmax(1)
        if self.greedy:
            return list(likeliest.tolist())
        shares = torch.softmax(logits / self.temperature[:, None].clamp(min=1e-6), 1)
        if (self.top_p < 1).any():
            ordered, order = shares.sort(1, descending=True)
            outside = ordered.cumsum(1) - ordered >= self.top_p[:, None]
            shares = shares.scatter(1, order, ordered.masked_fill(outside, 0.0))
        sums = shares.cumsum(1)
        number = self.numbers[:, self.step : self.step + 1] * sums[:, -1:]
        self.step += 1
        drawn = torch.searchsorted(sums, number, right=True)[:, 0]
        drawn = drawn.clamp(max=logits.shape[1] - 1)
        return list(torch.where(self.temperature == 0, likeliest, drawn).tolist())


class GrowingLayer(DynamicLayer):
    """Keys and values at the start of a larger buffer."""

    is_initialized: bool
    room: Any = None

    def update(self, key_states: Any, value_states: Any, *args: Any, **kwargs: Any) -> Any:
        """Append keys and values, and return all."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            self.keys = key_states[:, :, :0]
            self.values = value_states[:, :, :0]
        assert self.keys is not None  # noqa: S101
        start = self.keys.shape[2]
        end = start + key_states.shape[2]
        if self.room is None or self.room[0].shape[2] < end:
            old: Any = (self.keys, self.values)
            self.room = [pad(states, (0, 0, 0, end + STEPS - start)) for states in old]
        for buffer, states in zip(self.room, (key_states, value_states), strict=True):
            buffer[:, :, start:end] = states
        self.keys, self.values = (buffer[:, :, :end] for buffer in self.room)
        return self.keys, self.values

    def batch_select_indices(self, indices: Any) -> None:
        """Keep some of the rows, in this order."""
        super().batch_select_indices(indices)
        self.room = None


def _new_cache(model: Any) -> DynamicCache:
    """Return an empty cache; plain layers of it grow by blocks instead of by a copy a token."""
    cache = DynamicCache(config=model.config)
    new: Any = GrowingLayer
    cache.layers = [new() if type(layer) is DynamicLayer else layer
                    for layer in cache.layers]  # fmt: skip
    return cache
