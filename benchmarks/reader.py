"""The house reader: agreement with people, wrong answers near the gold, speed.

    python benchmarks/reader.py [--near 1000000]

Needs the shared data (GRADESCHOOL_DATA). Speed: every recorded completion, ours and the bare
last-number regex in turn, medians of five rounds of CPU time.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from gradeschool import Problem, all_scorers, load_gsm8k
from gradeschool.answers.extractor import extract_final_answer
from gradeschool.answers.quantities import same_answer
from gradeschool.scorer import Scorer
from gradeschool.verdict import Outcome

DATA = Path(os.environ.get("GRADESCHOOL_DATA") or "../shared/data")
SCORER = "gradeschool/reader"
LAST_NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")
ROUNDS = 5
PLACES = (
    "#### {}", "#### ${}", "\\boxed{{{}}}", "The answer is {}.", "The final answer is {} dollars.",
    "ANSWER: {}", "**Answer:** {}", "<answer>{}</answer>", "A: {}", "{}", "So she has {} left.",
    "Therefore, it takes {} hours.", "9 * 2 = {}", "In total she pays **${}**.",
)  # fmt: skip


def rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSONL file."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def completions(problems: list[Problem]) -> list[tuple[str, Problem]]:
    """Return every recorded completion with its problem."""
    paths = sorted((DATA / "completions").glob("*.jsonl"))
    return [(row["completion"], problems[row["index"]]) for path in paths for row in rows(path)]


def agreement(problems: list[Problem]) -> None:
    """Print how often each scorer's verdict is that of the people who read the completion."""
    cases = rows(DATA / "adjudicated.jsonl")
    files = {name: rows(DATA / "completions" / name) for name in {case["file"] for case in cases}}
    agree: dict[str, Counter[str]] = {}
    size = Counter(case["stratum"] for case in cases)
    for name, scorer in all_scorers().items():
        if scorer.extra:
            continue
        agree[name] = Counter()
        for case in cases:
            text, problem = files[case["file"]][case["line"]]["completion"], problems[case["index"]]
            people = case["answer"] is not None and same_answer(case["answer"], case["gold"])
            agree[name][case["stratum"]] += scorer.judge(text, problem).correct == people
    print("agreement with people: verdicts where scorers disagree (230), controls (40)")
    for name, counts in sorted(agree.items(), key=lambda item: -item[1]["disagree"]):
        shares = [counts[kind] / size[kind] for kind in ("disagree", "control")]
        print(f"  {shares[0]:8.1%} {shares[1]:8.1%}  {name}")


def near_misses(gold: str) -> Iterator[str]:
    """Yield wrong answers near a gold: suffix, prefix, scale, one off, sign, swapped digits."""
    number = int(gold.replace(",", ""))
    digits = str(abs(number))
    yield from (f"{number + by}" for by in (-100, -10, -2, -1, 1, 2, 10, 100))
    yield from (f"{first}{digits}" for first in (1, 2, 7, 9))
    yield from (f"{number}{last}" for last in (*range(10), "00", "000", ".5", ".25", ".01", ".001"))
    yield from (f"0.{digits}", f"3.{digits}", f"{number}/7", f"{number}e3", f"{number}:30")
    yield from (f"{number:,},000", f"1,{digits:0>3}", f"{number} million", f"{number}^2")
    yield str(-number)
    for at in range(len(digits) - 1):
        yield digits[:at] + digits[at + 1] + digits[at] + digits[at + 2 :]


def false_accepts(problems: list[Problem], many: int) -> None:
    """Print how many wrong answers near the gold pass."""
    scorer = all_scorers()[SCORER]
    asked = (
        (place.format(miss), problem)
        for problem in problems
        for miss in near_misses(problem.gold)
        if not same_answer(miss, problem.gold.replace(",", "")) and miss.lstrip("-")[:1]
        for place in PLACES
    )
    asked = ((text, problem) for text, problem in asked if not spells(text, problem.gold))
    tried = Counter(
        scorer.judge_against(text, scorer.reference(problem)).outcome
        for text, problem in islice(asked, many)
    )
    print(f"wrong answers near the gold: {tried.total():,}, accepted {tried[Outcome.CORRECT]:,}")


def spells(text: str, gold: str) -> bool:
    """Tell whether a made text holds the gold itself ("10" swapped is "01", zero has no sign)."""
    numbers = [found.replace(",", "") for found in re.findall(r"[-\d.,/:e^]+", text)]
    return any(re.fullmatch(rf"-?0*{gold.replace(',', '').lstrip('-')}", one) for one in numbers)


def passes(scorer: Scorer, text: str, problem: Problem) -> bool:
    """Tell whether a scorer calls a completion correct."""
    return scorer.judge_against(text, scorer.reference(problem)).outcome is Outcome.CORRECT


def against_scorers(pairs: list[tuple[str, Problem]]) -> None:
    """Print where the reader and each scorer differ over the recorded completions."""
    ours = all_scorers()[SCORER]
    right = [
        ours.judge_against(text, ours.reference(problem)).outcome is Outcome.CORRECT
        for text, problem in pairs
    ]
    print(f"{len(pairs):,} recorded completions: only the reader accepts, only the scorer accepts")
    for name, scorer in all_scorers().items():
        if scorer.extra or name == SCORER:
            continue
        theirs = [passes(scorer, *pair) for pair in pairs]
        only = Counter(zip(right, theirs, strict=True))
        print(f"  {only[True, False]:7,} {only[False, True]:7,}  {name}")


def cpu(work: Callable[[], object]) -> float:
    """Return the CPU seconds of a piece of work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def speed(pairs: list[tuple[str, Problem]]) -> None:
    """Print the time of a reading beside that of the bare regex."""
    texts = [(text, problem.question) for text, problem in pairs]
    took: dict[str, list[float]] = {"the bare last-number regex": [], "the reader": []}
    for _ in range(ROUNDS):
        took["the bare last-number regex"].append(
            cpu(lambda: [LAST_NUMBER.findall(text)[-1:] for text, _ in texts])
        )
        took["the reader"].append(cpu(lambda: [extract_final_answer(*pair) for pair in texts]))
    bare, ours = (statistics.median(seconds) / len(texts) * 1e6 for seconds in took.values())
    print(f"a completion: the bare last-number regex {bare:.1f} us, the reader {ours:.1f} us")
    print(f"ratio {ours / bare:.2f}; {1e6 / ours:,.0f} completions a CPU-second")


def main() -> None:
    """Run all four parts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--near", type=int, default=1_000_000)
    near = parser.parse_args().near
    problems = list(load_gsm8k("test"))
    pairs = completions(problems)
    agreement(problems)
    false_accepts(problems + list(load_gsm8k("train")), near)
    against_scorers(pairs)
    speed(pairs)


if __name__ == "__main__":
    main()
