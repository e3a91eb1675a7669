"""Compare sampling by the token loop, by `generate` and by one token at a time, on one core.

    python benchmarks/sampling.py                      # the tests' model of 1 M parameters
    python benchmarks/sampling.py --model FOLDER --problems 8 --samples 100 --distinct 256

All three run the same weights on the same prompts, in turn, in CPU seconds. Useful tokens are those
up to and including the end token, not those that `generate` computes after it while it waits for
the longest row of its batch. `original` works like the authors' code: one row, with a forward of
the whole text for every token. All use the C library's default memory settings; keeping freed
memory (`gradeschool.models.workers`) would also make `generate` faster, and is not done.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
import transformers

from gradeschool.models.local import ends_of
from gradeschool.models.token_loop import Draw, Loop, SampleTask
from gradeschool.models.tokens.rows import RowTable

TEMPERATURE, LIMIT = 0.7, 400
GENERATE_ROWS = (100, 256)
ROUNDS = 3

Prompts = Sequence[Sequence[int]]
Lengths = list[int]


class Bench:
    """A model, and three ways to sample; each returns the number of useful tokens per row."""

    def __init__(self, folder: Path, questions: Sequence[str]) -> None:
        self.model: Any = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
        self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
        self.ends = ends_of(self.model, self.tokenizer)
        self.prompts = [self.tokenizer(f"Question: {q}\nAnswer:")["input_ids"] for q in questions]

    def ours(self, prompts: Prompts, samples: int, calculator: bool = True) -> Lengths:
        """Sample by the token loop."""
        loop = Loop(self.model, self.tokenizer, Draw(TEMPERATURE, 1.0), self.ends, calculator)
        tasks = [SampleTask(index, number, tuple(prompt))
                 for index, prompt in enumerate(prompts) for number in range(samples)]  # fmt: skip
        return [len(row.ids) for row in loop.run(tasks, LIMIT, 0)]

    def generate(self, prompts: Prompts, samples: int, rows: int) -> Lengths:
        """Sample in batches of `generate`, each until its longest row has ended."""
        every = [prompt for prompt in prompts for _ in range(samples)]
        lengths = []
        for start in range(0, len(every), rows):
            lengths += [len(ids) for ids in self.batch(every[start : start + rows], TEMPERATURE)]
        return lengths

    def batch(self, rows: Prompts, temperature: float) -> list[list[int]]:
        """Return the number of useful tokens that `generate` writes for each row."""
        width = max(map(len, rows))
        ids = torch.tensor([[0] * (width - len(row)) + list(row) for row in rows])
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
        drawn = {"do_sample": True, "temperature": temperature, "top_k": 0}
        how = drawn if temperature else {"do_sample": False}
        with torch.inference_mode():
            whole = self.model.generate(ids, attention_mask=mask, max_new_tokens=LIMIT,
                                        eos_token_id=self.ends, pad_token_id=0, **how)  # fmt: skip
        return [self.useful(row) for row in whole[:, width:].tolist()]

    def useful(self, row: list[int]) -> list[int]:
        """Cut a row after its end token."""
        return row[
            : next((index + 1 for index, token in enumerate(row) if token in self.ends), LIMIT)
        ]

    def original(self, prompts: Prompts, samples: int) -> Lengths:
        """Sample one row and one token at a time, through a forward of the whole text."""
        lengths = []
        for prompt in [prompt for prompt in prompts for _ in range(samples)]:
            ids = list(prompt)
            while len(ids) - len(prompt) < LIMIT and ids[-1] not in self.ends:
                with torch.inference_mode():
                    logits = self.model(torch.tensor([ids]), use_cache=False).logits[0, -1]
                ids.append(int(torch.multinomial((logits / TEMPERATURE).softmax(-1), 1)))
            lengths.append(len(ids) - len(prompt))
        return lengths


def timed(name: str, work: Callable[[], Lengths]) -> float:
    start = time.process_time()
    lengths = work()
    seconds = time.process_time() - start
    rate = sum(lengths) / seconds
    print(f"  {name:<22}{len(lengths):>6} rows {sum(lengths) / len(lengths):>6.1f} tokens each"
          f"{seconds:>8.1f} s{rate:>9,.0f} useful tokens/s", flush=True)  # fmt: skip
    return rate


def compare(title: str, methods: dict[str, Callable[[], Lengths]], rounds: int) -> None:
    """Run the ways in turn, and print how much faster the first one is."""
    print(title)
    rates = [{name: timed(name, work) for name, work in methods.items()} for _ in range(rounds)]
    first, *others = methods
    for other in others:
        ratios = [rate[first] / rate[other] for rate in rates]
        print(f"  {first} / {other}: {statistics.median(ratios):.1f} "
              f"({min(ratios):.1f} to {max(ratios):.1f})")  # fmt: skip


def calculator_share(bench: Bench, prompts: Prompts, samples: int) -> float:
    """Return the share of the loop's time that finding and computing annotations takes."""
    spent, force = 0.0, RowTable.force

    def measured(self: RowTable, *arguments: Any) -> None:
        nonlocal spent
        start = time.thread_time()
        force(self, *arguments)
        spent += time.thread_time() - start

    start = time.thread_time()
    with patch.object(RowTable, "force", measured):
        bench.ours(prompts, samples)
    return spent / (time.thread_time() - start)


