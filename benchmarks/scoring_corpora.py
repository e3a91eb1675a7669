"""The completions that the scoring benchmarks read, from GRADESCHOOL_DATA."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from gradeschool.datasets.files import DATA_VARIABLE
from gradeschool.problem import Problem
from gradeschool.scoring.load import load_runs

COPIES = 25


class Corpus(NamedTuple):
    """Completions with their problems, and what they are in words."""

    name: str
    about: str
    rows: list[tuple[str, Problem]]

    @property
    def bytes(self) -> int:
        """Return the length of all texts."""
        return sum(len(text.encode("utf-8", "surrogatepass")) for text, _ in self.rows)


def corpora(chosen: list[str]) -> list[Corpus]:
    """Return the chosen corpora; SystemExit where there is no data."""
    data = os.environ.get(DATA_VARIABLE)
    if data is None:
        raise SystemExit(f"set {DATA_VARIABLE} to the folder of the shared data")
    files = sorted(Path(data, "completions").glob("*.jsonl"))
    read = {file.stem: _rows(file) for file in files if "mix" in chosen or "openai" in file.stem}
    # The published solutions end in "A: N"; so that every scorer finds an answer, in "#### N".
    hashed = [(text.replace("\nA: ", "\n#### "), gold) for text, gold in read["openai_example"]]
    made = [
        Corpus(
            "hashes",
            "1,319 problems x 100: the 5,276 published solutions, their answer behind '####', "
            f"{COPIES} times; each text repeats {COPIES} times",
            # Equal texts, but objects of their own, as a file would give them.
            [("".join((text, " "))[:-1], gold) for _ in range(COPIES) for text, gold in hashed],
        ),
        Corpus(
            "distinct",
            "the same, each copy with a number before its first word; no text repeats",
            [(f"{copy}. {text}", gold) for copy in range(COPIES) for text, gold in hashed],
        ),
        Corpus(
            "mix",
            "all recorded completions, each once: boxed, 'the answer is', code, run-on, reasoning",
            [row for rows in read.values() for row in rows],
        ),
    ]
    return [corpus for corpus in made if corpus.name in chosen]


def _rows(file: Path) -> list[tuple[str, Problem]]:
    runs = load_runs(file, "gsm8k", lambda _: None)
    samples = (sample for run in runs for sample in run.samples)
    return [(sample.text, sample.problem) for sample in samples if sample.problem is not None]
