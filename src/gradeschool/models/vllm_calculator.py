"""The calculator as a vLLM logits processor: where a result is due, it forces the token.

`LLM(model=..., logits_processors=["gradeschool.models.vllm_calculator:Calculator"])`, or `vllm
serve --logits-processors gradeschool.models.vllm_calculator:Calculator`, with vLLM's first model
runner (VLLM_USE_V2_MODEL_RUNNER=0). A processor sees a token after it is chosen and cannot undo it:
a token that continues after "=" with a wrong result ("=7") is kept, and forces nothing. vLLM's
log-probabilities of forced tokens are the model's, before forcing.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import torch
from vllm.v1.sample.logits_processor import LogitsProcessor, MoveDirectionality

from gradeschool.models.local import Annotations, load_tokenizer

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.sample.logits_processor import BatchUpdate


class Calculator(LogitsProcessor):  # type: ignore[misc]
    """Computes the annotations in every request of an engine.

    The runner identifies a request by its row in the batch, and moves rows (`update_state`).
    """

    def __init__(self, vllm_config: VllmConfig, device: object, is_pin_memory: bool) -> None:
        """Prepare an engine's calculator.

        Raises ValueError for speculative decoding, whose draft tokens skip the processor.
        """
        if getattr(vllm_config, "speculative_config", None) is not None:
            raise ValueError("the calculator cannot force tokens that a draft model has chosen")
        config = vllm_config.model_config
        self.annotations = Annotations(load_tokenizer(config.tokenizer), config.get_vocab_size())
        self.rows: dict[int, _Row] = {}

    def is_argmax_invariant(self) -> bool:
        """Return False: the likeliest token may change."""
        return False

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """Follow the requests to their rows in the batch."""
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
        """Allow only the forced token where a result is due."""
        for index, row in self.rows.items():
            token = row.due(self.annotations)
            if token is not None:
                logits[index] = float("-inf")
                logits[index, token] = 0.0
        return logits


class _Row:
    """One request. written: its tokens so far, a list that the runner extends."""

    def __init__(self, written: list[int]) -> None:
        self.written = written
        self.read = 0
        self.queue: deque[int] = deque()

    def due(self, annotations: Annotations) -> int | None:
        """Return the token that must come next, None if any token may."""
        while self.read < len(self.written):
            token = self.written[self.read]
            if self.queue:
                self.queue.popleft()
            elif token in annotations.watched:
                forced, replaces = annotations.override(self.written[: self.read], token)
                self.queue.extend(() if replaces else forced)
            self.read += 1
        return self.queue[0] if self.queue else None
