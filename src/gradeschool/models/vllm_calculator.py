"""The calculator as a vLLM logits processor: where a result is due, it forces the token.

`LLM(model=..., logits_processors=["gradeschool.models.vllm_calculator:Calculator"])`, or `vllm
serve --logits-processors gradeschool.models.vllm_calculator:Calculator`. The class serves both of
vLLM's model runners, whose interfaces differ (vllm/v1/sample/logits_processor and
vllm/v1/worker/gpu/sample/logits_processor of vLLM 0.32): each accepts only its own kind of
processor. A processor sees a token after it is chosen and cannot undo it: a token that continues
after "=" with a wrong result ("=7") is kept, and forces nothing. vLLM's log-probabilities of forced
tokens are the model's, before forcing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch
from vllm.v1.sample.logits_processor import LogitsProcessor, MoveDirectionality

try:
    from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcessor as SlotProcessor
except ImportError:  # a vLLM without the second runner
    SlotProcessor = object

from gradeschool.models.annotations import Annotations
from gradeschool.models.local import load_tokenizer

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.sampling_params import SamplingParams
    from vllm.v1.sample.logits_processor import BatchUpdate


class Calculator(LogitsProcessor, SlotProcessor):  # type: ignore[misc]
    """Computes the annotations in every request of an engine.

    The first runner identifies a request by its row in the batch and moves rows (`update_state`);
    the second by a fixed slot, whose tokens are in buffers on the device.
    """

    def __init__(self, vllm_config: VllmConfig, state: Any, is_pin_memory: bool = False) -> None:
        """Prepare an engine's calculator. state: the first runner's device, or the second's slots.

        Raises ValueError for speculative decoding, whose draft tokens skip the processor.
        """
        if getattr(vllm_config, "speculative_config", None) is not None:
            raise ValueError("the calculator cannot force tokens that a draft model has chosen")
        config = vllm_config.model_config
        tokenizer = load_tokenizer(config.tokenizer)
        self.annotations = Annotations(tokenizer, config.get_vocab_size())
        self.state = state
        self.rows: dict[int, _Row] = {}

    def is_argmax_invariant(self) -> bool:
        """Return False: the likeliest token may change."""
        return False

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """Follow the requests to their rows in the first runner's batch."""
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

    def add_request(self, req_idx: int, sampling_params: SamplingParams) -> bool:
        """Begin a request in a slot of the second runner, or resume a preempted one."""
        self.rows[req_idx] = _Row([])
        return True

    def apply(self, logits: torch.Tensor, ctx: Any = None) -> torch.Tensor:
        """Allow only the forced token where a result is due. ctx: the second runner's batch."""
        rows = self.rows.items() if ctx is None else self._in_slots(ctx)
        due = [(index, token) for index, row in rows
               if (token := row.due(self.annotations)) is not None]  # fmt: skip
        if due:
            places, tokens = (
                torch.tensor(part, device=logits.device) for part in zip(*due, strict=True)
            )
            logits[places] = float("-inf")
            logits[places, tokens] = 0.0
        return logits

    def _in_slots(self, ctx: Any) -> Iterator[tuple[int, _Row]]:
        """Yield the rows of a batch of the second runner with their updated tokens.

        A step adds its input token; the tokens of a resumed request are read again. A row inside
        the prompt draws no token and is left out.
        """
        fed: Sequence[int] = ctx.input_ids.tolist()
        positions: Sequence[int] = ctx.pos.tolist()
        prompts = self.state.prompt_len.np
        for index, slot in enumerate(ctx.idx_mapping_np.tolist()):
            row = self.rows[slot]
            prompt = int(prompts[slot])
            count = positions[index] + 1 - prompt
            if count < 0:
                continue
            if count == len(row.written) + 1:
                row.written.append(fed[index])
            elif count != len(row.written):
                tokens = self.state.all_token_ids.gpu[slot, prompt : prompt + count]
                row = self.rows[slot] = _Row(tokens.tolist())
            yield index, row


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
            elif annotations.watched[token]:
                override = annotations.override(self.written[: self.read], token)
                if not override.instead:
                    self.queue.extend(override.tokens)
            self.read += 1
        return self.queue[0] if self.queue else None
