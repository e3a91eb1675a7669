"""The rows of the token loop: tokens written, tokens forced by the calculator, stop strings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradeschool.calculator import LONGEST
from gradeschool.models.local import SampleTask
from gradeschool.models.tokens.annotations import Annotations
from gradeschool.models.tokens.draw import uniforms


class SampledTokens(NamedTuple):
    """One completion in tokens.

    prompt, sample: their indexes. ids: including the end token if `finished`. forced: which tokens
    the calculator wrote. logprobs: of each token under the model at temperature 1, including forced
    ones. finished: an end token was reached, not the limit.
    """

    prompt: int
    sample: int
    ids: list[int]
    forced: list[bool]
    logprobs: list[float]
    finished: bool


class RowTable:
    """Slots for rows; a slot is freed when its row ends.

    limit: maximum number of tokens of a row. context: maximum for a row and its prompt, None for no
    limit. The last slot is spare: finished rows that are still computed write there.
    """

    def __init__(
        self, slots: int, limit: int, annotations: Annotations | None, context: int | None = None
    ) -> None:
        self.limit, self.annotations, self.context = limit, annotations, context
        self.spare = slots
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
        """Return the slot of a new row; seed: of its random numbers, None if not needed."""
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
        """Replace chosen tokens by forced ones, and find what the other tokens force."""
        if self.annotations is None:
            return
        ends = self.counts[slots]
        due = (ends < self.due[slots]).nonzero()[0]
        tokens[due] = self.ids[slots[due], ends[due]]
        hits = self.annotations.watched[tokens].nonzero()[0]
        columns = (each.tolist() for each in (hits, slots[hits], ends[hits], tokens[hits]))
        for place, slot, place_end, token in zip(*columns, strict=True):
            if slot == self.spare or place_end < self.due[slot]:
                continue
            before = self.ids[slot, max(0, place_end - LONGEST) : place_end].tolist()
            forced, instead = self.annotations.override(before, token)
            if forced:
                start = place_end if instead else place_end + 1
                ahead = forced[: self.limits[slot] - start]
                self.due[slot] = stop = start + len(ahead)
                self.ids[slot, start:stop], self.forced[slot, start:stop] = ahead, True
                if instead:
                    tokens[place] = forced[0]

    def add(
        self, slots: NDArray[np.int64], tokens: NDArray[np.int64], logprobs: NDArray[np.float32]
    ) -> None:
        """Append a token to each row."""
        places = self.counts[slots]
        self.ids[slots, places] = tokens
        self.logprobs[slots, places] = logprobs
        self.last[slots] = tokens
        self.counts[slots] = places + 1
        self.counts[self.spare] = 0

    def end(self, slot: int, finished: bool) -> SampledTokens:
        """Return the completion of a row, and free its slot."""
        task, count = self.tasks.pop(slot), int(self.counts[slot])
        self.free.append(slot)
        return SampledTokens(
            task.prompt,
            task.sample,
            self.ids[slot, :count].tolist(),
            self.forced[slot, :count].tolist(),
            self.logprobs[slot, :count].tolist(),
            finished,
        )


class Stops:
    """Stop strings. Only tokens that may contain a stop string's last character are checked."""

    def __init__(self, tokenizer: Any, size: int, stops: Sequence[str]) -> None:
        self.tokenizer, self.stops = tokenizer, tuple(stops)
        # A token contains at least one byte of the text.
        self.tail = max(len(stop.encode()) for stop in stops)
        lasts = {stop[-1] for stop in stops}
        texts = tokenizer.batch_decode([[token] for token in range(min(size, len(tokenizer)))])
        # Part of a character: it may be any character.
        marked = [bool(lasts & set(text)) or "\ufffd" in text or not text for text in texts]
        self.watched: NDArray[np.bool_] = np.array(marked + [True] * (size - len(marked)))

    def reached(
        self, rows: RowTable, slots: NDArray[np.int64], tokens: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return for each row whether its newest token completed a stop string."""
        stopped = np.zeros(len(slots), dtype=np.bool_)
        for place in np.flatnonzero(self.watched[tokens] & (slots != rows.spare)).tolist():
            slot = int(slots[place])
            end = int(rows.counts[slot])
            tail = self.tokenizer.decode(rows.ids[slot, max(0, end - self.tail) : end].tolist())
            stopped[place] = any(stop in tail for stop in self.stops)
        return stopped
