"""The calculator as a logits processor of vLLM: where a result is due, no other token can be drawn.

`LLM(model=..., logits_processors=["gradeschool.models.vllm_calculator:Calculator"])`, or
`vllm serve --logits-processors gradeschool.models.vllm_calculator:Calculator`. Written against vLLM
0.32. A processor sees a token once it is chosen and cannot take it back: a token that
continues after "=" with another result than the calculator's ("=7") stays, and forces nothing.
vLLM's log-probabilities of forced tokens are of the model before it was forced.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import torch
from vllm.v1.sample.logits_processor import LogitsProcessor, MoveDirectionality

from gradeschool.models.local import load_tokenizer
from gradeschool.models.tokens.annotations import Annotations

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.sample.logits_processor import BatchUpdate


class Calculator(LogitsProcessor):  # type: ignore[misc]
    """Computes the annotations of every request of an engine."""

    def __init__(self, vllm_config: VllmConfig, device: torch.device, is_pin_memory: bool) -> None:
        config = vllm_config.model_config
        tokenizer = load_tokenizer(config.tokenizer)
        self.annotations = Annotations(tokenizer, config.get_vocab_size())
        self.rows: dict[int, _Row] = {}

    def is_argmax_invariant(self) -> bool:
        """Say that the likeliest token may become another."""
        return False

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """Follow the requests to their places in the batch."""
        if batch_update is None:
            return
        for index in batch_update.removed:
            self.rows.pop(index, None)
        for index, _, _, written in batch_update.added:
            self.rows[index] = _Row(written)
        for source, target, direction in batch_update.moved:
            first, second = self.rows.pop(source, None), self.rows.pop(target, None)
            if first is not None:
                self.rows[target] = first
            if second is not None and direction == MoveDirectionality.SWAP:
                self.rows[source] = second

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """Leave one token to each row where a result is due."""
        due = [(index, token) for index, row in self.rows.items()
               if (token := row.due(self.annotations)) is not None]  # fmt: skip
        if due:
            places, tokens = (
                torch.tensor(part, device=logits.device) for part in zip(*due, strict=True)
            )
            logits[places] = float("-inf")
            logits[places, tokens] = 0.0
        return logits


class _Row:
    """One request. written: its tokens so far, a list that the engine makes longer."""

    def __init__(self, written: list[int]) -> None:
        self.written = written
        self.read = 0
        self.queue: deque[int] = deque()

    def due(self, annotations: Annotations) -> int | None:
        """Return the token that must come next, None where any may."""
        while self.read < len(self.written):
            token = self.written[self.read]
            if self.queue:
                self.queue.popleft()
            elif annotations.watched[token]:
                override = annotations.override(self.written[: self.read], token)
                if not override.instead:
                    self.queue.extend(override.tokens)
            self.read += 1
        return self.queue[0] if self.queue else None
