"""Compare the CPU time of `gradeschool score` with harnesses on the same rows, in turn.

    python benchmarks/scoring.py [--rounds 3] [--rows N]

The rows are the recorded completions in GRADESCHOOL_DATA. Every process is timed as a whole, user
and system, with one row ("start") and with all; microseconds a row exclude the start. Peers run
their own functions in their own environments (`python tests/peers/install.py`); those that are not
installed are named and left out. They get every fourth row. `scoring.py PEER FILE` is such a run.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

SCORE = (sys.executable, "-m", "gradeschool", "score")
OURS = {
    "gradeschool score, all closed-form scorers": (),
    "gradeschool score, lm-eval's two filters": (
        "--scorer", "lm-eval/gsm8k/strict-match", "lm-eval/gsm8k/flexible-extract",
    ),
    "gradeschool score, inspect's match": ("--scorer", "inspect/match-numeric@>=0.3.261"),
}  # fmt: skip
EVERY = 4  # rows of which a peer gets one
Row = dict[str, Any]


# In a peer's environment


def lm_eval(rows: Sequence[Row]) -> None:
    """Both filters of gsm8k as the evaluator does it: apply_filters, then process_results."""
    from lm_eval.api.instance import Instance
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.tasks._yaml_loader import load_yaml

    package = importlib.util.find_spec("lm_eval")
    assert package is not None and package.origin is not None
    config = dict(load_yaml(Path(package.origin).parent / "tasks" / "gsm8k" / "gsm8k.yaml"))
    docs = [{"question": "", "answer": row["solution"]} for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        files = {split: str(Path(folder, f"{split}.jsonl")) for split in ("train", "test")}
        for file in files.values():
            Path(file).write_text("\n".join(map(json.dumps, docs[:9])), "utf-8")
        config |= {"dataset_path": "json", "dataset_name": None}
        task: Any = ConfigurableTask(config=config | {"dataset_kwargs": {"data_files": files}})
    task._instances = [Instance("generate_until", doc, ("", {}), 0, ("gsm8k", index, 1))
                       for index, doc in enumerate(docs)]  # fmt: skip
    for instance, row in zip(task._instances, rows, strict=True):
        instance.resps = [row["completion"]]
    task.apply_filters()
    for chain in task._filters:
        for instance in task._instances:
            task.process_results(instance.doc, [instance.filtered_resps[chain.name]])


def inspect_ai(rows: Sequence[Row]) -> None:
    """match(numeric=True)."""
    from inspect_ai.scorer import Target, match

    scorer: Any = match(numeric=True)

    async def all_rows() -> None:
        for row in rows:
            state = SimpleNamespace(output=SimpleNamespace(completion=row["completion"]))
            await scorer(state, Target([row["gold"]]))

    asyncio.run(all_rows())


PEERS: dict[str, Callable[[Sequence[Row]], None]] = {"lm_eval": lm_eval, "inspect_ai": inspect_ai}


# Here


def cpu_seconds(command: Sequence[str]) -> float:
    """Run a command and return the CPU seconds of the command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def recorded_rows(limit: int | None) -> list[Row]:
    """Return the recorded completions as plain rows."""
    from gradeschool.datasets.load import DATA_VARIABLE
    from gradeschool.formats.values import ReadOptions
    from gradeschool.scoring.sources import load_runs

    data = os.environ.get(DATA_VARIABLE)
    if data is None:
        raise SystemExit(f"set {DATA_VARIABLE} to the folder of the shared data")
    return [
        {"run": run.name, "id": sample.problem.id, "sample": sample.sample,
         "completion": sample.text, "gold": sample.problem.gold,
         "solution": sample.problem.solution}
        for file in sorted(Path(data, "completions").glob("*.jsonl"))
        for run in load_runs(file, ReadOptions(dataset="gsm8k"), lambda message: None)
        for sample in run.samples if sample.problem is not None
    ][:limit]  # fmt: skip


def main() -> None:
    """Time every command once per round, and print medians."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from tests.peers.install import missing, python_of

    parser = argparse.ArgumentParser(description="Time the command that scores.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, help="only the first of the rows")
    options = parser.parse_args()
    rows = recorded_rows(options.rows)
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for name, part in (("all", rows), ("part", rows[::EVERY]), ("one", rows[:1])):
            files[name] = str(Path(folder, f"{name}.jsonl"))
            Path(files[name]).write_text("".join(f"{json.dumps(row)}\n" for row in part), "utf-8")
        commands = {name: ((*SCORE, files["one"], *words), (*SCORE, files["all"], *words),
                           len(rows)) for name, words in OURS.items()}  # fmt: skip
        for peer in PEERS:
            if reason := missing(peer):
                print(f"left out: {reason}", file=sys.stderr)
                continue
            run = (str(python_of(peer)), __file__, peer)
            commands[peer] = ((*run, files["one"]), (*run, files["part"]), len(rows[::EVERY]))
        seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(options.rounds):
            for name, (start, whole, _) in commands.items():
                seconds[name].append((cpu_seconds(start), cpu_seconds(whole)))
    for name, times in seconds.items():
        start, whole = (median(each) for each in zip(*times, strict=True))
        number = commands[name][2]
        print(f"{name}: {number} rows, start {start:.2f} s, whole {whole:.2f} s, "
              f"{1e6 * (whole - start) / number:.1f} microseconds a row")  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in PEERS:
        lines = Path(sys.argv[2]).read_text("utf-8").split("\n")[:-1]
        PEERS[sys.argv[1]](list(map(json.loads, lines)))
    else:
        main()
