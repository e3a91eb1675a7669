"""Measure the time of the scorers on hostile texts of 10 MB: one shape repeated to the end.

    python benchmarks/hostile.py [--megabytes 10] [--limit 1.0] [--json] [SCORER ...]

Prints, for each shape, the slowest scorers with their CPU seconds and the time of all scorers
together, and at the end every scorer that took longer than the limit. Without names: every scorer
that calls no library, once for each way of extracting.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gradeschool.problem import Problem
from gradeschool.scorer import Scorer
from gradeschool.scoring.sources import choose_scorers
from gradeschool.scoring.table import ScorerSet
from tests.support.outcomes import judge_against

SHAPES = {
    "digits": "9",
    "boxes": "\\boxed{",
    "closed boxes": "\\boxed{5} ",
    "commas": ",",
    "digits and commas": "1,",
    "hashes": "####",
    "hashes and spaces": "#### ",
    "answer is": "answer is ",
    "The answer is": "The answer is ",
    "ANSWER:": "ANSWER: ",
    "minus signs": "-",
    "surrogates": "\ud8001\udfff ",
    "other scripts": "½ 5² 十八 ٣ ",
    "invisible": "\u200d1 ",
    "decimals": "1.5 ",
    "dollars": "$5 ",
    "equations": "=5",
    "bold": "**1**",
    "questions": "Question: ",
    "line breaks": "\n",
    "spaces": " ",
    "braces": "{}",
    "fractions": "\\frac",
}
SLOWEST = 3


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(scorers: list[Scorer], unit: str, length: int) -> tuple[list[tuple[float, str]], float]:
    """Return the seconds of each scorer, slowest first, and of all together."""
    text = (unit * (length // len(unit) + 1))[:length]
    problem = Problem.from_gold("18")
    alone = [
        (seconds(partial(judge_against, scorer, text, scorer.reference(problem))), scorer.name)
        for scorer in scorers
    ]
    return sorted(alone, reverse=True), seconds(lambda: ScorerSet(scorers).outcomes(text, problem))


def main() -> None:
    parser = argparse.ArgumentParser(description="Time scorers on hostile texts.")
    parser.add_argument("scorers", nargs="*", metavar="SCORER")
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--limit", type=float, default=1.0, help="seconds for one scorer")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    scorers = list({scorer.extract: scorer for scorer in choose_scorers(options.scorers)}.values())
    length = int(options.megabytes * 1e6)
    over: list[tuple[float, str, str]] = []
    if not options.json:
        print(f"{len(scorers)} scorers, {length:,} characters of each shape; seconds of CPU")
    for shape, unit in SHAPES.items():
        alone, together = measure(scorers, unit, length)
        over += [(taken, name, shape) for taken, name in alone if taken > options.limit]
        if options.json:
            row = {"shape": shape, "together": together, "alone": {n: s for s, n in alone}}
            print(json.dumps(row), flush=True)
            continue
        slowest = ", ".join(f"{taken:.2f} {name}" for taken, name in alone[:SLOWEST])
        print(f"  {shape:18} all at once {together:6.2f}   {slowest}", flush=True)
    if not options.json:
        print(f"over {options.limit:g} s: {len(over)} of {len(scorers) * len(SHAPES)}")
        for taken, name, shape in sorted(over, reverse=True):
            print(f"  {taken:6.2f}  {name}, {shape}")


if __name__ == "__main__":
    main()
