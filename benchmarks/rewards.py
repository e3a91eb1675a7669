"""Measure the reward on hostile texts, and those of Math-Verify and verl, in turn.

    python benchmarks/rewards.py [--items 10000] [--peer-items 100] [--threads 16] [--processes 2]

No text states its gold, so every acceptance is wrong. Gradeschool's runs in the main thread, from
threads and from processes; Math-Verify (.venvs/evalscope) and verl (.venvs/verl, its GSM8K score,
strict and flexible) in their own environments, in the main thread and from threads. Times are CPU
seconds of the thread that did the work, for each item.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
SEED = 20261121
Row = tuple[str, str]
Judge = Callable[[str, str], bool]


class Timed(NamedTuple):
    """One item: CPU seconds, whether it was accepted, the exception's name or ""."""

    seconds: float
    accepted: bool
    error: str


# Families of hostile texts; each gets a random source and the gold, and never states the gold.


def near_miss(rng: random.Random, gold: int) -> str:
    wrong = rng.choice(
        [
            f"{rng.randint(1, 9)}{gold}",
            f"{gold}{rng.randint(0, 9)}",
            f"-{gold}",
            f"{gold}.5",
            f"{gold + 1}",
            f"{gold}e3",
            f"{gold},{rng.randint(100, 999)}",
            f"{gold}/7",
            f"0.{gold}",
            f"{gold + 1} (not {gold})",
        ]
    )
    return rng.choice(
        ["#### {}", "ANSWER: {}", r"\boxed{{{}}}", "The answer is {}.", "so {}"]
    ).format(wrong)