def same_greedy(bench: Bench, prompts: Prompts) -> tuple[int, int]:
    """Return how many prompts have the same greedy tokens as with `generate`, and their number."""
    loop = Loop(bench.model, bench.tokenizer, Draw(0, 1.0), bench.ends, calculator=False)
    tasks = [SampleTask(index, 0, tuple(prompt)) for index, prompt in enumerate(prompts)]
    ours = {row.prompt: row.ids for row in loop.run(tasks, LIMIT, 0)}
    same = sum(bench.batch([prompt], 0)[0] == ours[index] for index, prompt in enumerate(prompts))
    return same, len(prompts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=Path(".cache/tiny-model"))
    parser.add_argument("--dataset", default="fresh:1:train:400", help="whose questions are asked")
    parser.add_argument("--problems", type=int, default=8)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--distinct", type=int, default=256)
    parser.add_argument("--greedy", type=int, default=200)
    parser.add_argument("--calculator", type=int, default=160)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    from gradeschool.datasets.load import load_dataset

    torch.set_num_threads(1)
    questions = [problem.question for problem in load_dataset(options.dataset).problems]
    bench = Bench(options.model, questions)
    shared, many = bench.prompts[: options.problems], bench.prompts[: options.distinct]
    weights = sum(weight.numel() for weight in bench.model.parameters())
    print(f"{weights:,} parameters, prompts of {sum(map(len, many)) / len(many):.0f} tokens on "
          f"average, temperature {TEMPERATURE}, at most {LIMIT} tokens")  # fmt: skip
    bench.ours(shared[:1], 8)
    compare(
        f"{options.samples} samples a problem; `generate` on one problem at a time",
        {
            "token loop": lambda: bench.ours(shared, options.samples),
            **{f"generate, {rows} rows": partial(bench.generate, shared[:2], 100, rows)
               for rows in GENERATE_ROWS},
            "original": lambda: bench.original(shared[:1], 1),
        },
        options.rounds,
    )  # fmt: skip
    compare(
        "distinct prompts",
        {
            "token loop": lambda: bench.ours(many, 1),
            "generate, 64 rows": lambda: bench.generate(many[:128], 1, 64),
        },
        options.rounds,
    )
    if options.greedy:
        same, every = same_greedy(bench, bench.prompts[: options.greedy])
        print(f"greedy: {same} of {every} have the tokens of `generate`")
    for problems in (options.problems, options.calculator):  # a longer run repeats expressions
        share = calculator_share(bench, bench.prompts[:problems], options.samples)
        print(f"calculator: {share:.2%} of the loop's time, {problems} problems")


if __name__ == "__main__":
    main()
