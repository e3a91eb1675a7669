"""Runs of a model that is right in 9 of 10 problems, made wrong on purpose."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gradeschool as package
from gradeschool import Problem, load_dataset
from tests.support.files import jsonl

DATASET, EXPECTED = "fresh:5", 90.0
PROBLEMS = load_dataset(DATASET).problems[:200]
NEXT = "\n\nQuestion: A box has 3 pens and Ann buys 4 more boxes. How many pens?\nAnswer: 12"


def answers(fault: Callable[[str, bool, Problem], str] | None = None) -> Iterator[str]:
    """The answers of a model that is right in 9 of 10 problems, each with a fault."""
    luck = random.Random(7)
    for problem in PROBLEMS:
        right = luck.random() < 0.9
        value = problem.gold if right else str(int(problem.gold.replace(",", "")) + 17)
        working = problem.solution.rpartition("\n####")[0] if right else "We count the items."
        text = f"{working}\nThe answer is {value}."
        yield fault(text, right, problem) if fault else text


def file_of(path: Path, texts: Iterator[str], **columns: Any) -> Path:
    rows = [
        {"id": problem.id, "question": problem.question, "completion": text, **columns}
        for problem, text in zip(PROBLEMS, texts, strict=True)
    ]
    return jsonl(path, rows)


def run_of(
    folder: Path, texts: Iterator[str], protocol: str = "zero-shot/chat", **engine: str
) -> Path:
    """A run folder with these answers; engine: what its run.json says of the engine."""
    by_question = dict(zip((problem.question for problem in PROBLEMS), texts, strict=True))

    def model(prompt: Any) -> str:
        requested = prompt if isinstance(prompt, str) else prompt[-1]["content"]
        return next(text for question, text in by_question.items() if question in requested)

    package.evaluate(model, protocol, DATASET, limit=len(PROBLEMS), name="m", output=folder)
    manifest = folder / "run.json"
    fields = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**fields, **({"engine": engine} if engine else {})}))
    return folder


def run_on(text: str, right: bool, problem: Problem) -> str:
    return text + NEXT


def worse(text: str, right: bool, problem: Problem) -> str:
    return text.replace(problem.gold, "3") if int(problem.id) % 4 == 0 else text
