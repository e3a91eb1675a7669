"""Compare verifier training and scoring on one core with rows padded like transformers' Trainer.

`python -m benchmarks.verifier_speed` makes a model of 0.2 M weights from nothing and problems with
several solutions each, then lets both compute the same losses and the same scores in turn. Tokens
are counted without padding: solutions once each, questions once per problem. Figures are CPU time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch

from gradeschool.datasets.fresh import fresh_problems
from gradeschool.verifier.base_model import build_tokenizer, new_model
from gradeschool.verifier.examples import QuestionSolution, training_texts
from gradeschool.verifier.examples import texts_of as tokens_of
from gradeschool.verifier.head import Verifier, new_verifier, values_of
from gradeschool.verifier.labels import LabelledSolution, SolutionGroup
from gradeschool.verifier.packing import take_packed
from gradeschool.verifier.train_verifier import GroupBatch, batch_of, losses

ROUNDS = 5
GROUPS = 3
EACH = (1, 8, 32)


def cpu_seconds(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def groups(tokenizer: Any, problems: list[Any], each: int) -> list[SolutionGroup]:
    """Return groups of `each` solutions: the problem's own, a digit before it."""
    solution_groups = []
    for problem in problems:
        pairs = [
            QuestionSolution(problem.question, f"{number}{problem.solution}")
            for number in range(each)
        ]
        texts = tokens_of(tokenizer, pairs)
        solutions = [
            LabelledSolution(text.solution, number % 2 == 0) for number, text in enumerate(texts)
        ]
        solution_groups.append(SolutionGroup(texts[0].question, solutions, texts[0].solution))
    return solution_groups


def update(verifier: Verifier, batches: list[GroupBatch], share: bool) -> None:
    verifier.share = share
    for batch in batches:
        totals = losses(verifier, batch)
        sum(totals[name] / max(1.0, batch.counts[name]) for name in totals).backward()  # type: ignore[union-attr]
        verifier.zero_grad()


def read(verifier: Verifier, tokenizer: Any, pairs: list[QuestionSolution], share: bool) -> None:
    verifier.share = share
    values_of(verifier, tokens_of(tokenizer, pairs))


def compare(name: str, tokens: int, ours: Callable[[], None], other: Callable[[], None]) -> None:
    ours()
    other()
    pairs = [(cpu_seconds(ours), cpu_seconds(other)) for _ in range(ROUNDS)]
    fast, ratio = median(seconds for seconds, _ in pairs), median(b / a for a, b in pairs)
    print(f"{name:<42} {tokens / fast:>9,.0f} tokens/s   {ratio:.2f} x padded rows", flush=True)


def main() -> None:
    torch.set_num_threads(1)
    problems = list(fresh_problems(1, 96, split="train"))
    tokenizer = build_tokenizer(training_texts(problems), vocabulary=512)
    verifier, _ = new_verifier(new_model(tokenizer, "0.2M"), tokenizer)
    take_packed(verifier.model)
    print(f"{sum(parameter.numel() for parameter in verifier.parameters()):,} weights, one core")
    for each in EACH:
        count = max(GROUPS, 24 // each)
        solution_groups = groups(tokenizer, problems[: 2 * count], each)
        batches = [batch_of(solution_groups[:count]), batch_of(solution_groups[count:])]
        real = sum(batch.tokens for batch in batches)
        compare(
            f"training, {count} problems x {each} solutions",
            real,
            lambda batches=batches: update(verifier, batches, True),  # type: ignore[misc]
            lambda batches=batches: update(verifier, batches, False),  # type: ignore[misc]
        )
    verifier.eval()
    for each in EACH:
        pairs = [
            QuestionSolution(problem.question, f"{number}{problem.solution}")
            for problem in problems[: 96 // each]
            for number in range(each)
        ]
        texts = tokens_of(tokenizer, pairs)
        real = sum(len(text.solution) for text in texts)
        real += sum(len(question) for question in {text.question for text in texts})
        compare(
            f"scoring, {96 // each} problems x {each} solutions",
            real,
            lambda pairs=pairs: read(verifier, tokenizer, pairs, True),  # type: ignore[misc]
            lambda pairs=pairs: read(verifier, tokenizer, pairs, False),  # type: ignore[misc]
        )


if __name__ == "__main__":
    main()
