"""What a verifier is trained on: squared errors of its values, and a language model's loss.

Both are sums over solution tokens, questions masked; whoever trains divides each by its count of
tokens and adds them unweighted, as the paper's joint objective does (arXiv 2110.14168, section 4.2
and appendix B). The likelihood head is learnt by cross-entropy instead of squared errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from gradeschool.verifier.head import Output
from gradeschool.verifier.rows import Rows, pack

VERIFICATION, LANGUAGE = "verification", "language"  # the names of the two losses


class Level(StrEnum):
    """What is learnt: a value at every solution token, or at the last one alone, the paper's two.

    Or the likelihood of the whole solution as its score: see `head.Likelihood`.
    """

    TOKEN = "token"
    SOLUTION = "solution"
    LIKELIHOOD = "likelihood"


class Labelled(NamedTuple):
    """A sampled solution: its tokens, whether its final answer is right, how often it was drawn."""

    ids: Sequence[int]
    right: bool
    drawn: int = 1


class Group(NamedTuple):
    """Solutions of one question.

    reference: its reference solution, where that is language data. learn_right: the solutions that
    are right are language data, each once.
    """

    question: Sequence[int]
    solutions: Sequence[Labelled]
    reference: Sequence[int] | None = None
    learn_right: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows with their targets.

    weights: [rows, S], how much each value counts: 0 at questions, padding and references, else how
    often the solution was drawn. right: [rows], the target of a row's values. references: numbers
    of the rows that are language data, maybe none.
    """

    rows: Rows
    weights: Tensor
    right: Tensor
    references: Tensor
    counts: Mapping[str, float]
    tokens: int

    def to(self, device: Any) -> Batch:
        """Return the batch on a device."""
        weights, right, references = (
            one.to(device) for one in (self.weights, self.right, self.references)
        )
        return Batch(self.rows.to(device), weights, right, references, self.counts, self.tokens)


def batch_of(groups: Sequence[Group], level: Level = Level.TOKEN) -> Batch:
    """Return the batch of groups; duplicates count as often as they were drawn."""
    solutions: list[tuple[int, Sequence[int]]] = []
    right: list[float] = []
    counted: list[int] = []
    references: list[int] = []
    for at, group in enumerate(groups):
        for one in group.solutions:
            if group.learn_right and one.right:
                references.append(len(solutions))
            solutions.append((at, one.ids))
            right.append(float(one.right))
            counted.append(one.drawn)
        if group.reference is not None:
            references.append(len(solutions))
            solutions.append((at, group.reference))
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
    return Batch(rows, weights, torch.tensor(right), numbers, counts, tokens)


def losses(verifier: Any, batch: Batch) -> dict[str, Tensor]:
    """Return the losses of a batch, each summed over what `batch.counts` counts."""
    asked = batch.references if LANGUAGE in batch.counts else None
    output: Output = verifier(batch.rows, asked)
    targets = batch.right[:, None]
    if output.logits is None:
        errors = (output.values - targets) ** 2
    else:
        errors = binary_cross_entropy_with_logits(
            output.logits, targets.expand_as(output.logits), reduction="none"
        )
    found = {VERIFICATION: (errors * batch.weights).sum()}
    if output.language is not None:
        found[LANGUAGE] = output.language.sum()
    return found
