"""The losses of fine-tuning and of verifiers: language, and values by level or by pairs.

Each loss is a sum; a training divides it by its count over the whole update and adds the two
unweighted, as the paper's joint objective does (arXiv 2110.14168, section 4.2 and appendix E).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, logsigmoid

from gradeschool.verifier.data import Item, Level, Objective
from gradeschool.verifier.head import Verifier, compute_logits

VERIFICATION, LANGUAGE = "verification", "language"


class TrainedModel(nn.Module):
    """A language model or a verifier with the losses of its rows."""

    def __init__(
        self, trained: Any, level: Level = "token", objective: Objective = "joint"
    ) -> None:
        super().__init__()
        self.trained, self.level, self.objective = trained, level, objective

    @property
    def model(self) -> Any:
        """Return the language model."""
        return self.trained.model if isinstance(self.trained, Verifier) else self.trained

    def collate(self, items: Sequence[Item]) -> dict[str, Tensor]:
        """Return the rows of items as tensors, padded on the right.

        Attention is causal, so that no token sees the padding behind it. By token: whether the
        language loss covers it (spoken), whether it belongs to a labelled solution, whether its
        value is learnt, and the target. By row: the last token, how often the solution was drawn.
        """
        rows = [row for item in items for row in item]
        width = max(len(row.ids) for row in rows)
        ids = torch.tensor([[*row.ids, *[0] * (width - len(row.ids))] for row in rows])
        places = torch.arange(width)

        def column(numbers: Sequence[float]) -> Tensor:
            return torch.tensor(numbers)[:, None]

        ends = column([len(row.ids) for row in rows])
        drawn = column([float(row.drawn) for row in rows])
        spoken = [width if row.speaks_from is None else max(1, row.speaks_from) for row in rows]
        solution = (places >= column([row.start for row in rows])) & (places < ends) & (drawn > 0)
        valued = solution
        if self.level == "step":
            valued = torch.zeros_like(solution)
            for number, row in enumerate(rows):
                valued[number, [row.start + max(end, 1) - 1 for end in row.ends]] = row.drawn > 0
        elif self.level in ("solution", "likelihood"):
            valued = solution & (places == ends - 1)
        return {
            "ids": ids,
            "spoken": (places >= column(spoken)) & (places < ends),
            "solution": solution,
            "valued": valued,
            "targets": (places < column([row.start + row.right_tokens for row in rows])).float(),
            "last": ends - 1,
            "drawn": drawn[:, 0],
        }

    def counts(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the counts by which the verification and the language loss are divided."""
        drawn = batch["drawn"]
        if self.objective == "pairwise":
            values = drawn.new_tensor(len(drawn) / 2)
        elif self.level == "pooled":
            values = drawn.sum()
        else:
            values = (batch["valued"] * drawn[:, None]).sum()
        return torch.stack([values, batch["spoken"].sum().float()])

    def forward(self, **batch: Tensor) -> Tensor:
        """Return the summed verification and language losses; see `collate`."""
        ids, spoken, solution = batch["ids"], batch["spoken"], batch["solution"]
        states = self.model.base_model(input_ids=ids, use_cache=False).last_hidden_state
        # Every parameter gets a gradient, as DDP expects.
        language = verification = (states.sum() * 0.0).float()
        banned = self.trained.token_id if isinstance(self.trained, Verifier) else -1
        if spoken.any():
            logits = compute_logits(self.model, states[:, :-1][spoken[:, 1:]], banned)
            language = cross_entropy(logits, ids[spoken], reduction="sum")
        if solution.any():
            with torch.autocast(states.device.type, enabled=False):
                if self.level == "likelihood":
                    tokens = states[:, :-1][solution[:, 1:]]
                    logits = compute_logits(self.model, tokens, banned, exact=True)
                    chosen = -cross_entropy(logits, ids[solution], reduction="none")
                    by_token = chosen.new_zeros(solution.shape).masked_scatter(solution, chosen)
                    labels = binary_cross_entropy_with_logits(
                        self.trained.logits(by_token.sum(1)),
                        batch["targets"].gather(1, batch["last"])[:, 0],
                        reduction="none",
                    )
                    verification = (labels * batch["drawn"]).sum()
                else:
                    verification = self._value_loss(self.trained.values(states), batch)
        return torch.stack([verification, language])

    def _value_loss(self, values: Tensor, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the squared errors of the values, or of their mean, or the loss of pairs."""
        solution, targets, drawn = batch["solution"], batch["targets"], batch["drawn"]
        if self.level == "pooled":
            scores = (values * solution).sum(1) / solution.sum(1).clamp(min=1)
        else:
            scores = values.gather(1, batch["last"])[:, 0]
        if self.objective == "pairwise":
            return -logsigmoid(scores[0::2] - scores[1::2]).sum()
        if self.level == "pooled":
            return (drawn * (scores - targets.gather(1, batch["last"])[:, 0]) ** 2).sum()
        return ((values - targets) ** 2 * batch["valued"] * drawn[:, None]).sum()
