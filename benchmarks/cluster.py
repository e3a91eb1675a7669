"""Measure the scoring of millions of rows, in local processes and on a local Ray, in turn.

    python benchmarks/cluster.py [--rows N] [--jobs N] [--python FILE] [SCORER ...]

Real completions, repeated with other sample numbers, are written as Parquet files (once, into
--folder). Prints rows per second, CPU seconds, the peak memory of all processes together
(proportional set size, so that shared pages count once) and whether the scores are equal. --python
is the interpreter that has ray, `.venvs/ray` of `tests/peers/install.py ray` by default. Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as arrow
from pyarrow import parquet

from gradeschool.datasets.files import DATA_VARIABLE

REPOSITORY = Path(__file__).resolve().parents[1]
RAY = REPOSITORY / ".venvs" / "ray" / "bin" / "python"
COLUMNS = ("model", "index", "sample", "completion")
PART = 250_000  # rows per file
ROW_GROUP = 50_000
WATCH_SECONDS = 0.5


class Measurement(NamedTuple):
    """One run: wall and CPU seconds, peak memory in MB, and what it printed."""

    wall: float
    cpu: float
    memory: float
    runs: Any


def corpus(folder: Path) -> arrow.Table:
    rows = []
    for path in sorted(folder.glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            rows += [json.loads(line) for line in lines]
    return arrow.Table.from_pylist([{name: row.get(name) for name in COLUMNS} for row in rows])


def make(rows: int, folder: Path, base: arrow.Table) -> None:
    """Write files that repeat the corpus, each time with new sample numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    column = base.schema.names.index("sample")
    step = 1 + max(base.column("sample").to_pylist())
    for part, start in enumerate(range(0, rows, PART)):
        path = folder / f"part-{part:05d}.parquet"
        if path.exists():
            continue
        places = range(start, min(start + PART, rows))
        table = base.take(arrow.array([place % base.num_rows for place in places]))
        old = table.column("sample").to_pylist()
        new = [step * (place // base.num_rows) + number
               for place, number in zip(places, old, strict=True)]  # fmt: skip
        table = table.set_column(column, "sample", arrow.array(new))
        written = path.with_suffix(".partial")
        parquet.write_table(table, written, compression="zstd", row_group_size=ROW_GROUP)
        written.rename(path)


def measure(python: Path | str, words: Sequence[object]) -> Measurement:
    environment = os.environ | {
        "PYTHONPATH": str(REPOSITORY / "src"),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    command = [python, "-m", "gradeschool", "score", *map(str, words), "--json"]
    start, cpu = time.monotonic(), children_cpu()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=out, stderr=errors, env=environment)
        peak, cpu_used = 0.0, 0.0
        while process.poll() is None:
            memory, seconds = tree(process.pid)
            peak, cpu_used = max(peak, memory), max(cpu_used, seconds)
            time.sleep(WATCH_SECONDS)
        if process.returncode not in (0, 3):
            errors.seek(0)
            raise SystemExit(errors.read().decode())
        out.seek(0)
        runs = json.load(out)["runs"]
    wall = time.monotonic() - start
    return Measurement(wall, max(children_cpu() - cpu, cpu_used), peak, runs)


def children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def tree(root: int) -> tuple[float, float]:
    """Return the memory (MB) and the CPU seconds of a process and all its descendants.

    Ray's driver does not wait for its processes: their seconds are only visible here.
    """
    children: defaultdict[int, list[int]] = defaultdict(list)
    seconds: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children[int(fields[1])].append(int(entry.name))
            seconds[int(entry.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    memory, used, waiting = 0.0, 0.0, [root]
    while waiting:
        pid = waiting.pop()
        waiting += children[pid]
        used += seconds.get(pid, 0)
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        memory += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
    return memory, used


def main() -> None:
    parser = argparse.ArgumentParser(description="Score millions of rows here and on Ray.")
    parser.add_argument("scorers", nargs="*", metavar="SCORER")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--python", type=Path, default=RAY)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    data = os.environ.get(DATA_VARIABLE)
    if data is None:
        raise SystemExit(f"set {DATA_VARIABLE} to the folder of the shared data")
    default_folder = Path(tempfile.gettempdir()) / "gradeschool-cluster"
    folder = (options.folder or default_folder) / str(options.rows)
    make(options.rows, folder, corpus(Path(data) / "completions"))
    size = sum(path.stat().st_size for path in folder.glob("*.parquet")) / 2**20
    print(f"{options.rows:,} rows in {size:,.0f} MB of Parquet", flush=True)
    scorers = ["--scorer", *options.scorers] if options.scorers else []
    arguments = [folder / "*.parquet", *scorers]
    runs = {"ray": [*arguments, "--engine", "ray"]}
    runs |= {f"local, {jobs} process(es)": [*arguments, "--jobs", jobs] for jobs in options.jobs}
    print(f"{'':24}{'rows/s':>10}{'wall s':>9}{'CPU s':>9}{'us CPU/row':>12}{'peak MB':>10}")
    baseline = None
    for name, words in runs.items():
        result = measure(options.python, words)
        baseline = baseline or result
        equal = (
            ""
            if result is baseline
            else "  equal"
            if result.runs == baseline.runs
            else "  DIFFERENT"
        )
        print(
            f"{name:24}{options.rows / result.wall:10,.0f}{result.wall:9.1f}{result.cpu:9.1f}"
            f"{1e6 * result.cpu / options.rows:12.1f}{result.memory:10,.0f}{equal}",
            flush=True,
        )


if __name__ == "__main__":
    main()
