"""Random choices that are the same on every machine and in every version of Python.

The documentation of `random.Random` promises that `random()` gives the same sequence for the same
seed in every version. It does not promise so for other methods (`randrange`, `choice` and `shuffle`
have changed). So all choices here are made with `random()`. The seed is the SHA-256 of the name of
a draw, so that similar names give unrelated draws.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Chance:
    """A stream of choices that depends only on its key."""

    __slots__ = ("_random",)

    def __init__(self, *key: str | int) -> None:
        digest = hashlib.sha256("/".join(map(str, key)).encode()).digest()
        self._random = random.Random(int.from_bytes(digest, "big")).random  # noqa: S311

    def below(self, bound: int) -> int:
        """Return a whole number from 0 to bound - 1."""
        return int(self._random() * bound)

    def between(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        return low + int(self._random() * (high - low + 1))

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options, all equally likely."""
        return options[int(self._random() * len(options))]

    def hit(self, probability: float) -> bool:
        """Return whether an event of that probability happens."""
        return self._random() < probability

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """Return `count` different options in random order (Fisher and Yates)."""
        pool = list(options)
        for index in range(count):
            other = index + int(self._random() * (len(pool) - index))
            pool[index], pool[other] = pool[other], pool[index]
        return pool[:count]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """Return the options in random order."""
        return self.sample(options, len(options))