def repeated(rng: random.Random, gold: int) -> str:
    piece = rng.choice(
        [
            r"\boxed{",
            "####",
            "answer is ",
            "{",
            "}",
            "<<1+1=",
            "$",
            r"\frac{",
            "3,",
            "1.",
            "-",
            "=",
            "**",
            "(",
            "answer:",
            "</think>",
            "Question:",
            " ",
            "\n",
            r"\text{",
            "9 ",
            "1/",
            "^",
            "٣",
            "#",
            "Answer: $",
            "= 7 = ",
            "_{",
        ]
    )
    return piece * rng.randint(1, 20_000 // len(piece))


def huge(rng: random.Random, gold: int) -> str:
    digits = "".join(rng.choices("123456789", k=rng.choice([400, 5_000, 15_000])))
    return rng.choice(
        [
            "#### {}",
            "{}",
            r"\boxed{{{}}}",
            "9{}e999999999",
            "1e{}",
            "{0}/{0}3",
            r"\frac{{{0}}}{{3{0}}}",
            "{0}^{0}",
            "0.{}",
        ]
    ).format(digits)


def noise(rng: random.Random, gold: int) -> str:
    pool = [
        "\x00",
        "\ud800",
        "\u202e",
        "𝟜",
        "٣",
        "½",
        "∞",
        "−",
        "nan",
        "inf",
        "####",
        "\\boxed{",
        "}",
        "answer",
        ":",
        "is",
        "3",
        "6",
        ",",
        ".",
        "e",
        "$",
        "\n",
        " ",
        "²",
        "Ⅷ",
        "一",
        "<think>",
    ]
    return "".join(rng.choices(pool, k=rng.randint(0, 400)))


def symbolic(rng: random.Random, gold: int) -> str:
    inner = rng.choice(
        [
            "9^{9^{9^{9}}}",
            "\\sqrt{" * 200,
            "(" * 300 + "x" + ")" * 300,
            "x^{99999}",
            "\\int_0^1 x dx",
            "\\sum_{i=1}^{10^9} i",
            "1+" * 1500 + "x",
            "100!!!!",
        ]
    )
    return f"So it is $\\boxed{{{inner}}}$."


FAMILIES = (near_miss, repeated, huge, noise, symbolic)
GOLDS = (11, 49, 18, 1250, 131_250, 5_555, 42)  # `repeated` and `noise` cannot spell them


def hostile(count: int) -> list[Row]:
    """Return texts with golds that they do not state, the same in every run."""
    rng = random.Random(SEED)
    rows = []
    for index in range(count):
        gold = rng.choice(GOLDS)
        rows.append((FAMILIES[index % len(FAMILIES)](rng, gold), str(gold)))
    return rows


# The judges.


def ours() -> Judge:
    from gradeschool.integrations.rewards import Grader

    grader = Grader()

    def judge(text: str, gold: str) -> bool:
        return bool(grader.grade(text, gold).value)

    return judge


def math_verify() -> Judge:
    """Return Math-Verify as documented: its timeouts use signals, which need the main thread."""
    from math_verify import parse, verify

    return lambda text, gold: bool(verify(parse(gold), parse(text)))


def verl(method: str) -> Judge:
    from verl.utils.reward_score.gsm8k import compute_score

    return lambda text, gold: bool(compute_score(text, gold, method=method))


JUDGES: dict[str, Callable[[], Judge]] = {
    "gradeschool": ours,
    "Math-Verify": math_verify,
    "verl strict": partial(verl, "strict"),
    "verl flexible": partial(verl, "flexible"),
}
HOMES = {"Math-Verify": "evalscope", "verl strict": "verl", "verl flexible": "verl"}
_made: dict[str, Judge] = {}


def judge_row(name: str, row: Row) -> Timed:
    """Judge one row; exceptions are counted, not hidden."""
    if name not in _made:
        _made[name] = JUDGES[name]()
        _made[name]("#### 1", "1")
    start = time.thread_time()
    try:
        accepted, error = _made[name](*row), ""
    except Exception as raised:  # noqa: BLE001  (what is raised is the finding)
        accepted, error = False, type(raised).__name__
    return Timed(time.thread_time() - start, accepted, error)


def pooled(name: str, rows: list[Row], pool: Executor | None) -> list[Timed]:
    work = partial(judge_row, name)
    if pool is None:
        return [work(row) for row in rows]
    with pool:
        return list(pool.map(work, rows, chunksize=16))


def line(name: str, how: str, verdicts: list[Timed]) -> str:
    seconds = [item.seconds for item in verdicts]
    errors = sum(bool(item.error) for item in verdicts)
    kinds = ", ".join(sorted({item.error for item in verdicts if item.error}))
    accepted = sum(item.accepted for item in verdicts)
    return (
        f"{name:14} {how:12} {len(verdicts):6} {1e6 * median(seconds):10.1f} "
        f"{1e3 * max(seconds):10.2f} {sum(seconds):9.2f} {accepted:9} {errors:7} {kinds}"
    )


def measure(name: str, rows: list[Row], threads: int, processes: int) -> None:
    """Print a line for the main thread, for threads and, if requested, for processes."""
    print(line(name, "main thread", pooled(name, rows, None)), flush=True)
    in_threads = pooled(name, rows, ThreadPoolExecutor(threads))
    print(line(name, f"{threads} threads", in_threads), flush=True)
    if processes:
        in_processes = pooled(name, rows, ProcessPoolExecutor(processes))
        print(line(name, f"{processes} processes", in_processes), flush=True)


def measure_peer(name: str, rows: list[Row], threads: int) -> None:
    """Measure a peer with its own interpreter."""
    python = ROOT / ".venvs" / HOMES[name] / "bin" / "python"
    if not python.exists():
        print(f"{name}: not installed; run `python tests/peers/install.py {HOMES[name]}`")
        return
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(rows, file)
        file.flush()
        command: list[Any] = [python, __file__, "--only", name, "--rows", file.name]
        subprocess.run([*command, "--threads", str(threads)], check=True, stderr=subprocess.DEVNULL)


def main() -> None:
    parser = argparse.ArgumentParser(description="Rewards on hostile texts.")
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--peer-items", type=int, default=100)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", choices=JUDGES)
    parser.add_argument("--rows", type=Path)
    options = parser.parse_args()
    if options.rows:
        rows = [tuple(row) for row in json.loads(options.rows.read_text("utf-8"))]
        measure(options.only, rows, options.threads, 0)
        return
    rows = hostile(options.items)
    print(
        f"{'reward':14} {'from':12} {'items':>6} {'median us':>10} {'worst ms':>10} "
        f"{'CPU s':>9} {'accepted':>9} {'raised':>7}"
    )
    measure("gradeschool", rows, options.threads, options.processes)
    for name in HOMES:
        measure_peer(name, rows[: options.peer_items], options.threads)
    print(line("gradeschool", "the same", pooled("gradeschool", rows[: options.peer_items], None)))


if __name__ == "__main__":
    main()
