"""How fast completions are scored: each rule alone, all rules together, a bare `re` beside them.

    python benchmarks/scoring.py [--repeats 5] [--mix-rows 9000] [RULE ...]

Two corpora, from GRADESCHOOL_DATA: the solutions that OpenAI published, their last lines rewritten
to "#### N" so that every rule finds an answer, five times over (26,380 rows, 280 characters each);
and a mix of all 28 recorded runs, each row once (long, boxed, run-on, code). Everything is timed in
turn, in seconds of CPU of one core; the median of the repeats is printed.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from gradeschool.datasets.files import DATA_VARIABLE
from gradeschool.problem import Problem
from gradeschool.rule import Rule
from gradeschool.scoring.collect import Run, Sample
from gradeschool.scoring.load import choose_rules, load_runs
from gradeschool.scoring.score import score_run

OFFICIAL = re.compile(r"#### (\-?[0-9\.\,]+)")
COPIES = 5
Row = tuple[str, Problem]


def bare(rows: Sequence[Row]) -> int:
    """Count right answers as the shortest script would: the official search and a comparison."""
    golds = {id(problem): problem.gold.replace(",", "") for _, problem in rows}
    right = 0
    for text, problem in rows:
        found = OFFICIAL.search(text)
        right += found is not None and found.group(1).replace(",", "") == golds[id(problem)]
    return right


def alone(rule: Rule, rows: Sequence[Row]) -> int:
    """Count right answers by one rule, without anything that `score` does to be faster."""
    references = {id(problem): rule.reference(problem) for _, problem in rows}
    return sum(rule.outcome(text, references[id(problem)]) == "correct" for text, problem in rows)


def together(rules: Sequence[Rule], rows: Sequence[Row]) -> int:
    """Score by all rules as `gradeschool score` does."""
    samples = [Sample(problem, at, text, "", at) for at, (text, problem) in enumerate(rows)]
    return score_run(Run("run", samples), rules).n


def corpora(folder: Path, mix_rows: int) -> dict[str, list[Row]]:
    rows = {
        path.stem: [
            (sample.text, sample.problem)
            for run in load_runs(path, "gsm8k", lambda _: None)
            for sample in run.samples
            if sample.problem is not None
        ]
        for path in sorted(folder.glob("*.jsonl"))
    }
    published = [(text.replace("\nA: ", "\n#### "), gold) for text, gold in rows["openai_example"]]
    every = [row for file in rows.values() for row in file]
    step = max(1, len(every) // mix_rows)
    return {"published": published * COPIES, "mix": every[::step]}


def timed(work: Callable[[], int]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def medians(works: dict[str, Callable[[], int]], repeats: int) -> dict[str, float]:
    """Return the median seconds of each work, done in turn."""
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            seconds[name].append(timed(work))
    return {name: median(found) for name, found in seconds.items()}


def main() -> None:
    import os

    parser = argparse.ArgumentParser(description="Time the scoring of completions.")
    parser.add_argument("rules", nargs="*", metavar="RULE")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--mix-rows", type=int, default=9000)
    options = parser.parse_args()
    data = os.environ.get(DATA_VARIABLE)
    if data is None:
        raise SystemExit(f"set {DATA_VARIABLE} to the folder of the shared data")
    rules = choose_rules(options.rules)
    for name, rows in corpora(Path(data) / "completions", options.mix_rows).items():
        works: dict[str, Callable[[], int]] = {"bare re": lambda rows=rows: bare(rows)}
        for rule in rules:
            works[rule.name] = lambda rule=rule, rows=rows: alone(rule, rows)
        works[f"{len(rules)} rules together"] = lambda rows=rows: together(rules, rows)
        seconds = medians(works, options.repeats)
        length = sum(len(text) for text, _ in rows) / len(rows)
        print(f"{name}: {len(rows)} completions, {length:.0f} characters each")
        print(f"  {'completions/s':>13}  {'us each':>8}  {'of bare re':>10}")
        for work, taken in seconds.items():
            each = 1e6 * taken / len(rows)
            ratio = seconds["bare re"] / taken
            print(f"  {len(rows) / taken:13,.0f}  {each:8.2f}  {ratio:10.3f}  {work}", flush=True)
        alone_sum = sum(seconds[rule.name] for rule in rules)
        whole = seconds[f"{len(rules)} rules together"]
        print(f"  together {alone_sum / whole:.1f} times as fast as one after the other")


if __name__ == "__main__":
    main()
