"""`transformers/PATH_OR_ID`: weights in Hugging Face's format, written here in batches.

One forward pass of the model for each token of all rows. A row that has ended leaves the batch;
the samples of a prompt are one row until they choose different tokens; the calculator replaces
tokens as they are chosen. `generate` of transformers can do none of that: its batch runs until the
longest row ends, which for samples of grade-school solutions takes four times the CPU time.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from inspect import signature
from itertools import count
from pathlib import Path
from typing import Any

import numpy
import torch
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
                samples: list[BatchSample] = []
                for request in requests:
                    try:
                        ids = local.encode_prompt(self.tokenizer, request.prompt, self.thinking)
                        limit = local.room_for(len(ids), request.decoding.max_tokens, self.context)
                        samples.append(BatchSample(request, tuple(ids), limit))
                    except ModelError as error:
                        yield [(request, error)]
                samples.sort(key=lambda sample: (len(sample.prompt), sample.prompt))
                while samples:
                    most = self._most(samples)
                    part, samples = samples[:most], samples[most:]
                    yield from self._write_batch(part)
        except torch.OutOfMemoryError as error:
            advice = "give fewer --connections or a smaller --max-tokens"
            raise InputError(f"the GPU's memory is too small; {advice}") from error
        finally:
            torch.set_num_threads(threads)

    def _most(self, samples: Sequence[BatchSample]) -> int:
        """Return how many samples have room for their keys and values."""
        config = self.engine.config.get_text_config()
        heads = config.num_attention_heads
        size = getattr(config, "head_dim", None) or config.hidden_size // heads
        heads = getattr(config, "num_key_value_heads", None) or heads
        place = 2 * config.num_hidden_layers * heads * size * self.engine.dtype.itemsize
        longest = max(len(sample.prompt) + sample.limit for sample in samples)
        free = ASSUMED_FREE
        if self.engine.device.type == "cuda":
            free = torch.cuda.mem_get_info(self.engine.device)[0]
        else:
            with suppress(OSError, ValueError, IndexError):
                _, _, words = Path("/proc/meminfo").read_text("ascii").partition("MemAvailable:")
                free = 1024 * int(words.split()[0])
        return max(1, min(self.rows, int(free * MEMORY_SHARE / (place * longest))))

    def _write_batch(self, samples: Sequence[BatchSample]) -> Generator[local.Results, None, None]:
        """Yield the results of samples that begin together; the prompts are padded on the left."""
        device = self.engine.device
        together: dict[Any, list[BatchSample]] = {}
        for sample in samples:
            together.setdefault((sample.prompt, str(sample.request.decoding)), []).append(sample)
        rows = [BatchRow(each) for each in together.values()]
        width = max(len(row.samples[0].prompt) for row in rows)
        pads = [width - len(row.samples[0].prompt) for row in rows]
        ids = [[0] * pad + [*row.samples[0].prompt] for pad, row in zip(pads, rows, strict=True)]
        mask = torch.tensor([[0] * pad + [1] * (width - pad) for pad in pads], device=device)
        with torch.inference_mode():
            cache = _new_cache(self.engine, len(samples))
            logits = self._forward(torch.tensor(ids, device=device), mask, cache)
            for step in count():
                ended: local.Results = []
                live: dict[int, BatchRow] = {}  # by their places in the batch
                new: list[tuple[int, BatchRow]] = []  # with their parents' places
                chosen = zip(rows, choose(logits, rows, step), strict=True)
                for place, (row, tokens) in enumerate(chosen):
                    for part, token in row.split(tokens):
                        if self._add(part, token):
                            reply = self._reply(part)
                            ended += [(sample.request, reply) for sample in part.samples]
                        elif part is row:
                            live[place] = row
                        else:
                            new.append((place, part))
                yield ended
                size = len(live) + len(new)
                if not size:
                    return
                # New rows, and then the last ones, take the places of those that ended.
                new += [each for each in live.items() if each[0] >= size]
                moved = iter(new)
                order = [(place, live[place]) if place in live else next(moved)
                         for place in range(size)]  # fmt: skip
                rows = [row for _, row in order]
                if new or size < len(mask):
                    places = torch.tensor([place for place, _ in order], device=device)
                    mask = mask[places]
                    # batch_select_indices leaves the states of Mamba's layers as they are.
                    cache.reorder_cache(places)  # type: ignore[arg-type]
                last = torch.tensor([[row.written[-1]] for row in rows], device=device)
                mask = torch.cat([mask, mask.new_ones(size, 1)], 1)
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

    def _add(self, row: BatchRow, token: int) -> bool:
        """Add the chosen token, or one that the calculator forces; return whether the row ends."""
        if row.forced:
            token = row.forced.popleft()
        elif self.annotations is not None and token in self.annotations.watched:
            forced, replaces = self.annotations.override(row.written, token)
            row.forced.extend(forced)
            if replaces:
                token = row.forced.popleft()
        row.written.append(token)
        if token in self.ends or len(row.written) >= row.samples[0].limit:
            return True
        stops = row.samples[0].request.decoding.stop
        size = max(map(len, stops), default=0) + TAIL
        tail = self.tokenizer.decode(row.written[-size:], skip_special_tokens=True) if stops else ""
        return any(stop in tail for stop in stops)

    def _reply(self, row: BatchRow) -> Reply:
        sample = row.samples[0]
        ids = row.written[:-1] if row.written[-1] in self.ends else row.written
        text = str(self.tokenizer.decode(ids, skip_special_tokens=True))
        kept = cut_at(text, sample.request.decoding.stop)
        whole = kept == text and ids is row.written
        finish = Finish.LENGTH if whole else Finish.STOP
        return Reply(kept, finish, Usage(len(sample.prompt), len(row.written)))


class BatchSample:
    """One sample that is being written, of at most `limit` tokens.

    numbers: random, one a token; they depend only on the sample's seed, number and prompt.
    """

    def __init__(self, request: Request, prompt: tuple[int, ...], limit: int) -> None:
        self.request, self.prompt, self.limit = request, prompt, limit
        facts = f"{request.decoding.seed or 0} {request.sample} {prompt}"
        seed = int.from_bytes(hashlib.sha256(facts.encode()).digest()[:8], "big")
        self.numbers = numpy.random.default_rng(seed).random(limit, dtype=numpy.float32).tolist()


@dataclass(slots=True, eq=False)
class BatchRow:
    """A row of the batch: samples of one prompt and decoding that have the same tokens so far.

    forced: the calculator's next tokens.
    """

    samples: list[BatchSample]
    written: list[int] = field(default_factory=list)
    forced: deque[int] = field(default_factory=deque)

    def split(self, tokens: Sequence[int]) -> Iterator[tuple[BatchRow, int]]:
        """Yield a row for each different token of the samples, with the token; this one first."""
        by_token: dict[int, list[BatchSample]] = {}
        for sample, token in zip(self.samples, tokens, strict=True):
            by_token.setdefault(tokens[0] if self.forced else token, []).append(sample)
        self.samples = by_token.pop(tokens[0])
        others = [(replace(self, samples=samples, written=[*self.written], forced=deque()), token)
                  for token, samples in by_token.items()]  # fmt: skip
        yield self, tokens[0]
        yield from others


def choose(logits: Any, rows: Sequence[BatchRow], step: int) -> Iterator[list[int]]:
    """Yield the next token of each row's samples, by temperature, top_p and their numbers."""
    device, decodings = logits.device, [row.samples[0].request.decoding for row in rows]
    likeliest, samples = logits.argmax(1), [row.samples for row in rows]
    if all(decoding.temperature == 0 for decoding in decodings):
        for each, token in zip(samples, likeliest.tolist(), strict=True):
            yield [token] * len(each)
        return
    temperature, top_p = (
        torch.tensor([1.0 if value is None else value for value in values], device=device)
        for values in zip(*((each.temperature, each.top_p) for each in decodings), strict=True)
    )
    shares = torch.softmax(logits / temperature[:, None].clamp(min=1e-6), 1)
    if (top_p < 1).any():
        ordered, order = shares.sort(1, descending=True)
        outside = ordered.cumsum(1) - ordered >= top_p[:, None]
        shares = shares.scatter(1, order, ordered.masked_fill(outside, 0.0))
    sums, most = shares.cumsum(1), max(map(len, samples))
    numbers = torch.tensor(
        [[sample.numbers[step] for sample in each] + [0.0] * (most - len(each)) for each in samples]
    )
    drawn = torch.searchsorted(sums, numbers.to(device) * sums[:, -1:], right=True)
    drawn = drawn.clamp(max=logits.shape[1] - 1)
    drawn = torch.where(temperature[:, None] == 0, likeliest[:, None], drawn)
    for each, tokens in zip(samples, drawn.tolist(), strict=True):
        yield tokens[: len(each)]


