"""The verdicts of real scorers that lie beside the shared data, for every scorer that we have."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from gradeschool.protocols.registry import get_scorer
from tests.peers.shared_cases import shared_cases
from tests.peers.views import missing_extra, view
from tests.support.outcomes import judge_against

RAISED = "EXC"  # how the file writes that the real scorer raised
# A name in the file whose version was told wrong.
NAMES = {"inspect/match-numeric@>=0.3.253": "inspect/match-numeric@>=0.3.261"}
# The flags that OpenAI published with its example solutions: how many of 1,319 are right.
FLAGGED = {"6b_finetuning": 286, "6b_verification": 515, "175b_finetuning": 458}
FLAGGED["175b_verification"] = 742


@pytest.mark.slow
@pytest.mark.official
def test_shared_verdicts(data: Path) -> None:
    unequal = []
    for shared in shared_cases(data):
        for name, verdict in shared.verdicts.items():
            scorer = get_scorer(NAMES.get(name, name))
            if missing_extra(scorer):
                continue
            ours = view(scorer, shared.case.completion, shared.case.problem).verdict
            if ours != ("error" if verdict == RAISED else verdict):
                unequal.append((name, shared.case.name, ours, verdict))
    assert unequal == []


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
