"""Compiled kernels: the outcome of each scorer asked alone, or ASK; nothing else."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gradeschool.problem import Problem
from gradeschool.protocols.registry import all_scorers
from gradeschool.scoring import fast
from gradeschool.scoring.families import CODES
from gradeschool.scoring.matrix import Matrix
from tests.support.invented import GOLDS, invented

pytest.importorskip("numpy")
CLOSED = [scorer for scorer in all_scorers().values() if not scorer.extra]
ROOM = "gradeschool.scoring.compiled"
Told = Callable[[Sequence[str], Problem], list[bytes]]


def alone(text: str, problem: Problem) -> list[int]:
    return [CODES[scorer.judge(text, problem).outcome] for scorer in CLOSED]


def differences(told: Sequence[bytes], texts: Sequence[str], problem: Problem) -> list[str]:
    """Name what a kernel told wrong; how much it left to the scorers is not counted here."""
    place = Matrix(CLOSED).group_of
    return [
        f"{scorer.name}: {codes[at]}, not {code}, on {text!r} for {problem.gold!r}"
        for codes, text in zip(told, texts, strict=True)
        for scorer, at, code in zip(CLOSED, place, alone(text, problem), strict=True)
        if codes[at] not in (code, fast.NOT_TOLD)
    ]


def names() -> list[list[str]]:
    matrix = Matrix(CLOSED)
    found: list[list[str]] = [[] for _ in matrix.groups]
    for scorer, at in zip(CLOSED, matrix.group_of, strict=True):
        found[at].append(scorer.name)
    return found


@pytest.fixture(scope="module")
def plainly() -> Told:
    """The kernels as the plain functions that they are, without numba, on bytes and lists."""
    kept = {name: sys.modules.pop(name) for name in [*sys.modules] if name.startswith(ROOM)}
    numba = sys.modules.get("numba")
    sys.modules["numba"] = None  # type: ignore[assignment]
    try:
        from gradeschool.scoring.compiled.batch import Batches, Judge, stamped_judge
    finally:
        for name in [name for name in sys.modules if name.startswith(ROOM)]:
            del sys.modules[name]
        sys.modules.pop("numba")
        sys.modules |= kept | ({"numba": numba} if numba else {})

    def on_bytes(buf: Any, bounds: Any, problems: Any, plain: Any, refs: Any, *rest: Any) -> None:
        *tables, marks, word, line, codes = rest
        lists = [table.tolist() for table in tables]
        rooms = marks.tolist(), bytearray(word), bytearray(line)
        plainly_judge(
            bytes(buf),
            bounds.tolist(),
            problems.tolist(),
            plain,
            bytes(refs),
            *lists,
            *rooms,
            codes,
        )

    plainly_judge, kept_file = stamped_judge()
    assert kept_file is None
    batches = Batches(names(), Judge(on_bytes, None))

    def told(texts: Sequence[str], problem: Problem) -> list[bytes]:
        number = batches.add(Matrix(CLOSED)._asked(problem).references)
        return batches.codes(texts, [number] * len(texts))[0]

    return told


def test_every_kernel_is_of_a_scorer_that_exists(plainly: Told) -> None:
    from gradeschool.scoring.compiled.case import SCORERS

    assert {*SCORERS} <= {scorer.name for scorer in CLOSED}
    codes = plainly(["The answer is 18"], Problem.from_gold("18"))[0]
    untold = [of for of, code in zip(names(), codes, strict=True) if code == fast.NOT_TOLD]
    assert untold == [["gradeschool/reader"]]


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**9), gold=st.sampled_from(GOLDS))
@example(seed=0, gold="18")
def test_no_kernel_tells_another_outcome_than_its_scorer(
    plainly: Told, seed: int, gold: str
) -> None:
    texts = [invented(random.Random(seed + at)) for at in range(4)]
    problem = Problem.from_gold(gold)
    assert not differences(plainly(texts, problem), texts, problem)


def test_a_comma_behind_decimals_begins_another_number(plainly: Told) -> None:
    texts = ["5.180,18", " eggs.18'2.75181800,18=", "0.5,18,18", "5.5,18", "1,118.5"]
    assert not differences(plainly(texts, Problem.from_gold("18")), texts, Problem.from_gold("18"))


@pytest.mark.official
def test_kernels_agree_on_real_completions_and_leave_few_to_the_scorers(
    plainly: Told, data: Path, gsm8k_test: Sequence[Problem]
) -> None:
    asked = compared = 0
    for path in sorted((data / "completions").glob("*.jsonl")):
        with path.open(newline="\n") as lines:
            rows = [json.loads(line) for at, line in enumerate(lines) if at % 97 == 0]
        for row in rows:
            text, problem = row["completion"], gsm8k_test[row["index"]]
            told = plainly([text], problem)
            assert not differences(told, [text], problem)
            asked += told[0].count(fast.NOT_TOLD) - 1  # the reader has no kernel
            compared += len(told[0])
    assert compared > 300 * 35
    assert asked < compared / 50


def test_machine_code_tells_what_scorers_tell_also_when_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The only test that compiles: most of a minute where the machine code is not on disk."""
    pytest.importorskip("numba")
    monkeypatch.setattr(fast, "TO_LOAD", 0)
    monkeypatch.setattr(fast, "TO_COMPILE", 0)
    problems = [Problem(gold, "?", gold, f"#### {gold}") for gold in GOLDS]
    pairs = [(invented(random.Random(seed)), problem) for seed in range(60) for problem in problems]
    matrix, slow = Matrix(CLOSED), Matrix(CLOSED)
    wanted = [slow.codes(*pair) for pair in pairs]
    half = len(pairs) // 2
    assert matrix.codes_of(pairs[:half]) == wanted[:half]
    assert matrix._batches is not None
    assert matrix.codes_of(pairs) == wanted
