"""Score the rows of a file with the functions of a harness, inside a peer's environment.

    python scoring_worker.py SCORER ROWS

ROWS is JSONL of {"completion", "gold", "solution"}. Prints {"rows": n, "right": [a number for each
verdict of a row]}.
"""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable
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


def math_verify(rows: list[Row]) -> Round:
    """verify(parse(gold), parse(completion))."""
    from math_verify import parse, verify

    return lambda: [sum(verify(parse(gold), parse(text)) for text, gold, _ in rows)]


def opencompass(rows: list[Row]) -> Round:
    """gsm8k_postprocess and Gsm8kEvaluator.score, from the file: the package needs torch."""
    package = importlib.util.find_spec("opencompass")
    assert package is not None and package.origin is not None
    tree = ast.parse(
        Path(package.origin).parent.joinpath("datasets", "gsm8k.py").read_text("utf-8")
    )
    names = ("gsm8k_dataset_postprocess", "gsm8k_postprocess", "Gsm8kEvaluator")
    kept: list[Any] = [node for node in tree.body if getattr(node, "name", "") in names]
    for node in kept:
        node.decorator_list = []
    space: dict[str, Any] = {"re": re, "BaseEvaluator": object}
    exec(compile(ast.Module(kept, []), "gsm8k.py", "exec"), space)
    read, gold_of = space["gsm8k_postprocess"], space["gsm8k_dataset_postprocess"]
    is_equal = space["Gsm8kEvaluator"]().is_equal
    golds = [gold_of(solution) for _, _, solution in rows]
    return lambda: [
        sum(is_equal(read(row[0]), gold) for row, gold in zip(rows, golds, strict=True))
    ]


def verl(rows: list[Row], method: str) -> Round:
    """compute_score of one method, from its single file."""
    package = importlib.util.find_spec("verl")
    assert package is not None and package.origin is not None
    file = Path(package.origin).parent / "utils" / "reward_score" / "gsm8k.py"
    spec = importlib.util.spec_from_file_location("verl_gsm8k", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    golds = [gold.replace(",", "") for _, gold, _ in rows]

    def once() -> list[int]:
        pairs: Iterable[tuple[Row, str]] = zip(rows, golds, strict=True)
        return [int(sum(module.compute_score(row[0], gold, method) for row, gold in pairs))]

    return once


SCORERS: dict[str, Callable[[list[Row]], Round]] = {
    "lm_eval": lm_eval,
    "inspect": inspect,
    "math_verify": math_verify,
    "opencompass": opencompass,
    "verl_strict": lambda rows: verl(rows, "strict"),
    "verl_flexible": lambda rows: verl(rows, "flexible"),
}


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
