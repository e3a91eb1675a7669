"""Compare the speed of the command `gradeschool score` with harnesses on the same rows, in turn.

    python benchmarks/scoring.py [--rounds 3] [--rows N] [--json]

Every process is timed as a whole, from its start to the printed result, in CPU seconds (user and
system, including children), so that a busy machine disturbs little. The rows are the recorded
completions in GRADESCHOOL_DATA. Peers run in their own environments (`python
tests/peers/install.py`) with their own functions; peers that are not installed are named and left
out, and a slow peer such as lm-eval gets a part of the rows, evenly spread. "start" is the same
process with one row; microseconds per row exclude it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gradeschool.datasets.files import DATA_VARIABLE
from gradeschool.formats.samples import ReadOptions
from gradeschool.scoring.sources import load_runs
from tests.peers.install import missing, python_of

WORKER = Path(__file__).with_name("scoring_worker.py")
SCORE = (sys.executable, "-m", "gradeschool", "score")
ALL = "gradeschool score, all closed-form scorers"
LM_EVAL = "gradeschool score, lm-eval's two filters"
INSPECT = "gradeschool score, inspect's match"
OURS = {
    ALL: (),
    LM_EVAL: ("lm-eval/gsm8k/strict-match", "lm-eval/gsm8k/flexible-extract"),
    INSPECT: ("inspect/match-numeric@>=0.3.261",),
}


class PeerScorer(NamedTuple):
    """A peer's scorer, its environment, the corresponding scorer here, and its part of the rows."""

    scorer: str
    environment: str
    ours: str
    every: int


PEERS = (
    PeerScorer("lm_eval", "lm_eval", LM_EVAL, 4),
    PeerScorer("inspect", "inspect_ai", INSPECT, 4),
)


class Contestant(NamedTuple):
    """A command, the number of rows that it scores, and the same command for one row."""

    name: str
    command: Sequence[str]
    start: Sequence[str]
    rows: int


def cpu_seconds(command: Sequence[str]) -> float:
    """Run a command and return the CPU seconds of the command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def write_rows(folder: Path, limit: int | None) -> list[dict[str, Any]]:
    """Write the recorded completions as plain rows, return them."""
    data = os.environ.get(DATA_VARIABLE)
    if data is None:
        raise SystemExit(f"set {DATA_VARIABLE} to the folder of the shared data")
    runs = [
        run
        for file in sorted(Path(data, "completions").glob("*.jsonl"))
        for run in load_runs(file, ReadOptions(dataset="gsm8k"), lambda message: None)
    ]
    rows = [
        {
            "run": run.name,
            "id": sample.problem.id,
            "sample": sample.sample,
            "completion": sample.text,
            "gold": sample.problem.gold,
            "solution": sample.problem.solution,
        }
        for run in runs
        for sample in run.samples
        if sample.problem is not None
    ][:limit]
    for name, part in [("all", rows), ("one", rows[:1])] + [
        (peer.scorer, rows[:: peer.every]) for peer in PEERS
    ]:
        text = "".join(f"{json.dumps(row)}\n" for row in part)
        (folder / f"{name}.jsonl").write_text(text, "utf-8")
    return rows


def contestants(folder: Path, rows: int) -> list[Contestant]:
    """Return our commands and those of the installed peers."""
    all_rows, single_row = str(folder / "all.jsonl"), str(folder / "one.jsonl")
    ours = [
        Contestant(
            name,
            (*SCORE, all_rows, *(word for scorer in scorers for word in ("--scorer", scorer))),
            (*SCORE, single_row, *(word for scorer in scorers for word in ("--scorer", scorer))),
            rows,
        )
        for name, scorers in OURS.items()
    ]
    peers = []
    for peer in PEERS:
        if reason := missing(peer.environment):
            print(f"left out: {reason}", file=sys.stderr)
            continue
        worker = (str(python_of(peer.environment)), str(WORKER), peer.scorer)
        part = (*worker, str(folder / f"{peer.scorer}.jsonl"))
        peers.append(Contestant(peer.scorer, part, (*worker, single_row), -(-rows // peer.every)))
    return ours + peers


def main() -> None:
    """Time every command once per round, and print medians."""
    parser = argparse.ArgumentParser(description="Time the command that scores.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, help="only the first of the rows")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = len(write_rows(folder, options.rows))
        commands = contestants(folder, rows)
        seconds: dict[str, list[tuple[float, float]]] = {command.name: [] for command in commands}
        for _ in range(options.rounds):
            for command in commands:
                times = cpu_seconds(command.start), cpu_seconds(command.command)
                seconds[command.name].append(times)
    results = {}
    for command in commands:
        start = median(begin for begin, _ in seconds[command.name])
        whole = median(time for _, time in seconds[command.name])
        results[command.name] = {
            "rows": command.rows,
            "seconds": round(whole, 2),
            "start": round(start, 2),
            "microseconds_a_row": round(1e6 * (whole - start) / command.rows, 1),
        }
    for peer in PEERS:
        if peer.scorer in results:
            theirs = results[peer.scorer]["microseconds_a_row"]
            ratio = theirs / results[peer.ours]["microseconds_a_row"]
            results[peer.scorer]["times_ours"] = round(ratio, 1)
    if options.json:
        print(json.dumps(results, indent=1))
        return
    for name, result in results.items():
        print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in result.items()))


if __name__ == "__main__":
    main()
