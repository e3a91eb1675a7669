"""Compare the training speed of a small model with packed and with padded rows, on one core.

`python benchmarks/training.py [--size 0.2M]`. The usual way is one padded row per example, the
mask, and the model's own loss over all positions; model, optimiser, examples and order are the
same. Prints the examples' tokens, without padding, per CPU second, after comparing the losses of
both.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from transformers.utils import logging

from gradeschool.datasets.fresh import fresh_problems
from gradeschool.models.workers import keep_freed_memory
from gradeschool.verifier.base_model import SHAPES, build_tokenizer, new_model
from gradeschool.verifier.examples import TrainingExample, encode_problems, training_texts
from gradeschool.verifier.packing import LANGUAGE, language_loss, pack, take_packed
from gradeschool.verifier.training import Optimizers

PROBLEMS, BATCH, TURNS, UPDATES = 960, 16, 6, 5
IGNORED = -100

Loss = Callable[[Any, Sequence[TrainingExample]], torch.Tensor]


def packed(model: Any, examples: Sequence[TrainingExample]) -> torch.Tensor:
    """Return the mean loss of examples in one row."""
    batch = pack(examples)
    return language_loss(model, batch)[LANGUAGE] / batch.counts[LANGUAGE]


def padded(model: Any, examples: Sequence[TrainingExample]) -> torch.Tensor:
    """Return the mean loss of examples in rows padded to the longest."""
    width = max(len(example.ids) for example in examples)
    ids = torch.zeros(len(examples), width, dtype=torch.long)
    mask = torch.zeros_like(ids)
    labels = torch.full_like(ids, IGNORED)
    for row, example in enumerate(examples):
        tokens = torch.tensor(example.ids)
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
        labels[row, example.start : len(tokens)] = tokens[example.start :]
    loss: torch.Tensor = model(
        input_ids=ids, attention_mask=mask, labels=labels, use_cache=False
    ).loss
    return loss


def speed(
    model: Any, optimizers: Optimizers, loss: Loss, examples: Sequence[TrainingExample]
) -> float:
    """Return the tokens per CPU second over some updates."""
    began = time.process_time()
    for start in range(0, len(examples), BATCH):
        loss(model, examples[start : start + BATCH]).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizers.step(1.0)
    return sum(len(example.ids) for example in examples) / (time.process_time() - began)


def main() -> None:
    """Print the speeds and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=SHAPES, default="0.2M")
    size = parser.parse_args().size
    logging.set_verbosity_error()
    torch.set_num_threads(1)
    keep_freed_memory()
    problems = fresh_problems(1, PROBLEMS, split="train")
    tokenizer = build_tokenizer(training_texts(problems))
    examples = encode_problems(tokenizer, problems).examples
    losses_by_name: dict[str, Loss] = {"packed": packed, "padded": padded}
    models = {name: new_model(tokenizer, size) for name in losses_by_name}
    take_packed(models["packed"])
    with torch.no_grad():
        losses = {
            name: float(losses_by_name[name](models[name], examples[:BATCH]))
            for name in losses_by_name
        }
    print(f"loss of one update: {losses}")
    assert abs(losses["packed"] - losses["padded"]) < 1e-4
    optimizers = {name: Optimizers(model, "muon", 5e-3) for name, model in models.items()}
    speeds: dict[str, list[float]] = {name: [] for name in losses_by_name}
    for turn in range(TURNS + 1):
        part = examples[turn * UPDATES * BATCH :][: UPDATES * BATCH]
        for name, loss in losses_by_name.items():
            rate = speed(models[name], optimizers[name], loss, part)
            if turn:  # the first one warms up
                speeds[name].append(rate)
    for name, rates in speeds.items():
        print(f"{name}: {statistics.median(rates):,.0f} tokens a CPU second ({size})")
    ratios = [
        packed_rate / padded_rate
        for packed_rate, padded_rate in zip(speeds["packed"], speeds["padded"], strict=True)
    ]
    print(f"packed / padded: {statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})")


if __name__ == "__main__":
    main()
