"""Texts that end a completion, found in its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradeschool.models.tokens.rows import Rows


class Stops:
    """Stop strings. Only tokens that may end in the last character of one are looked at closely."""

    def __init__(self, tokenizer: Any, size: int, stops: Sequence[str]) -> None:
        self.tokenizer, self.stops = tokenizer, tuple(stops)
        # A token holds at least a byte of the text.
        self.tail = max(len(stop.encode()) for stop in stops)
        lasts = {stop[-1] for stop in stops}
        texts = tokenizer.batch_decode([[token] for token in range(min(size, len(tokenizer)))])
        # Part of a character: it may be any.
        marked = [bool(lasts & set(text)) or "\ufffd" in text or not text for text in texts]
        self.watched: NDArray[np.bool_] = np.array(marked + [True] * (size - len(marked)))

    def reached(
        self, rows: Rows, slots: NDArray[np.int64], tokens: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Tell of each row whether its newest token completed a stop string."""
        found = np.zeros(len(slots), dtype=np.bool_)
        for place in np.flatnonzero(self.watched[tokens] & (slots != rows.nobody)).tolist():
            slot = int(slots[place])
            end = int(rows.counts[slot])
            tail = self.tokenizer.decode(rows.ids[slot, max(0, end - self.tail) : end].tolist())
            found[place] = any(stop in tail for stop in self.stops)
        return found
