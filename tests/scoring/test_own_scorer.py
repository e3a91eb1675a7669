"""A function of one's own that misbehaves: one line each, the other rows and scorers unharmed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import Command

MODULE = """
import os, sys, time

def last(completion, gold):
    if "hang" in completion:
        time.sleep(60)
    if "raise" in completion:
        raise KeyError("no such key")
    if "nan" in completion:
        return float("nan")
    if "float" in completion:
        return float(completion.split()[-1])
    if "print" in completion:
        print("noise", file=sys.stdout)
        print("noise", file=sys.stderr)
        os.write(1, b"noise")
    if "fork" in completion and os.fork() == 0:
        time.sleep(60)
        os._exit(0)
    return completion.split()[-1]
"""
KINDS = ("plain", "hang", "raise", "nan", "print", "fork", "float", "plain again")
FAILED = {"hang", "raise", "nan", "float"}


@pytest.mark.slow
def test_a_scorer_that_misbehaves_harms_no_other_row(
    gradeschool: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gradeschool.worker.USER_WALL_SECONDS", 1)
    Path("mine.py").write_text(MODULE)
    rows = [
        {"question": f"{kind}: what is 5 + {row}?", "completion": f"{kind}: it is {5 + row}",
         "gold": str(5 + row)} for row, kind in enumerate(KINDS)
    ]  # fmt: skip
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    names = ("mine.py:last", "gradeschool/reader")
    scored = gradeschool("score", "rows.jsonl", "--scorer", *names, "--json", "-o", "out.jsonl")
    assert scored.status == 3, scored.err
    own, reader = (scored.json()["runs"][0]["scorers"][name] for name in names)
    assert (reader["correct"], reader["error"]) == (len(KINDS), 0)
    assert (own["correct"], own["error"]) == (len(KINDS) - len(FAILED), len(FAILED))
    assert "noise" not in scored.out + scored.err
    shown = gradeschool("explain", "rows.jsonl", "--scorer", "mine.py:last").out.splitlines()
    assert [line.partition("the scorer fails: ")[2] for line in shown if line.startswith("A ")] == [
        "no answer within 1 s",
        "KeyError: 'no such key'",
        "returned nan; return a bool, a number or a text",
        "returned 11.0; a score is from -1 to 1: return the answer as a text",
    ]
