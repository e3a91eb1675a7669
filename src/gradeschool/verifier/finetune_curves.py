"""How a generator does on problems that it is not trained on, while it is trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.problem import Problem
from gradeschool.verifier.example_batches import PASS_TOKENS, divided
from gradeschool.verifier.examples import Example, encode_problems
from gradeschool.verifier.packing import LANGUAGE, language_loss, pack
from gradeschool.verifier.rows_log import RowsLog

CURVES = "curves.jsonl"
SCORER = "openai/2021"
TEMPERATURE, MAX_TOKENS = 0.7, 400  # the paper's


class Dev(NamedTuple):
    """Problems to look at: their examples, how many samples each, the seed of the samples."""

    problems: Sequence[Problem]
    examples: Sequence[Example]
    samples: int
    seed: int


def make_dev(tokenizer: Any, problems: Sequence[Problem], context: int | None, samples: int,
             seed: int) -> Dev:  # fmt: skip
    """Return the problems that fit into the context; raises InputError where there are none."""
    encoded = encode_problems(tokenizer, problems, context)
    long = set(encoded.too_long)
    kept = [problem for problem in problems if problem.id not in long]
    return Dev(kept, encoded.examples, samples, seed)


class Curves:
    """Writes a row of curves.jsonl whenever it is called with an update and the model behind it.

    Rows of updates behind `upto`, which a training that goes on does again, are dropped.
    """

    def __init__(
        self,
        folder: Path,
        upto: int,
        dev: Dev,
        tokenizer: Any,
        updates_an_epoch: float,
        tell: Callable[[dict[str, Any]], None] | None,
    ) -> None:
        self.log = RowsLog(folder / CURVES, upto)
        self.dev, self.tokenizer, self.tell = dev, tokenizer, tell
        self.updates_an_epoch = updates_an_epoch

    def __call__(self, update: int, model: Any) -> None:
        """Measure, write the row, tell it."""
        import torch

        model.eval()
        row: dict[str, Any] = {
            "update": update,
            "epoch": round(update / self.updates_an_epoch, 3),
            "problems": len(self.dev.problems),
        }
        with torch.inference_mode():
            row["dev_loss"] = round(loss_on(model, self.dev.examples), 5)
            row |= self._accuracy(model)
        self.log.add(row)
        if self.tell is not None:
            self.tell(row)

    def _accuracy(self, model: Any) -> dict[str, float]:
        """Return test@1 (greedy) and, of several samples, their mean and test@k."""
        greedy = self._correct(model, 1, 0.0)
        row: dict[str, float] = {"test@1": _mean([marks[0] for marks in greedy])}
        if self.dev.samples > 1:
            marks = self._correct(model, self.dev.samples, TEMPERATURE)
            row["k"] = self.dev.samples
            row["mean@k"] = _mean([_mean(one) for one in marks])
            row["test@k"] = _mean([any(one) for one in marks])
        return row

    def _correct(self, model: Any, samples: int, temperature: float) -> list[list[bool]]:
        """Return for each problem which of its samples are correct."""
        from gradeschool.models.token_loop import sample
        from gradeschool.scoring.judge import judge

        prompts = [one.ids[: one.start] for one in self.dev.examples]
        context = getattr(model.config, "max_position_embeddings", None)
        room = MAX_TOKENS if context is None else context - max(map(len, prompts))
        drawn = sample(
            model,
            self.tokenizer,
            prompts,
            samples=samples,
            temperature=temperature,
            max_tokens=min(MAX_TOKENS, room),
            ends=[self.tokenizer.eos_token_id],
            seed=self.dev.seed,
        )
        marks: list[list[bool]] = [[] for _ in prompts]
        for one in drawn:
            text = self.tokenizer.decode(one.ids, skip_special_tokens=True)
            marks[one.prompt].append(judge(text, self.dev.problems[one.prompt], SCORER).correct)
        return marks


def loss_on(model: Any, examples: Sequence[Example]) -> float:
    """Return the cross-entropy of the solutions, the mean over their tokens."""
    total = tokens = 0.0
    device = next(model.parameters()).device
    for part in divided([len(one.ids) for one in examples], 1, PASS_TOKENS):
        batch = pack([examples[at] for at in part]).to(device)
        total += float(language_loss(model, batch)[LANGUAGE])
        tokens += batch.counts[LANGUAGE]
    return total / tokens


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
