"""The flags that OpenAI published with its example solutions."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from gradeschool.protocols.registry import get_scorer
from tests.support.outcomes import judge_against

# The flags that OpenAI published with its example solutions: how many of 1,319 are right.
FLAGGED = {"6b_finetuning": 286, "6b_verification": 515, "175b_finetuning": 458}
FLAGGED["175b_verification"] = 742


@pytest.mark.official
def test_published_flags_of_the_example_solutions(data: Path) -> None:
    scorer = get_scorer("openai/example-solutions")
    right: Counter[str] = Counter()
    rows = (data / "completions" / "openai_example.jsonl").read_text("utf-8").split("\n")[:-1]
    golds = [
        json.loads(line)["answer"].rpartition("#### ")[2].replace(",", "")
        for line in (data / "gsm8k" / "test.jsonl").read_text("utf-8").split("\n")[:-1]
    ]
    for line in rows:
        row = json.loads(line)
        verdict = judge_against(scorer, row["completion"], golds[row["index"]])
        assert verdict.correct == row["reported_correct"], (row["model"], row["index"])
        right[row["model"]] += verdict.correct
    assert right == FLAGGED
