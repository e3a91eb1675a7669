"""What the rows of the token loop wrote, and what they are forced to write."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradeschool.calculator import LONGEST
from gradeschool.models.local import SampleTask
from gradeschool.models.tokens.annotations import Annotations
from gradeschool.models.tokens.draw import uniforms


class Sampled(NamedTuple):
    """One completion in tokens.

    prompt, sample: which sample of which prompt. ids: with the end token, where `finished`. forced:
    which of them the calculator wrote. logprobs: of each one under the model at temperature 1, the
    forced ones too. finished: an end token came; otherwise the limit did.
    """

    prompt: int
    sample: int
    ids: list[int]
    forced: list[bool]
    logprobs: list[float]
    finished: bool


class Rows:
    """Slots for rows; a slot is free again once its row has ended.

    limit: of the tokens of a row. context: of those of a row and its prompt, None for no limit. The
    last slot is nobody's: rows that ended and are still computed write there.
    """

    def __init__(
        self, slots: int, limit: int, annotations: Annotations | None, context: int | None = None
    ) -> None:
        self.limit, self.annotations, self.context = limit, annotations, context
        self.nobody = slots
        self.free = list(range(slots))
        self.tasks: dict[int, SampleTask] = {}
        self.limits = np.full(slots + 1, limit, dtype=np.int64)
        self.counts = np.zeros(slots + 1, dtype=np.int64)
        self.last = np.zeros(slots + 1, dtype=np.int64)
        self.ids = np.zeros((slots + 1, limit), dtype=np.int64)
        self.forced = np.zeros((slots + 1, limit), dtype=np.bool_)
        self.logprobs = np.zeros((slots + 1, limit), dtype=np.float32)
        self.random = np.zeros((slots + 1, limit), dtype=np.float32)
        self.due = np.zeros(slots + 1, dtype=np.int64)  # ids before this one are forced

    def begin(self, task: SampleTask, seed: int | None) -> int:
        """Return the slot of a new row; seed: of its random numbers, None where none are used."""
        slot = self.free.pop()
        self.tasks[slot] = task
        if self.context is not None:
            self.limits[slot] = max(1, min(self.limit, self.context - len(task.tokens)))
        self.counts[slot] = self.due[slot] = 0
        self.forced[slot] = False
        self.last[slot] = task.tokens[-1]
        if seed is not None:
            self.random[slot] = uniforms(task.tokens, task.sample, seed, self.limit)
        return slot

    def drawn(self, slots: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the random number of each row's next token."""
        numbers: NDArray[np.float32] = self.random[slots, self.counts[slots]]
        return numbers

    def force(self, slots: NDArray[np.int64], tokens: NDArray[np.int64]) -> None:
        """Put forced tokens into the place of those chosen, and see what the others bring about."""
        if self.annotations is None:
            return
        at = self.counts[slots]
        due = (at < self.due[slots]).nonzero()[0]
        tokens[due] = self.ids[slots[due], at[due]]
        hits = self.annotations.watched[tokens].nonzero()[0]
        columns = (each.tolist() for each in (hits, slots[hits], at[hits], tokens[hits]))
        for place, slot, end, token in zip(*columns, strict=True):
            if slot == self.nobody or end < self.due[slot]:
                continue
            before = self.ids[slot, max(0, end - LONGEST) : end].tolist()
            forced, instead = self.annotations.override(before, token)
            if forced:
                start = end if instead else end + 1
                ahead = forced[: self.limits[slot] - start]
                self.due[slot] = stop = start + len(ahead)
                self.ids[slot, start:stop], self.forced[slot, start:stop] = ahead, True
                if instead:
                    tokens[place] = forced[0]

    def add(
        self, slots: NDArray[np.int64], tokens: NDArray[np.int64], logprobs: NDArray[np.float32]
    ) -> None:
        """Write a token behind each row."""
        at = self.counts[slots]
        self.ids[slots, at] = tokens
        self.logprobs[slots, at] = logprobs
        self.last[slots] = tokens
        self.counts[slots] = at + 1
        self.counts[self.nobody] = 0

    def end(self, slot: int, finished: bool) -> Sampled:
        """Return what a row wrote, and free its slot."""
        task, count = self.tasks.pop(slot), int(self.counts[slot])
        self.free.append(slot)
        return Sampled(
            task.prompt,
            task.sample,
            self.ids[slot, :count].tolist(),
            self.forced[slot, :count].tolist(),
            self.logprobs[slot, :count].tolist(),
            finished,
        )
