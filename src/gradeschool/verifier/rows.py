"""Solutions of several questions in one forward pass: each question is read once.

A question's keys and values are computed once and shared by all its solutions, so that k samples
of a problem cost one question and k solutions. Works for any causal language model of transformers
that keeps a plain key-value cache; others read question and solution together, row by row.
Where a question has hardly more than one solution, rows laid flat without padding are faster still.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gradeschool.verifier.examples import Example
from gradeschool.verifier.packing import ATTENTION
from gradeschool.verifier.packing import pack as pack_lines

FLAT_ROWS = 2  # a question, at most: the mask of more costs less than reading it again


class Rows(NamedTuple):
    """Token rows of one forward pass, padded on the right with zeros.

    prefix: [questions, P], each question's tokens but the last; prefix_mask: 1 where there is one.
    owner: [rows], the question of each solution. body: [rows, S], the question's last token, then
    the solution; body_mask as prefix_mask. So the state at place t of a body has read t tokens of
    the solution, and predicts the one behind them.
    """

    prefix: Tensor
    prefix_mask: Tensor
    owner: Tensor
    body: Tensor
    body_mask: Tensor

    def to(self, device: torch.device | str) -> Rows:
        """Return the rows on a device."""
        return Rows(*(tensor.to(device, non_blocking=True) for tensor in self))

    @property
    def solution_mask(self) -> Tensor:
        """Return [rows, S]: true at the places of solution tokens, the question's last left out."""
        mask = self.body_mask.bool().clone()
        mask[:, 0] = False
        return mask


def pack(
    questions: Sequence[Sequence[int]], solutions: Sequence[tuple[int, Sequence[int]]]
) -> Rows:
    """Return the rows of (number of its question, tokens) solutions; questions are not empty."""
    prefix, prefix_mask = _padded([list(ids[:-1]) for ids in questions])
    body, body_mask = _padded([[questions[at][-1], *ids] for at, ids in solutions])
    owner = torch.tensor([at for at, _ in solutions], dtype=torch.long)
    return Rows(prefix, prefix_mask, owner, body, body_mask)


def _padded(rows: Sequence[list[int]]) -> tuple[Tensor, Tensor]:
    width = max(map(len, rows), default=0)
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows], dtype=torch.long)
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    shape = (len(rows), width)
    return ids.reshape(shape), mask.reshape(shape).long()


def hidden_states(model: Any, rows: Rows, share: bool = True) -> Tensor:
    """Return the last hidden states of the bodies, [rows, S, width]; padding holds anything.

    model: a causal language model of transformers. share: read each question once where the model
    allows it, or lay rows flat; the states are the same up to rounding.
    """
    few = len(rows.owner) <= FLAT_ROWS * len(rows.prefix)
    if share and few and getattr(model.config, "_attn_implementation", "") == ATTENTION:
        return _flat(model, rows)
    if share and rows.prefix.shape[1] and (caches := _caches(model, rows)) is not None:
        return _behind(model, rows, caches)
    return _whole(model, rows)


def _caches(model: Any, rows: Rows) -> Any:
    """Return the questions' keys and values, None where the model keeps others than plain ones."""
    out = model.base_model(
        input_ids=rows.prefix,
        attention_mask=rows.prefix_mask,
        use_cache=True,
        **_positions(model, rows.prefix_mask.cumsum(1) - 1),
    )
    layers = getattr(out.past_key_values, "layers", None)
    plain = layers and all(type(layer).__name__ == "DynamicLayer" for layer in layers)
    return out.past_key_values if plain else None


def _behind(model: Any, rows: Rows, cache: Any) -> Tensor:
    cache.batch_select_indices(rows.owner)
    start = rows.prefix_mask.sum(1)[rows.owner]
    places = start[:, None] + torch.arange(rows.body.shape[1], device=start.device)
    out = model.base_model(
        input_ids=rows.body,
        attention_mask=torch.cat([rows.prefix_mask[rows.owner], rows.body_mask], 1),
        past_key_values=cache,
        use_cache=True,
        **_positions(model, places),
    )
    states: Tensor = out.last_hidden_state
    return states


def _flat(model: Any, rows: Rows) -> Tensor:
    """Read each question with its solution, all in one row without padding; see `packing`."""
    device = rows.body.device
    before, within = rows.prefix_mask.sum(1)[rows.owner], rows.body_mask.sum(1)
    ids = torch.cat([rows.prefix[rows.owner], rows.body], 1).tolist()
    width = rows.prefix.shape[1]
    lines = [
        Example([*line[:start], *line[width : width + length]], start)
        for line, start, length in zip(ids, before.tolist(), within.tolist(), strict=True)
    ]
    packed = pack_lines(lines).to(device)
    out = model.base_model(
        input_ids=packed.ids[None],
        attention_mask=packed.ids.new_zeros(1, 1, 1, 1),  # of four dimensions: none is built
        position_ids=packed.positions[None],
        use_cache=False,
        places=packed.places,
    )
    ends = (before + within).cumsum(0)
    places = (ends - within)[:, None] + torch.arange(rows.body.shape[1], device=device)
    states: Tensor = out.last_hidden_state[0][places.clamp(max=packed.tokens - 1)]
    return states


def _whole(model: Any, rows: Rows) -> Tensor:
    """Read each question with its solution; the gap of padding between them is closed first."""
    ids = torch.cat([rows.prefix[rows.owner], rows.body], 1)
    mask = torch.cat([rows.prefix_mask[rows.owner], rows.body_mask], 1)
    order = torch.argsort(mask, dim=1, descending=True, stable=True)
    ids, mask = ids.gather(1, order), mask.gather(1, order)
    out = model.base_model(
        input_ids=ids, attention_mask=mask, use_cache=False, **_positions(model, mask.cumsum(1) - 1)
    )
    states: Tensor = out.last_hidden_state
    start = rows.prefix_mask.sum(1)[rows.owner]
    places = start[:, None] + torch.arange(rows.body.shape[1], device=start.device)
    places = places.clamp(max=states.shape[1] - 1)[..., None].expand(-1, -1, states.shape[2])
    return states.gather(1, places)


def _positions(model: Any, places: Tensor) -> dict[str, Tensor]:
    """Return the argument that tells a model where its tokens stand, if it takes one."""
    if "position_ids" not in signature(model.base_model.forward).parameters:
        return {}
    return {"position_ids": places.clamp(min=0)}
