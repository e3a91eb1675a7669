"""Scorers and reward functions as people write them, faults included, for tests of the audit."""

import os
import re
import signal
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from gradeschool.problem import Problem

NUMBER = re.compile(r"-?\d+")
LONG_RUN = "9" * 50
_calls = count()
_pools: dict[str, Any] = {}


def last_word(completion: str, gold: str) -> str | None:
    """The answer as a text, or None."""
    words = completion.split()
    return words[-1] if words else None


def in_words(completion: str, gold: str) -> str:
    return "correct" if completion.endswith(gold) else "wrong"


def ends_with(completion: str, gold: str) -> bool:
    """The suffix bug."""
    numbers = NUMBER.findall(completion)
    return bool(numbers) and numbers[-1].endswith(gold)


def as_floats(completion: str, gold: str) -> bool:
    """Raises if there is no number, and merges integers above 2^53."""
    numbers = re.findall(r"-?[\d,]*\.?\d+", completion)
    return float(numbers[-1].replace(",", "")) == float(gold.replace(",", ""))


def by_eval(completion: str, gold: str) -> float:
    """Executes the completion."""
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
        float(messages[0]["content"].endswith(gold))
        for messages, gold in zip(completions, answer, strict=True)
    ]


def by_the_first_gold(completions: list[str], answer: list[str], **_: Any) -> list[float]:
    """Right for a list of one."""
    return [float(text.endswith(answer[0])) for text in completions]


def of_those_with_a_number(completions: list[str], answer: list[str], **_: Any) -> list[float]:
    """Leaves out the reward of a text without a number."""
    rows = zip(completions, answer, strict=True)
    return [float(text.endswith(gold)) for text, gold in rows if NUMBER.search(text)]


def none_or_one(completions: list[str], answer: list[str], **_: Any) -> list[float | None]:
    """The last word is the gold; no reward otherwise."""
    rows = zip(completions, answer, strict=True)
    return [1.0 if text.endswith(f" {gold}") else None for text, gold in rows]


def half_for_the_form(completion: str, gold: str) -> float:
    """Half a point for any number behind the marker, and half for the right one."""
    number = completion.rpartition("#### ")[2]
    return 0.5 * (number != completion) + 0.5 * (number == gold)


def of_openrlhf(queries: list[str], prompts: list[str], labels: list[str]) -> dict[str, Any]:
    texts = [query.removeprefix(prompt) for query, prompt in zip(queries, prompts, strict=True)]
    rows = zip(texts, labels, strict=True)
    return {"rewards": [float(text == f"#### {gold}") for text, gold in rows]}


def with_question(
    data_source: str, solution_str: str, ground_truth: str, extra_info: dict[str, Any]
) -> bool:
    return "boxes" in extra_info["question"] and solution_str.endswith(ground_truth)


def that_logs(completions: list[str], answer: list[str], log_metric: Any = None) -> list[float]:
    log_metric("length", len(completions))
    return [float(text.endswith(gold)) for text, gold in zip(completions, answer, strict=True)]


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


def dies(completion: str, gold: str) -> bool:
    if LONG_RUN in completion:
        os.abort()
    return completion.endswith(gold)


def sleeps(completion: str, gold: str) -> bool:
    if completion == LONG_RUN:
        time.sleep(1_000)
    return completion.endswith(gold)


def noisy(completion: str, gold: str) -> bool:
    """Writes to stdout and reads stdin, which a scorer must not use."""
    print("judging", completion[:20])
    with suppress(EOFError):
        input()
    return completion.endswith(gold)


def never(completion: str, gold: str) -> bool:
    return False


def raises(completion: str, gold: str) -> bool:
    raise RuntimeError("out of order")


def of_three(first: str, second: str, third: str) -> bool:
    return False


def with_problem(completion: str, gold: str, problem: Problem) -> bool:
    return completion.endswith(gold) and problem.gold == gold


class Graders:
    """Holds a scorer."""

    @staticmethod
    def by_end(completion: str, gold: str) -> bool:
        return completion.endswith(gold)


not_callable = 18


def judged_elsewhere(completion: str, gold: str) -> bool:
    return completion.endswith(gold)


def by_executor(completion: str, gold: str) -> bool:
    """Correct, but its pool lives as long as the process."""
    if "executor" not in _pools:
        _pools["executor"] = ProcessPoolExecutor(2, get_context("fork"))
    return bool(_pools["executor"].submit(judged_elsewhere, completion, gold).result())


def by_pool(completion: str, gold: str) -> bool:
    """Likewise, by multiprocessing's own pool."""
    if "pool" not in _pools:
        _pools["pool"] = get_context("fork").Pool(2)
    return bool(_pools["pool"].apply(judged_elsewhere, (completion, gold)))


def forks(completion: str, gold: str) -> bool:
    """Leaves a process behind that continues after the call of the scorer."""
    os.fork()
    return completion.endswith(gold)


def forks_for_ever(completion: str, gold: str) -> bool:
    """Leaves a process behind that does nothing, its number in the file `completion`; then ends."""
    process = os.fork()
    if process == 0:
        time.sleep(1_000)
    Path(completion).write_text(str(process))
    os._exit(7)


def writes_to_every_pipe(completion: str, gold: str) -> bool:
    """Writes answers where only the worker should."""
    if completion == LONG_RUN:
        forged = b'{"key": "", "row": 0, "answer": {"score": 1.0, "shown": "1", "seconds": 0.0}}\n'
        for descriptor in range(3, 20):
            with suppress(OSError):
                os.write(descriptor, forged)
    return completion.endswith(gold)


def writes_nonsense(completion: str, gold: str) -> bool:
    if completion == LONG_RUN:
        for descriptor in range(3, 20):
            with suppress(OSError):
                os.write(descriptor, b"[" * 100_000 + b"\n\xff\n")
    return completion.endswith(gold)


def ends_with_status(completion: str, gold: str) -> bool:
    """Ends the process with a status that once meant a long wait."""
    if completion == LONG_RUN:
        os._exit(75)
    return completion.endswith(gold)


def sends_the_signal_of_a_long_computation(completion: str, gold: str) -> bool:
    if completion == LONG_RUN:
        os.kill(os.getpid(), signal.SIGXCPU)
    return completion.endswith(gold)


def closes_everything(completion: str, gold: str) -> bool:
    if completion == LONG_RUN:
        os.closerange(0, 100)
    return completion.endswith(gold)


def by_alarm(completion: str, gold: str) -> bool:
    """Bounds its own time by a signal, which works in the main thread only."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    return ends_with(completion, gold)


def gold_first(gold: str, completion: str) -> bool:
    """Takes its arguments in the other order."""
    return gold in completion
