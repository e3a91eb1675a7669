"""Score the rows of a file with the functions of a harness, inside a peer's environment.

    python scoring_worker.py SCORER ROWS

ROWS is JSONL of {"completion", "gold", "solution"}. Prints {"rows": n, "right": [a number for each
verdict of a row]}.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

Row = tuple[str, str, str]
Round = Callable[[], list[int]]


def lm_eval(rows: list[Row]) -> Round:
    """Both filters of gsm8k as the evaluator does it: apply_filters, then process_results."""
    from lm_eval.api.instance import Instance
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.tasks._yaml_loader import load_yaml

    package = importlib.util.find_spec("lm_eval")
    assert package is not None and package.origin is not None
    config = dict(load_yaml(Path(package.origin).parent / "tasks" / "gsm8k" / "gsm8k.yaml"))
    docs = [{"question": "", "answer": solution} for _, _, solution in rows]
    with tempfile.TemporaryDirectory() as folder:
        files = {split: str(Path(folder, f"{split}.jsonl")) for split in ("train", "test")}
        for file in files.values():
            Path(file).write_text("\n".join(map(json.dumps, docs[:9])), "utf-8")
        config |= {"dataset_path": "json", "dataset_name": None}
        task: Any = ConfigurableTask(config=config | {"dataset_kwargs": {"data_files": files}})

    def once() -> list[int]:
        instances = [
            Instance("generate_until", doc, ("", {}), 0, ("gsm8k", index, 1))
            for index, doc in enumerate(docs)
        ]
        for instance, row in zip(instances, rows, strict=True):
            instance.resps = [row[0]]
        task._instances = instances
        task.apply_filters()
        return [
            int(
                sum(
                    task.process_results(instance.doc, [instance.filtered_resps[chain.name]])[
                        "exact_match"
                    ]
                    for instance in instances
                )
            )
            for chain in task._filters
        ]

    return once


def inspect(rows: list[Row]) -> Round:
    """match(numeric=True)."""
    from inspect_ai.scorer import CORRECT, Target, match

    scorer: Any = match(numeric=True)

    async def all_rows() -> int:
        right = 0
        for text, gold, _ in rows:
            state = SimpleNamespace(output=SimpleNamespace(completion=text))
            right += (await scorer(state, Target([gold]))).value == CORRECT
        return right

    return lambda: [asyncio.run(all_rows())]


SCORERS: dict[str, Callable[[list[Row]], Round]] = {"lm_eval": lm_eval, "inspect": inspect}


def main(scorer: str, file: str) -> None:
    """Score the rows once and print how many are right."""
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # the harness must not print into the result
    with Path(file).open(encoding="utf-8", newline="\n") as lines:
        fields = [json.loads(line) for line in lines]
    rows: list[Row] = [(row["completion"], row["gold"], row["solution"]) for row in fields]
    with output:
        json.dump({"rows": len(rows), "right": SCORERS[scorer](rows)()}, output)


if __name__ == "__main__":
    main(*sys.argv[1:])