class GrowingLayer(DynamicLayer):
    """Keys and values at the start of a larger buffer, for at most `most` rows."""

    is_initialized: bool
    room: Any = None

    def __init__(self, most: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.most = most

    def update(self, key_states: Any, value_states: Any, *args: Any, **kwargs: Any) -> Any:
        """Append keys and values, and return all."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            self.keys = key_states[:, :, :0]
            self.values = value_states[:, :, :0]
        assert self.keys is not None  # noqa: S101
        rows, heads, start, _ = self.keys.shape
        end = start + key_states.shape[2]
        if self.room is None or self.room[0].shape[2] < end:
            old: Any = (self.keys, self.values)
            self.room = [states.new_empty(self.most, heads, end + STEPS, states.shape[3])
                         for states in old]  # fmt: skip
            for buffer, states in zip(self.room, old, strict=True):
                buffer[:rows, :, :start] = states
        for buffer, states in zip(self.room, (key_states, value_states), strict=True):
            buffer[:rows, :, start:end] = states
        self.keys, self.values = (buffer[:rows, :, :end] for buffer in self.room)
        return self.keys, self.values

    def reorder_cache(self, beam_idx: Any) -> None:
        """Let the rows be those at the indices; only a row that changes its place is copied."""
        if self.keys is None or self.room is None:
            return
        length, places = self.keys.shape[2], torch.arange(len(beam_idx), device=beam_idx.device)
        places = places[beam_idx != places]
        for buffer in self.room:
            buffer[places, :, :length] = buffer[beam_idx[places], :, :length]
        self.keys, self.values = (buffer[: len(beam_idx), :, :length] for buffer in self.room)


def _new_cache(model: Any, most: int) -> DynamicCache:
    """Return an empty cache; plain layers of it grow by blocks instead of by a copy a token."""
    cache = DynamicCache(config=model.config)
    new: Any = GrowingLayer
    cache.layers = [new(most) if type(layer) is DynamicLayer else layer
                    for layer in cache.layers]  # fmt: skip
    return cache
