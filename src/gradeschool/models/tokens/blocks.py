"""Blocks of keys and values: their layout, and how they are cut, moved and put together."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch.nn import functional

# Own keys and values of as many heads are read together as have at most so many numbers.
TOGETHER = 64
# By at least so many tokens the room of the rows grows.
ROOM = 64


class Block(NamedTuple):
    """Keys and values of one layer.

    Of prompts: [prompts, heads, tokens, size of a head]. Of rows: [rows, groups of heads, size of a
    group, tokens] for keys, and the last two turned for values.
    """

    keys: torch.Tensor
    values: torch.Tensor


def joined(keys: torch.Tensor) -> int:
    """Return how many heads are read together: a divisor of how many there are."""
    heads, size = keys.shape[1], keys.shape[3]
    most = max(1, TOGETHER // size) if keys.device.type == "cpu" else 1
    return max(count for count in range(1, most + 1) if heads % count == 0)


def room(prefix: Block, rows: int) -> Block:
    """Return empty keys and values for rows."""
    keys = prefix.keys
    count = joined(keys)
    shape, size = (rows, keys.shape[1] // count), count * keys.shape[3]
    return Block(keys.new_empty(*shape, size, ROOM), keys.new_empty(*shape, ROOM, size))


def barred(where: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """Return what is added to scores so that some tokens are not read: [groups, 1, tokens].

    where: [prompts or rows, tokens]. keys: whose first two dimensions make the groups.
    """
    least = torch.finfo(keys.dtype).min
    added = torch.zeros_like(where, dtype=keys.dtype).masked_fill_(where, least)
    return added.repeat_interleave(keys.shape[1], 0)[:, None]


def scored(query: torch.Tensor, keys: torch.Tensor, added: torch.Tensor | None) -> torch.Tensor:
    """Return the scores of keys, with what `barred` gave added to them."""
    return torch.bmm(query, keys) if added is None else torch.baddbmm(added, query, keys)


def stacked(first: Block, second: Block) -> Block:
    """Put prompts of two widths under each other."""
    width = max(first.keys.shape[2], second.keys.shape[2])
    return Block(
        *(
            torch.cat([functional.pad(part, (0, 0, 0, width - part.shape[2])) for part in parts])
            for parts in zip(first, second, strict=True)
        )
    )


def cut(rows: Block, written: int) -> Block:
    """Return the first columns of rows."""
    return Block(rows.keys[..., :written], rows.values[:, :, :written])


def shifted(rows: Block, before: int, behind: int) -> Block:
    """Put columns before and behind those of rows."""
    return Block(
        functional.pad(rows.keys, (before, behind)),
        functional.pad(rows.values, (0, 0, before, behind)),
    )


def under(first: Block, second: Block) -> Block:
    """Put rows of one width under each other."""
    return Block(*(torch.cat(parts) for parts in zip(first, second, strict=True)))
