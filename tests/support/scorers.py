"""Scorers and reward functions as people write them, faults included, for tests of the audit."""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from itertools import count
from typing import Any

NUMBER = re.compile(r"-?\d+")
LONG_RUN = "9" * 50
_calls = count()


def ends_with(completion: str, gold: str) -> bool:
    """The suffix bug."""
    numbers = NUMBER.findall(completion)
    return bool(numbers) and numbers[-1].endswith(gold)


def as_floats(completion: str, gold: str) -> bool:
    """Raises where there is no number, and merges integers above 2^53."""
    numbers = re.findall(r"-?[\d,]*\.?\d+", completion)
    return float(numbers[-1].replace(",", "")) == float(gold.replace(",", ""))


def by_eval(completion: str, gold: str) -> float:
    """Runs what the model wrote."""
    try:
        return 1.0 if eval(completion.rpartition("####")[2]) == eval(gold) else 0.0
    except (SyntaxError, NameError, TypeError):
        return 0.0


def contained(completion: str, gold: str) -> bool:
    return gold in completion


def by_quadratic_regex(completion: str, gold: str) -> bool:
    for _ in range(60):
        boxes = re.findall(r"\\boxed\{(.+)\}", completion)
    return bool(boxes) and boxes[-1] == gold


def by_solution(completion: str, answer: str) -> bool:
    """Takes the whole reference solution, and reads one format."""
    return completion.rpartition("####")[2].strip() == answer.split("####")[1].strip()


def by_number(completion: str, gold: float) -> bool:
    """Takes the gold as a number."""
    numbers = NUMBER.findall(completion)
    return bool(numbers) and len(numbers[-1]) < 4_000 and int(numbers[-1]) == gold


def of_trl(completions: list[list[dict[str, str]]], answer: list[str], **_: Any) -> list[float]:
    return [
        float(one[0]["content"].endswith(gold))
        for one, gold in zip(completions, answer, strict=True)
    ]


def of_verl(
    data_source: str, solution_str: str, ground_truth: str, extra_info: object = None
) -> dict[str, float]:
    return {"score": 2.0 if solution_str.endswith(ground_truth) else -1.0}


async def later(completion: str, gold: str) -> bool:
    return completion.endswith(gold)


def moody(completion: str, gold: str) -> bool:
    return completion.endswith(gold) and next(_calls) % 7 > 0


def not_a_number(completion: str, gold: str) -> float:
    return float("nan") if "?" in completion else float(completion.endswith(gold))


def exits(completion: str, gold: str) -> bool:
    if LONG_RUN in completion:
        raise SystemExit(3)
    return completion.endswith(gold)


def dies(completion: str, gold: str) -> bool:
    if LONG_RUN in completion:
        os.abort()
    return completion.endswith(gold)


def sleeps(completion: str, gold: str) -> bool:
    if completion == LONG_RUN:
        time.sleep(1_000)
    return completion.endswith(gold)


def noisy(completion: str, gold: str) -> bool:
    """Writes to stdout and reads stdin, which belong to nobody there."""
    print("judging", completion[:20])
    with suppress(EOFError):
        input()
    return completion.endswith(gold)


def never(completion: str, gold: str) -> bool:
    return False


def raises(completion: str, gold: str) -> bool:
    raise RuntimeError("out of order")


def of_three(one: str, two: str, three: str) -> bool:
    return False


class Graders:
    """Holds a scorer."""

    @staticmethod
    def by_end(completion: str, gold: str) -> bool:
        return completion.endswith(gold)


not_callable = 18
