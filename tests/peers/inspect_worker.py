"""Runs inside `.venvs/inspect_ai*`: answers with what inspect_ai itself says.

    {"number": text}  ->  {function: [value or null, name of the exception or ""]}
    {"prompts": task, "data": folder}  ->  {"prompts": [[[role, text], ...], ...], "targets": [...]}

`number` asks the functions that read one word; values travel as hexadecimal floats. `prompts`
renders all test documents of GSM8K through the solvers of inspect_evals' gsm8k (with 10, 5 or no
shots), mgsm or aime2025.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.peers.worker import Judge, Row, serve

# The variants of the task gsm8k: how many shots.
FEWSHOT = {"gsm8k": 10, "gsm8k-5shot": 5, "gsm8k-0shot": 0}


def start() -> Callable[[str], Judge]:
    """Import inspect_ai and return the judge of each scorer."""
    from inspect_ai.scorer import CORRECT, Target, match

    @cache
    def scorer(name: str) -> Any:
        if name.startswith("inspect/match-numeric"):
            return match(numeric=True)
        if name == "inspect/math":
            from inspect_ai.scorer import math

            return math()
        from inspect_evals.utils.aime_common import aime_scorer

        return aime_scorer()

    def judge_of(name: str) -> Judge:
        def judge(row: Row) -> tuple[Any, str | None]:
            state = SimpleNamespace(output=SimpleNamespace(completion=row["completion"]))
            result = LOOP.run_until_complete(scorer(name)(state, Target([row["gold"]])))
            unread = getattr(result, "reason", None) == "invalid_response_format"
            return result.value == CORRECT, None if unread else result.answer

        return judge

    return judge_of


LOOP = asyncio.new_event_loop()


def numbers(word: str) -> dict[str, list[Any]]:
    """Return what each function that reads one word returns or raises."""
    from inspect_ai._util.text import str_to_float
    from inspect_ai.scorer._unicode import unicode_number_to_float

    answers: dict[str, list[Any]] = {}
    for name, read in (("unicode", unicode_number_to_float), ("superscript", str_to_float)):
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


def other(row: Row) -> Any:
    """Answer what is not a completion."""
    if "number" in row:
        return numbers(row["number"])
    return LOOP.run_until_complete(prompts(row["prompts"], row["data"]))


if __name__ == "__main__":
    serve(start, other)
