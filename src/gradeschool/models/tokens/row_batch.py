"""Keys and values of rows that are written together: prompts once, and each row's own.

A row attends to two blocks under one softmax: its prompt's, shared with the other samples of that
prompt, and its own. A row's own tokens are in columns by time: every row writes into the same
column, and a row that began later starts in a later column.

A row's own keys and values are read by one small product per row and head, whose cost is the call.
So small heads are read together: the query of each head has zeros in the place of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional
from transformers.cache_utils import DynamicCache

# Prompts are removed when less than this share of them is still read.
READ = 0.75
# Finished rows are removed once computing them has cost this many rows times steps.
WASTE = 16


class GenerationBatch:
    """Keys and values of every layer for some rows.

    prefixes: one block per layer, prompts padded on the right. lengths: of each prompt without
    padding. owners: the prompt of each row. slots: the loop's number for each row.
    """

    def __init__(
        self,
        prefixes: Sequence[KeyValues],
        lengths: Sequence[int],
        owners: Sequence[int],
        slots: NDArray[np.int64],
    ) -> None:
        self.prefixes = list(prefixes)
        self.suffixes = [empty_buffers(prefix, len(owners)) for prefix in prefixes]
        device = prefixes[0].keys.device
        self.joined = joined(prefixes[0].keys)
        self.lengths = torch.tensor(lengths, device=device)
        self.owners = torch.tensor(owners, device=device)
        self.starts = torch.zeros_like(self.owners)  # the column of each row's first token
        self.slots = slots
        self.written = 0  # columns
        self.longest = max(lengths)
        self.live = len(slots)  # unfinished rows
        self.waste = 0  # rows times steps spent on finished rows
        self._arrange()

    def tidy(self, spare: int) -> None:
        """Remove finished rows once that is cheaper than computing them further."""
        kept = self.slots != spare
        self.live = int(kept.sum())
        self.waste += len(kept) - self.live
        if self.live and self.waste >= WASTE:
            self.keep(kept)
            self.waste = 0

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.slots)

    def positions(self) -> torch.Tensor:
        """Return the position of each row's next token."""
        return self.begins + self.written

    def attend(
        self, layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float
    ) -> torch.Tensor:
        """Write a token's key and value, and return what each row reads.

        query: [rows, heads, size]; key, value: [rows, key heads, size]; as the result.
        """
        rows, heads, size = query.shape
        shared = heads // key.shape[1]
        own = self._write(layer, key, value)
        prefix = self.prefixes[layer]
        width = prefix.keys.shape[2]
        query = (query * scale).reshape(rows * key.shape[1], shared, size)
        late = None if self.late is None else self.late[:, :, : self.written + 1]
        own_scores = scored(self._spread(query), own.keys, late).reshape(*query.shape[:2], -1)
        prefix_scores = self._prefix_scores(query, prefix.keys).reshape(*query.shape[:2], width)
        scores = torch.cat((prefix_scores, own_scores), -1)
        weights = scores.softmax(-1, dtype=torch.float32).to(query.dtype)
        of_own = weights[..., width:].reshape(len(own.values), -1, own_scores.shape[2])
        read = self._gathered(torch.bmm(of_own, own.values), query.shape)
        read += self._prefix_values(weights[..., :width], prefix.values).reshape(read.shape)
        return read.reshape(rows, heads, -1)

    def step(self) -> None:
        """Count the token that every layer has stored."""
        self.written += 1
        if self.written == self.suffixes[0].keys.shape[3]:
            more = max(GROWTH, self.written // 2)
            self.suffixes = [shifted(block, 0, more) for block in self.suffixes]
            self._arrange()

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop the rows that are not kept; rows from the end replace them."""
        count = int(kept.sum())
        holes = np.flatnonzero(~kept[:count])
        movers = count + np.flatnonzero(kept[count:])
        self.slots[holes] = self.slots[movers]
        self.slots = self.slots[:count].copy()
        to, source = (
            torch.from_numpy(indices).to(self.owners.device) for indices in (holes, movers)
        )
        for keys, values in self.suffixes:
            keys[to, :, :, : self.written] = keys[source, :, :, : self.written]
            values[to, :, : self.written] = values[source, :, : self.written]
        for row in (self.owners, self.starts):
            row[to] = row[source]
        first = int(self.starts[:count].min())  # no row reads columns before it
        self.suffixes = [
            KeyValues(k[:count, :, :, first:], v[:count, :, first:]) for k, v in self.suffixes
        ]
        self.owners, self.starts = self.owners[:count].clone(), self.starts[:count] - first
        self.written -= first
        self._drop_prompts()
        self._arrange()

    def join(self, younger: GenerationBatch) -> None:
        """Add the rows of a batch that has not written more than this one."""
        delay = self.written - younger.written
        self.owners = torch.cat((self.owners, younger.owners + len(self.lengths)))
        self.lengths = torch.cat((self.lengths, younger.lengths))
        self.starts = torch.cat((self.starts, younger.starts + delay))
        self.slots = np.concatenate((self.slots, younger.slots))
        self.longest = max(self.longest, younger.longest)
        self.prefixes = [
            stacked(old, new) for old, new in zip(self.prefixes, younger.prefixes, strict=True)
        ]
        self.suffixes = [
            under(shifted(cut(old, self.written), 0, GROWTH),
                  shifted(cut(new, younger.written), delay, GROWTH))
            for old, new in zip(self.suffixes, younger.suffixes, strict=True)
        ]  # fmt: skip
        self._arrange()

    def _drop_prompts(self) -> None:
        kept = torch.unique(self.owners)
        if len(kept) < READ * len(self.lengths):
            self.lengths = self.lengths[kept]
            self.longest = int(self.lengths.max())
            self.prefixes = [
                KeyValues(*(part[kept, :, : self.longest] for part in block))
                for block in self.prefixes
            ]
            self.owners = torch.searchsorted(kept, self.owners)

    def _arrange(self) -> None:
        """Arrange rows by prompt: places[prompt, turn] is a row; spots is the inverse."""
        device, prompts = self.owners.device, len(self.lengths)
        counts = torch.bincount(self.owners, minlength=prompts)
        self.turns = int(counts.max())
        order = self.owners.argsort(stable=True)
        numbers = torch.arange(self.rows, device=device)
        turn = numbers - (counts.cumsum(0) - counts)[self.owners[order]]
        spots = torch.empty_like(order)
        spots[order] = self.owners[order] * self.turns + turn
        places = spots.new_zeros(prompts * self.turns)
        places[spots] = numbers
        straight = len(places) == self.rows and bool((places == numbers).all())
        self.places = None if straight else places
        self.spots = None if straight else spots
        keys = self.prefixes[0].keys
        padding = torch.arange(self.longest, device=device) >= self.lengths[:, None]
        self.padding = barred(padding, keys) if bool(padding.any()) else None
        keys = self.suffixes[0].keys
        late = torch.arange(keys.shape[3], device=device) < self.starts[:, None]
        self.late = barred(late, keys) if bool(self.starts.any()) else None
        self.blank: torch.Tensor | None = None
        self.begins = self.lengths[self.owners] - self.starts

    def _prefix_scores(self, query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        """Return each row's scores of its prompt: [rows, key heads, shared, tokens]."""
        heads = keys.shape[1]
        query = self._by_prompt(query, heads)
        scores = scored(query, keys.flatten(0, 1).transpose(1, 2), self.padding)
        return self._by_row(scores, heads)

    def _prefix_values(self, weights: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """Return the values that each row reads of its prompt: [rows, key heads, shared, size]."""
        heads = values.shape[1]
        return self._by_row(torch.bmm(self._by_prompt(weights, heads), values.flatten(0, 1)), heads)

    def _by_prompt(self, rows: torch.Tensor, heads: int) -> torch.Tensor:
        """Put the rows of a prompt together: [prompts x heads, turns x shared, size].

        rows: [rows x heads, shared, size].
        """
        prompts, (shared, size) = len(self.lengths), rows.shape[1:]
        rows = rows.view(self.rows, heads, shared, size)
        if self.places is not None:
            rows = rows.index_select(0, self.places)
        rows = rows.view(prompts, self.turns, heads, shared, size).transpose(1, 2)
        return rows.reshape(prompts * heads, self.turns * shared, size)

    def _by_row(self, results: torch.Tensor, heads: int) -> torch.Tensor:
        """Return the results of each row, [rows, heads, shared, size]: undo `_by_prompt`."""
        prompts, shared, size = len(self.lengths), results.shape[1] // self.turns, results.shape[2]
        results = results.view(prompts, heads, self.turns, shared, size).transpose(1, 2)
        results = results.reshape(prompts * self.turns, heads, shared, size)
        return results if self.spots is None else results.index_select(0, self.spots)

    def _write(self, layer: int, key: torch.Tensor, value: torch.Tensor) -> KeyValues:
        """Append a token and return all tokens, with groups of rows as one dimension."""
        keys, values = self.suffixes[layer]
        keys[..., self.written] = key.reshape(keys.shape[:3])
        values[:, :, self.written] = value.reshape(keys.shape[:3])
        # Views: the strides of rows and groups combine into one.
        end = self.written + 1
        return KeyValues(keys[..., :end].flatten(0, 1), values[:, :, :end].flatten(0, 1))

    def _spread(self, query: torch.Tensor) -> torch.Tensor:
        """Put zeros beside the query of each head of a group, so that other heads do not count."""
        if self.joined == 1:
            return query
        joined, (_, shared, size) = self.joined, query.shape
        if self.blank is None:
            self.blank = query.new_zeros(len(query) // joined, joined, shared, joined, size)
        spread = self.blank
        spread.diagonal(dim1=1, dim2=3).copy_(
            query.view(-1, joined, shared, size).permute(0, 2, 3, 1)
        )
        return spread.view(-1, joined * shared, joined * size)

    def _gathered(self, read: torch.Tensor, shape: torch.Size) -> torch.Tensor:
        """Return the part that belongs to each head of a group: the inverse of `_spread`."""
        if self.joined == 1:
            return read
        read = read.view(-1, self.joined, shape[1], self.joined, shape[2])
        return read.diagonal(dim1=1, dim2=3).permute(0, 3, 1, 2).reshape(shape)


def read_all(
    batches: Sequence[GenerationBatch],
    layer: int,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scale: float,
) -> torch.Tensor:
    """Return the values read by the rows of all batches; see `GenerationBatch.attend`."""
    read, end = [], 0
    for batch in batches:
        start, end = end, end + batch.rows
        rows = slice(start, end)
        read.append(batch.attend(layer, query[rows], key[rows], value[rows], scale))
    return read[0] if len(read) == 1 else torch.cat(read)


# Maximum number of values in a group of heads whose own keys and values are read together.
TOGETHER = 64
# The rows' buffers grow by at least this many tokens.
GROWTH = 64


class KeyValues(NamedTuple):
    """Keys and values of one layer.

    Of prompts: [prompts, heads, tokens, size of a head]. Of rows: [rows, groups of heads, size of a
    group, tokens] for keys; for values, the last two are swapped.
    """

    keys: torch.Tensor
    values: torch.Tensor


def joined(keys: torch.Tensor) -> int:
    """Return the number of heads that are read together, a divisor of the number of heads."""
    heads, size = keys.shape[1], keys.shape[3]
    most = max(1, TOGETHER // size) if keys.device.type == "cpu" else 1
    return max(count for count in range(1, most + 1) if heads % count == 0)


def empty_buffers(prefix: KeyValues, rows: int) -> KeyValues:
    """Return empty keys and values for rows."""
    keys = prefix.keys
    count = joined(keys)
    shape, size = (rows, keys.shape[1] // count), count * keys.shape[3]
    return KeyValues(keys.new_empty(*shape, size, GROWTH), keys.new_empty(*shape, GROWTH, size))


def barred(where: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """Return the mask to add to scores so that some tokens are not read: [groups, 1, tokens].

    where: [prompts or rows, tokens]. keys: their first two dimensions are the groups.
    """
    least = torch.finfo(keys.dtype).min
    added = torch.zeros_like(where, dtype=keys.dtype).masked_fill_(where, least)
    return added.repeat_interleave(keys.shape[1], 0)[:, None]


def scored(query: torch.Tensor, keys: torch.Tensor, added: torch.Tensor | None) -> torch.Tensor:
    """Return the scores of keys plus the mask from `barred`."""
    return torch.bmm(query, keys) if added is None else torch.baddbmm(added, query, keys)


def stacked(first: KeyValues, second: KeyValues) -> KeyValues:
    """Stack prompts of two widths."""
    width = max(first.keys.shape[2], second.keys.shape[2])
    return under(_wide(first, width), _wide(second, width))


def cut(rows: KeyValues, written: int) -> KeyValues:
    """Return the first columns of rows."""
    return KeyValues(rows.keys[..., :written], rows.values[:, :, :written])


def shifted(rows: KeyValues, before: int, behind: int) -> KeyValues:
    """Add columns before and after those of rows."""
    return KeyValues(
        functional.pad(rows.keys, (before, behind)),
        functional.pad(rows.values, (0, 0, before, behind)),
    )


def under(*blocks: KeyValues) -> KeyValues:
    """Stack rows or prompts of the same width."""
    return KeyValues(*(torch.cat(parts) for parts in zip(*blocks, strict=True)))


# Maximum number of tokens encoded at a time, including padding.
TOKENS_ON_CPU, TOKENS_ON_GPU = 8192, 65536


def encoded(model: Any, prompts: Sequence[Sequence[int]]) -> list[KeyValues]:
    """Return the keys and values of prompts, one block per layer, padded on the right.

    In a causal model, tokens do not see later ones: the padding needs no mask.
    """
    width = max(map(len, prompts))
    most = TOKENS_ON_GPU if model.device.type == "cuda" else TOKENS_ON_CPU
    chunk = max(1, most // max(1, width))
    parts = [
        _blocks(model, prompts[start : start + chunk], width)
        for start in range(0, len(prompts), chunk)
    ]
    return [under(*layer) for layer in zip(*parts, strict=True)]


def _blocks(model: Any, prompts: Sequence[Sequence[int]], width: int) -> list[KeyValues]:
    longest = max(1, *map(len, prompts))
    padded = [[*prompt, *[0] * (longest - len(prompt))] for prompt in prompts]
    # A cache without a configuration keeps every token in every layer, even with sliding windows.
    cache: Any = DynamicCache()
    few = {"logits_to_keep": 1} if "logits_to_keep" in signature(model.forward).parameters else {}
    model(torch.tensor(padded, device=model.device), past_key_values=cache, use_cache=True, **few)
    return [_wide(KeyValues(layer.keys, layer.values), width) for layer in cache.layers]


def _wide(prompts: KeyValues, width: int) -> KeyValues:
    return KeyValues(*(functional.pad(part, (0, 0, 0, width - part.shape[2])) for part in prompts))
