"""Runs inside `.venvs/inspect_ai*`: answers with what inspect_ai itself says.

Reads one JSON object a line, writes one a line, in the same order:
    {"completion", "gold", "scorers"}  ->  {scorer: [verdict, the answer of the score]}
    {"number": text}  ->  {function: [value or null, name of the exception or ""]}
    {"prompts": task, "data": folder}  ->  {"prompts": [[[role, text], ...], ...], "targets": [...]}
Scorers are "match" and, with inspect_evals, "aime". A verdict is true, false or "error". `number`
asks the functions that read one word; values travel as hexadecimal floats. `prompts` renders all
test documents of GSM8K through the solvers of inspect_evals' gsm8k (with 10, 5 or no shots),
mgsm or aime2025.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)  # whatever the harness prints must not stand between the answers

from inspect_ai._util.text import str_to_float  # noqa: E402
from inspect_ai.scorer import CORRECT, Target, match  # noqa: E402
from inspect_ai.scorer._unicode import unicode_number_to_float  # noqa: E402

# The variants of the task gsm8k: how many shots.
FEWSHOT = {"gsm8k": 10, "gsm8k-5shot": 5, "gsm8k-0shot": 0}
READERS: dict[str, Callable[[str], float]] = {
    "unicode": unicode_number_to_float,
    "superscript": str_to_float,
}


@cache
def scorer(name: str) -> Any:
    """Return a published scorer."""
    if name == "match":
        return match(numeric=True)
    from inspect_evals.utils.aime_common import aime_scorer

    return aime_scorer()


async def score(row: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the verdict and the answer of every scorer that is asked for."""
    state = SimpleNamespace(output=SimpleNamespace(completion=row["completion"]))
    answers: dict[str, list[Any]] = {}
    for name in row["scorers"]:
        try:
            result = await scorer(name)(state, Target([row["gold"]]))
            answers[name] = [result.value == CORRECT, result.answer]
        except Exception as error:  # noqa: BLE001  (the harness's failure is the answer)
            answers[name] = ["error", type(error).__name__]
    return answers


def numbers(word: str) -> dict[str, list[Any]]:
    """Return what each function that reads one word returns or raises."""
    answers: dict[str, list[Any]] = {}
    for name, read in READERS.items():
        try:
            answers[name] = [float(read(word)).hex(), ""]
        except Exception as error:  # noqa: BLE001  (the harness's failure is the answer)
            answers[name] = [None, type(error).__name__]
    return answers


async def prompts(name: str, folder: str) -> dict[str, list[Any]]:
    """Return the messages and targets of the test documents, rendered by a task's solvers."""
    from inspect_ai.dataset import hf_dataset
    from inspect_ai.model import ChatMessageUser, ModelName
    from inspect_ai.solver import TaskState, chain
    from inspect_evals.gsm8k import gsm8k
    from inspect_evals.mgsm.mgsm import LANG_TO_INSTRUCTIONS
    from inspect_evals.utils.aime_common import aime_solver

    def local(path: str, data_dir: str, split: str, **options: Any) -> Any:
        options.pop("revision")  # the files are that revision; shuffle and limit stay the peer's
        file = {split: f"{folder}/{split}.jsonl"}
        return hf_dataset("json", split, data_files=file, cached=False, **options)

    async def generate(state: TaskState, **_: Any) -> TaskState:
        return state

    module: Any = sys.modules[gsm8k.__module__]
    module.hf_dataset = local
    task = gsm8k(fewshot=FEWSHOT.get(name, 10))
    template = LANG_TO_INSTRUCTIONS["en"] if name == "mgsm" else "{prompt}"
    solver = task.solver if name in FEWSHOT else chain(aime_solver() if name == "aime2025" else [])
    rendered: list[Any] = []
    targets: list[str] = []
    for sample in task.dataset:
        message = ChatMessageUser(content=template.format(prompt=sample.input))
        state = TaskState(ModelName("none/none"), sample.id, 1, sample.input, [message])
        state = await solver(state, generate)
        rendered.append([[message.role, message.text] for message in state.messages])
        targets.append(sample.target)
    return {"prompts": rendered, "targets": targets}


async def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        row = json.loads(line)
        if "prompts" in row:
            answer: dict[str, Any] = await prompts(row["prompts"], row["data"])
        elif "number" in row:
            answer = numbers(row["number"])
        else:
            answer = await score(row)
        ANSWERS.write(json.dumps(answer) + "\n")
        ANSWERS.flush()


if __name__ == "__main__":
    asyncio.run(main())
