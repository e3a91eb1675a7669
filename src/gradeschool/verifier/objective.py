"""What a verifier is trained on: squared errors of its values, and a language model's loss.

Both are sums over solution tokens, questions masked; the training loop divides each by its count of
tokens and adds them unweighted, as the paper's joint objective does (arXiv 2110.14168, section 4.2
and appendix B). The likelihood head is learnt by cross-entropy instead of squared errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from gradeschool.errors import InputError
from gradeschool.verifier.head import Output
from gradeschool.verifier.labels import SolutionGroup
from gradeschool.verifier.packing import PASS_TOKENS, divided
from gradeschool.verifier.rows import PackedRows, pack

VERIFICATION, LANGUAGE = "verification", "language"  # the names of the two losses


class Level(StrEnum):
    """What is learnt: a value at every solution token, or at the last one alone, the paper's two.

    Or the likelihood of the whole solution as its score: see `head.Likelihood`.
    """

    TOKEN = "token"
    SOLUTION = "solution"
    LIKELIHOOD = "likelihood"


@dataclass(frozen=True, slots=True)
class GroupBatch:
    """Rows with their targets.

    weights: [rows, S], how much each value counts: 0 at questions, padding and references, else how
    often the solution was drawn. right: [rows], the target of a row's values. references: numbers
    of the rows that are language data, maybe none.
    """

    rows: PackedRows
    weights: Tensor
    right: Tensor
    references: Tensor
    counts: Mapping[str, float]
    tokens: int

    def to(self, device: Any) -> GroupBatch:
        """Return the batch on a device."""
        weights, right, references = (
            tensor.to(device) for tensor in (self.weights, self.right, self.references)
        )
        return GroupBatch(
            self.rows.to(device), weights, right, references, self.counts, self.tokens
        )


def batch_of(groups: Sequence[SolutionGroup], level: Level = Level.TOKEN) -> GroupBatch:
    """Return the batch of groups; duplicates count as often as they were drawn."""
    solutions: list[tuple[int, Sequence[int]]] = []
    right: list[float] = []
    counted: list[int] = []
    references: list[int] = []
    for index, group in enumerate(groups):
        for solution in group.solutions:
            if group.learn_right and solution.right:
                references.append(len(solutions))
            solutions.append((index, solution.ids))
            right.append(float(solution.right))
            counted.append(solution.drawn)
        if group.reference is not None:
            references.append(len(solutions))
            solutions.append((index, group.reference))
            right.append(1.0)
            counted.append(0)
    rows = pack([group.question for group in groups], solutions)
    mask = rows.solution_mask
    if level is not Level.TOKEN:
        last = torch.zeros_like(mask)
        last[torch.arange(len(solutions)), rows.body_mask.sum(1) - 1] = True
        mask &= last
    weights = mask * torch.tensor(counted, dtype=torch.float32)[:, None]
    numbers = torch.tensor(references, dtype=torch.long)
    counts = {VERIFICATION: float(weights.sum())}
    if any(group.learn_right or group.reference is not None for group in groups):
        counts[LANGUAGE] = float(rows.solution_mask[numbers].sum())
    tokens = int(rows.prefix_mask.sum() + rows.body_mask.sum())
    return GroupBatch(rows, weights, torch.tensor(right), numbers, counts, tokens)


def losses(verifier: Any, batch: GroupBatch) -> dict[str, Tensor]:
    """Return the losses of a batch, each summed over what `batch.counts` counts."""
    references = batch.references if LANGUAGE in batch.counts else None
    output: Output = verifier(batch.rows, references)
    targets = batch.right[:, None]
    if output.logits is None:
        errors = (output.values - targets) ** 2
    else:
        errors = binary_cross_entropy_with_logits(
            output.logits, targets.expand_as(output.logits), reduction="none"
        )
    sums = {VERIFICATION: (errors * batch.weights).sum()}
    if output.language is not None:
        sums[LANGUAGE] = output.language.sum()
    return sums


class GroupBatches:
    """Batches of groups in an order that is new in every epoch and depends on the seed alone.

    A problem with more than `most` solutions is split into groups of about equal size; which of
    them are together is drawn anew in every epoch. Each group brings the reference solution along,
    so that language data and verifier data are mixed equally. An update has `batch` groups (all,
    where there are fewer) and may take its last ones from the next epoch.
    """

    def __init__(
        self,
        groups: Sequence[SolutionGroup],
        epochs: float,
        batch: int,
        most: int,
        seed: int = 0,
        *,
        level: Level = Level.TOKEN,
        pass_tokens: int = PASS_TOKENS,
    ) -> None:
        self.groups = groups
        self.places = [
            index for index, group in enumerate(groups) for _ in range(_parts(group, most))
        ]
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

    def update(self, number: int, processes: int) -> list[GroupBatch]:
        """Return the passes of an update; raises InputError where processes would get nothing."""
        if processes > self.batch:
            raise InputError(
                f"a batch of {self.batch} groups is too small for {processes} processes; "
                "give a larger --batch or fewer processes"
            )
        first = number * self.batch
        chosen = [self._at(place) for place in range(first, first + self.batch)]
        lengths = [tokens_of(group) for group in chosen]
        parts = divided(lengths, processes, self.pass_tokens)
        return [batch_of([chosen[index] for index in part], self.level) for part in parts]

    def _at(self, place: int) -> SolutionGroup:
        """Return the group at a place of the endless stream of epochs."""
        epoch, offset = divmod(place, len(self.places))
        if self._order[0] != epoch:
            order = list(_numbered(self.places))
            Random(f"{self.seed}:{epoch}").shuffle(order)  # noqa: S311
            self._order = (epoch, order)
        problem, part = self._order[1][offset]
        group = self.groups[problem]
        count = _parts(group, self.most)
        if count == 1:
            return group
        solutions = list(group.solutions)
        Random(f"{self.seed}:{epoch}:{problem}").shuffle(solutions)  # noqa: S311
        return group._replace(solutions=solutions[part::count])


def tokens_of(group: SolutionGroup) -> int:
    """Return how many tokens a group's forward pass computes."""
    solutions = sum(len(solution.ids) for solution in group.solutions)
    return len(group.question) + solutions + len(group.reference or ())


def _parts(group: SolutionGroup, most: int) -> int:
    return -(-len(group.solutions) // most)


def _numbered(places: Sequence[int]) -> list[tuple[int, int]]:
    """Return the places with the number of the part of its problem that each is."""
    parts: dict[int, int] = {}
    numbered = []
    for problem in places:
        part = parts.get(problem, 0)
        parts[problem] = part + 1
        numbered.append((problem, part))
    return numbered
