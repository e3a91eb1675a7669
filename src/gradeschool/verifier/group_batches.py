"""The order in which a verifier sees groups of solutions, and how an update's are divided."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from gradeschool.errors import InputError
from gradeschool.verifier.example_batches import PASS_TOKENS, divided
from gradeschool.verifier.objective import Batch, Group, Level, batch_of


class GroupBatches:
    """Batches of groups in an order that is new in every epoch and depends on the seed alone.

    A problem with more than `most` solutions is split into groups of about equal size; which of
    them are together is drawn anew in every epoch. Each group brings the reference solution along,
    so that language data and verifier data are mixed equally. An update has `batch` groups (all,
    where there are fewer) and may take its last ones from the next epoch.
    """

    def __init__(
        self,
        groups: Sequence[Group],
        epochs: float,
        batch: int,
        most: int,
        seed: int = 0,
        *,
        level: Level = Level.TOKEN,
        pass_tokens: int = PASS_TOKENS,
    ) -> None:
        self.groups = groups
        self.places = [at for at, one in enumerate(groups) for _ in range(_parts(one, most))]
        self.batch = min(batch, len(self.places))
        self.updates = max(1, int(epochs * len(self.places)) // self.batch)
        self.most = most
        self.seed = seed
        self.level = level
        self.pass_tokens = pass_tokens
        self._order: tuple[int, list[tuple[int, int]]] = (-1, [])

    def __len__(self) -> int:
        """Return the number of updates."""
        return self.updates

    def update(self, number: int, processes: int) -> list[Batch]:
        """Return the passes of an update; raises InputError where processes would get nothing."""
        if processes > self.batch:
            raise InputError(
                f"a batch of {self.batch} groups is too small for {processes} processes; "
                "give a larger --batch or fewer processes"
            )
        first = number * self.batch
        chosen = [self._at(place) for place in range(first, first + self.batch)]
        lengths = [tokens_of(one) for one in chosen]
        parts = divided(lengths, processes, self.pass_tokens)
        return [batch_of([chosen[at] for at in part], self.level) for part in parts]

    def _at(self, place: int) -> Group:
        """Return the group at a place of the endless stream of epochs."""
        epoch, at = divmod(place, len(self.places))
        if self._order[0] != epoch:
            order = list(_numbered(self.places))
            Random(f"{self.seed}:{epoch}").shuffle(order)  # noqa: S311
            self._order = (epoch, order)
        problem, part = self._order[1][at]
        group = self.groups[problem]
        count = _parts(group, self.most)
        if count == 1:
            return group
        solutions = list(group.solutions)
        Random(f"{self.seed}:{epoch}:{problem}").shuffle(solutions)  # noqa: S311
        return group._replace(solutions=solutions[part::count])


def tokens_of(group: Group) -> int:
    """Return how many tokens a group's forward pass computes."""
    solutions = sum(len(one.ids) for one in group.solutions)
    return len(group.question) + solutions + len(group.reference or ())


def _parts(group: Group, most: int) -> int:
    return -(-len(group.solutions) // most)


def _numbered(places: Sequence[int]) -> list[tuple[int, int]]:
    """Return the places with the number of the part of its problem that each is."""
    seen: dict[int, int] = {}
    numbered = []
    for problem in places:
        part = seen.get(problem, 0)
        seen[problem] = part + 1
        numbered.append((problem, part))
    return numbered
