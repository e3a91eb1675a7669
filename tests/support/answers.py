"""A file of five answers on which scorers differ."""

from pathlib import Path

from gradeschool.scoring.table import choose_scorers
from tests.support.files import jsonl

SAMPLE = ("-d", "sample")
TWO = ("openai/2021", "lm-eval/gsm8k/flexible-extract")
SCORERS = tuple(part for name in TWO for part in ("--scorer", name))
USUAL = [scorer.name for scorer in choose_scorers([])]
# Golds of the sample problems 0, 29 and 2 are 600, 13 and 0.
TEXTS = ["#### 600", "It is 13", "#### 5 in row 0", "no idea", "so\n#### 13."]
INDEXES = [0, 29, 2, 3, 29]


def answers(folder: Path, *runs: str, name: str = "answers.jsonl") -> Path:
    rows = [
        {"index": index, "completion": text, "sample": sample, **({"run": run} if run else {})}
        for run in runs or ("",)
        for sample, (index, text) in enumerate(zip(INDEXES, TEXTS, strict=True))
    ]
    return jsonl(folder / name, rows)
