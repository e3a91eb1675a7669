"""Solutions of several questions in one forward pass: each question is read once.

Questions and solutions are concatenated in one row without padding, and attention takes the
row apart into a line for each solution, its question in front: k samples of a problem cost one
question and k solutions. Every layer runs once in a pass, as FSDP needs it. Models whose attention
cannot do that (see `packing`) read question and solution together, row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gradeschool.verifier.packing import ATTENTION, Places, places_of, window_of


class TokenLine(NamedTuple):
    """All questions, but for their last tokens, and all bodies after them, as one row of tokens.

    ends: [rows, S], where the tokens of the bodies lie in it; padding lies anywhere.
    """

    ids: Tensor
    positions: Tensor
    places: Places
    ends: Tensor

    def to(self, device: torch.device | str) -> TokenLine:
        """Return the row on a device."""
        ids, positions, ends = (
            tensor.to(device) for tensor in (self.ids, self.positions, self.ends)
        )
        return TokenLine(ids, positions, self.places.to(device), ends)


class PackedRows(NamedTuple):
    """Token rows of one forward pass, padded on the right with zeros.

    prefix: [questions, P], each question's tokens but the last; prefix_mask: 1 where there is one.
    owner: [rows], the question of each solution. body: [rows, S], the question's last token, then
    the solution; body_mask as prefix_mask. So the state at place t of a body has read t tokens of
    the solution, and predicts the one behind them. line: the same without padding.
    """

    prefix: Tensor
    prefix_mask: Tensor
    owner: Tensor
    body: Tensor
    body_mask: Tensor
    line: TokenLine

    def to(self, device: torch.device | str) -> PackedRows:
        """Return the rows on a device."""
        return PackedRows(
            self.prefix.to(device),
            self.prefix_mask.to(device),
            self.owner.to(device),
            self.body.to(device),
            self.body_mask.to(device),
            self.line.to(device),
        )

    @property
    def solution_mask(self) -> Tensor:
        """Return [rows, S]: true at the places of solution tokens, the question's last left out."""
        mask = self.body_mask.bool().clone()
        mask[:, 0] = False
        return mask


def pack(
    questions: Sequence[Sequence[int]], solutions: Sequence[tuple[int, Sequence[int]]]
) -> PackedRows:
    """Return the rows of (number of its question, tokens) solutions; questions are not empty."""
    prefixes = [list(ids[:-1]) for ids in questions]
    bodies = [[questions[owner][-1], *ids] for owner, ids in solutions]
    owners = [owner for owner, _ in solutions]
    prefix, prefix_mask = _padded(prefixes)
    body, body_mask = _padded(bodies)
    line = _line(prefixes, bodies, owners)
    return PackedRows(prefix, prefix_mask, torch.tensor(owners), body, body_mask, line)


def _padded(rows: Sequence[list[int]]) -> tuple[Tensor, Tensor]:
    width = max(map(len, rows), default=0)
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows], dtype=torch.long)
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    shape = (len(rows), width)
    return ids.reshape(shape), mask.reshape(shape).long()


def _line(
    prefixes: Sequence[list[int]], bodies: Sequence[list[int]], owners: list[int]
) -> TokenLine:
    pieces = [*prefixes, *bodies]
    begins = [0, *accumulate(map(len, pieces))]
    spans = [torch.arange(begin, end) for begin, end in pairwise(begins)]
    starts = [len(prefixes[start]) for start in owners]
    positions = [torch.arange(len(tokens)) for tokens in prefixes]
    positions += [
        torch.arange(len(tokens)) + start for tokens, start in zip(bodies, starts, strict=True)
    ]
    behind = spans[len(prefixes) :]
    lines = [
        torch.cat([spans[start], tokens]) for start, tokens in zip(owners, behind, strict=True)
    ]
    width = max(map(len, bodies))
    ends = torch.tensor(begins[len(prefixes) : -1])[:, None] + torch.arange(width)
    return TokenLine(
        torch.tensor([token for piece in pieces for token in piece]),
        torch.cat(positions),
        places_of(lines, begins[-1]),
        ends.clamp(max=begins[-1] - 1),
    )


def hidden_states(model: Any, rows: PackedRows, share: bool = True) -> Tensor:
    """Return the last hidden states of the bodies, [rows, S, width]; padding holds anything.

    model: a causal language model of transformers. share: read each question once where the model
    allows it; the states are the same up to rounding.
    """
    if share and _can_share(model, rows):
        return _shared(model, rows.line)
    return _whole(model, rows)


def _can_share(model: Any, rows: PackedRows) -> bool:
    """Return whether a model takes packed rows, and looks back far enough for these."""
    window = window_of(model)
    enough = window is None or rows.prefix.shape[1] + rows.body.shape[1] <= window
    return enough and getattr(model.config, "_attn_implementation", "") == ATTENTION


def _shared(model: Any, line: TokenLine) -> Tensor:
    out = model.base_model(
        input_ids=line.ids[None],
        attention_mask=line.ids.new_zeros(1, 1, 1, 1),  # of four dimensions: none is built
        position_ids=line.positions[None],
        use_cache=False,
        places=line.places,
    )
    states: Tensor = out.last_hidden_state[0][line.ends]
    return states


def _whole(model: Any, rows: PackedRows) -> Tensor:
    """Read each question with its solution; the gap of padding between them is closed first."""
    ids = torch.cat([rows.prefix[rows.owner], rows.body], 1)
    mask = torch.cat([rows.prefix_mask[rows.owner], rows.body_mask], 1)
    order = torch.argsort(mask, dim=1, descending=True, stable=True)
    ids, mask = ids.gather(1, order), mask.gather(1, order)
    places = {}
    if "position_ids" in signature(model.base_model.forward).parameters:
        places = {"position_ids": (mask.cumsum(1) - 1).clamp(min=0)}
    out = model.base_model(input_ids=ids, attention_mask=mask, use_cache=False, **places)
    states: Tensor = out.last_hidden_state
    start = rows.prefix_mask.sum(1)[rows.owner]
    columns = start[:, None] + torch.arange(rows.body.shape[1], device=start.device)
    columns = columns.clamp(max=states.shape[1] - 1)[..., None].expand(-1, -1, states.shape[2])
    return states.gather(1, columns)
