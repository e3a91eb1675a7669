"""The order of examples over the epochs, and how an update's are divided into passes."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from gradeschool.errors import InputError
from gradeschool.verifier.examples import Example
from gradeschool.verifier.packing import Packed, pack

PASS_TOKENS = 8192


class ExampleBatches:
    """Batches of examples in an order that is new in every epoch and depends on the seed alone.

    An update has always `batch` examples (all, where there are fewer): one may take its last from
    the next epoch, and what does not fill an update at the very end is left out. It is computed in
    as few passes of at most `pass_tokens` tokens as there can be.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        epochs: float,
        batch: int,
        seed: int = 0,
        *,
        whole: bool = False,
        pass_tokens: int = PASS_TOKENS,
    ) -> None:
        self.examples = examples
        self.batch = min(batch, len(examples))
        self.updates = max(1, int(epochs * len(examples)) // self.batch)
        self.seed = seed
        self.whole = whole
        self.pass_tokens = pass_tokens
        self._order: tuple[int, list[int]] = (-1, [])

    def __len__(self) -> int:
        """Return the number of updates."""
        return self.updates

    def epoch_ends(self) -> list[int]:
        """Return the number of the last update of each epoch, the end of the training included."""
        epochs = -(-self.updates * self.batch // len(self.examples))
        ends = [epoch * len(self.examples) // self.batch for epoch in range(1, epochs + 1)]
        return sorted({min(max(end, 1), self.updates) for end in ends})

    def update(self, number: int, processes: int) -> list[Packed]:
        """Return the passes of an update; raises InputError where processes would get nothing."""
        if processes > self.batch:
            raise InputError(
                f"a batch of {self.batch} examples is too small for {processes} processes; "
                "give a larger --batch or fewer processes"
            )
        first = number * self.batch
        chosen = [self._at(place) for place in range(first, first + self.batch)]
        parts = divided([len(one.ids) for one in chosen], processes, self.pass_tokens)
        return [pack([chosen[at] for at in part], self.whole) for part in parts]

    def _at(self, place: int) -> Example:
        """Return the example at a place of the endless stream of epochs."""
        epoch, at = divmod(place, len(self.examples))
        if self._order[0] != epoch:
            order = list(range(len(self.examples)))
            Random(f"{self.seed}:{epoch}").shuffle(order)  # noqa: S311
            self._order = (epoch, order)
        return self.examples[self._order[1][at]]


def divided(lengths: Sequence[int], processes: int, most: int) -> list[list[int]]:
    """Divide examples into passes of about the same length, a multiple of the processes.

    There are at least as many examples as processes. No pass has more than `most` tokens, unless
    there is no other way. Returns the indices.
    """
    wanted = max(1, -(-sum(lengths) // (processes * most)))
    count = processes * min(wanted, len(lengths) // processes)
    longest_first = sorted(range(len(lengths)), key=lambda at: (-lengths[at], at))
    while True:
        parts: list[list[int]] = [[] for _ in range(count)]
        sizes = [0] * count
        for at in longest_first:
            least = sizes.index(min(sizes))
            parts[least].append(at)
            sizes[least] += lengths[at]
        if max(sizes) <= most or count + processes > len(lengths):
            return parts
        count += processes
