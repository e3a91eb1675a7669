"""The losses of fine-tuning and of verifiers: language, and values by level or by pairs.

Each loss is a sum; a training divides it by its count over the whole update and adds the two
unweighted, as the paper's joint objective does (arXiv 2110.14168, section 4.2 and appendix E).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, logsigmoid

from gradeschool.verifier.data import Item, Objective, TrainingRow
from gradeschool.verifier.head import Verifier, compute_logits

VERIFICATION, LANGUAGE = "verification", "language"
BETA = 0.1  # scale of the pairwise loss of log-probabilities, as in direct preference optimization


class Level(StrEnum):
    """What a verifier learns.

    TOKEN and SOLUTION are the paper's: a value at every solution token, or at the last one only.
    STEP: at the last token of each step, as in process reward models. POOLED: one value, the mean
    over the solution's tokens. LIKELIHOOD: the log-probability of the whole solution, see
    `head.Verifier`.
    """

    TOKEN = "token"
    POOLED = "pooled"
    STEP = "step"
    SOLUTION = "solution"
    LIKELIHOOD = "likelihood"


class TrainedModel(nn.Module):
    """A language model or a verifier with the losses of its rows."""

    def __init__(
        self,
        trained: Any,
        level: Level = Level.TOKEN,
        objective: Objective = "joint",
        beta: float | None = None,
    ) -> None:
        super().__init__()
        self.trained = trained
        self.level, self.objective = level, objective
        likelihood = level is Level.LIKELIHOOD
        self.beta = beta or (BETA if likelihood else 1.0)

    @property
    def model(self) -> Any:
        """Return the language model."""
        return self.trained.model if isinstance(self.trained, Verifier) else self.trained

    def collate(self, items: Sequence[Item]) -> dict[str, Tensor]:
        """Return the rows of items as tensors, padded on the right.

        Attention is causal, so that no token sees the padding behind it.
        """
        rows = [row for item in items for row in item]
        width = max(len(row.ids) for row in rows)
        ids = torch.zeros(len(rows), width, dtype=torch.long)
        spoken = torch.zeros(len(rows), width, dtype=torch.bool)
        solution, valued = torch.zeros_like(spoken), torch.zeros_like(spoken)
        targets = torch.zeros(len(rows), width)
        for place, row in enumerate(rows):
            size = len(row.ids)
            ids[place, :size] = torch.tensor(row.ids)
            if row.speaks_from is not None:
                spoken[place, max(1, row.speaks_from) : size] = True
            if row.drawn:
                solution[place, row.start : size] = True
                valued[place, self._valued(row)] = True
                targets[place, row.start : row.start + row.right_tokens] = 1.0
        drawn = torch.tensor([float(row.drawn) for row in rows])
        initial = torch.tensor([row.logprob for row in rows])
        return {
            "ids": ids,
            "spoken": spoken,
            "solution": solution,
            "valued": valued,
            "targets": targets,
            "drawn": drawn,
            "initial": initial,
        }

    def _valued(self, row: TrainingRow) -> list[int]:
        """Return the positions of the tokens whose values are learnt."""
        if self.objective == "pairwise" and self.level is not Level.POOLED:
            return [len(row.ids) - 1]
        if self.level is Level.STEP:
            return [row.start + max(end, 1) - 1 for end in row.ends]
        if self.level in (Level.SOLUTION, Level.LIKELIHOOD):
            return [len(row.ids) - 1]
        return list(range(row.start, len(row.ids)))

    def counts(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the counts by which the verification and the language loss are divided."""
        if self.objective == "pairwise":
            values = torch.tensor(len(batch["drawn"]) / 2)
        elif self.level is Level.POOLED:
            values = batch["drawn"].sum()
        else:
            values = (batch["valued"] * batch["drawn"][:, None]).sum()
        return torch.stack([values.to(batch["drawn"]), batch["spoken"].sum().float()])

    def forward(
        self,
        ids: Tensor,
        spoken: Tensor,
        solution: Tensor,
        valued: Tensor,
        targets: Tensor,
        drawn: Tensor,
        initial: Tensor,
    ) -> Tensor:
        """Return the summed verification and language losses; see `collate`."""
        states = self.model.base_model(input_ids=ids, use_cache=False).last_hidden_state
        zero = states.sum() * 0.0  # every parameter gets a gradient, as DDP expects
        banned = self.trained.token_id if isinstance(self.trained, Verifier) else -1
        language = verification = zero.float()
        if spoken.any():
            logits = compute_logits(self.model, states[:, :-1][spoken[:, 1:]], banned)
            language = cross_entropy(logits, ids[spoken], reduction="sum")
        if valued.any():
            with torch.autocast(states.device.type, enabled=False):
                if self.level is Level.LIKELIHOOD:
                    scores = self._logprobs(states, ids, solution, banned)
                    verification = self._likelihood_loss(scores, targets, solution, drawn, initial)
                else:
                    values = self.trained.values(states)
                    verification = self._value_loss(values, solution, valued, targets, drawn)
        return torch.stack([verification, language])

    def _logprobs(self, states: Tensor, ids: Tensor, solution: Tensor, banned: int) -> Tensor:
        """Return the log-probability (nats) of each row's solution."""
        logits = compute_logits(self.model, states[:, :-1][solution[:, 1:]], banned, exact=True)
        chosen = -cross_entropy(logits, ids[solution], reduction="none")
        return chosen.new_zeros(solution.shape).masked_scatter(solution, chosen).sum(1)

    def _likelihood_loss(
        self, logprobs: Tensor, targets: Tensor, solution: Tensor, drawn: Tensor, initial: Tensor
    ) -> Tensor:
        """Return the cross-entropy of the labels, or the loss of direct preference optimization.

        The latter trains log-probabilities only; the head then learns the labels from them.
        """
        right = targets.gather(1, _last(solution))[:, 0]
        pairwise = self.objective == "pairwise"
        logits = self.trained.logits(logprobs.detach() if pairwise else logprobs)
        labels = binary_cross_entropy_with_logits(logits, right, reduction="none")
        if not pairwise:
            return (labels * drawn).sum()
        gains = self.beta * (logprobs - initial)
        return labels.sum() / 2 - logsigmoid(gains[0::2] - gains[1::2]).sum()

    def _value_loss(
        self, values: Tensor, solution: Tensor, valued: Tensor, targets: Tensor, drawn: Tensor
    ) -> Tensor:
        """Return the squared errors of the values, or of their mean, or the loss of pairs."""
        last = _last(solution)
        if self.level is Level.POOLED:
            scores = (values * solution).sum(1) / solution.sum(1).clamp(min=1)
        else:
            scores = values.gather(1, last)[:, 0]
        if self.objective == "pairwise":
            return -logsigmoid(self.beta * (scores[0::2] - scores[1::2])).sum()
        if self.level is Level.POOLED:
            return (drawn * (scores - targets.gather(1, last)[:, 0]) ** 2).sum()
        return ((values - targets) ** 2 * valued * drawn[:, None]).sum()


def _last(solution: Tensor) -> Tensor:
    """Return the place of each row's last solution token: [rows, 1]."""
    return solution.long().cumsum(1).argmax(1, keepdim=True)
