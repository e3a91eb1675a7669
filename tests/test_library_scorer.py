"""The scorers that call Math-Verify or sympy in a child process: figures, extra, batches, verbs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from gradeschool import Problem, all_scorers, get_scorer, judge
from gradeschool.errors import MissingExtraError
from gradeschool.protocols import registry
from gradeschool.scoring.table import choose_scorers
from gradeschool.verdict import Outcome
from tests.peers.views import missing_extra
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.outcomes import FORMS, judge_against, outcomes_of

LIBRARY = [scorer for scorer in all_scorers().values() if scorer.extra]
NAMES = [scorer.name for scorer in LIBRARY if scorer.extra == "math-verify"]
needs_library = pytest.mark.skipif(
    bool(missing_extra(get_scorer("math-verify/default"))),
    reason="Math-Verify is not installed: pip install 'gradeschool[math-verify]'",
)
# scorer, then in the order of FORMS how many of the 1,319 problems are right: got by running the
# real scorers. Four golds of `lighteval/gsm8k` are wrong: see MISREAD.
FIGURES = """
evalscope/gsm8k                  1315 1319 1319 1319 1319   14    0    0    0
lighteval/gsm8k                  1319 1315 1315 1315 1315   14    0    0    0
lighteval/gsm8k-inspect          1312 1319 1319 1319 1305   14    0    0    0
math-verify/boxed-gold           1315 1319 1319 1319 1319   14    0    0    0
math-verify/default              1315 1319 1319 1319 1319   14    0    0    0
qwen2.5-math/gsm8k               1319 1319 1319 1319 1319   14   47    0 1319
trl/accuracy-reward                 0    0    0    0 1319    0    0    0    0
verifiers/gsm8k-v1               1319 1319 1319    0 1319   14    0    0    0
verifiers/math-rubric               0    0    0    0 1319    0    0    0    0
verifiers/math-rubric-lenient    1315 1319 1319    0 1319   14    0    0    0
"""
EXPECTED = {
    row.split()[0]: dict(zip(FORMS, map(int, row.split()[1:]), strict=True))
    for row in FIGURES.strip().split("\n")
}
# Long texts that are parsed as one formula: each of these takes five to twenty seconds.
SLOW = {
    "verifiers/gsm8k-v1": ("answer", "plus one", "one before"),
    "verifiers/math-rubric-lenient": ("solution", "answer", "plus one", "one before"),
}
# The solutions in which "answer" stands before a number that is not the gold.
MISREAD = (226, 258, 876, 1303)


def right_of(name: str, form: str, problems: Sequence[Problem]) -> list[int]:
    """Return the rows that a scorer takes for right when all problems are answered in a form."""
    scorer, write = get_scorer(name), FORMS[form]
    chosen = {
        row: (write(problem, int(problem.gold.replace(",", ""))), scorer.reference(problem))
        for row, problem in enumerate(problems)
        if form != "no comma" or "," in problem.gold
    }
    outcomes = outcomes_of(scorer, list(chosen.values()))
    return [row for row, out in zip(chosen, outcomes, strict=True) if out is Outcome.CORRECT]


@pytest.mark.slow
@pytest.mark.official
@needs_library
@pytest.mark.parametrize("name", EXPECTED)
def test_figures_of_the_real_scorers(name: str, gsm8k_test: Sequence[Problem]) -> None:
    quick = [form for form in FORMS if form not in SLOW.get(name, ())]
    right = {form: len(right_of(name, form, gsm8k_test)) for form in quick}
    assert right == {form: EXPECTED[name][form] for form in quick}


@pytest.mark.slow
@pytest.mark.official
@needs_library
def test_golds_that_lighteval_takes_out_of_the_reasoning(gsm8k_test: Sequence[Problem]) -> None:
    """Answered with the gold, four problems are unwinnable; a wrong number wins them."""
    scorer = get_scorer("lighteval/gsm8k")
    wrong = {226: "33.333", 258: "4", 876: "5", 1303: "28"}
    pairs = [(f"#### {p.gold}", f" {p.solution}") for p in gsm8k_test]
    outcomes = outcomes_of(scorer, pairs)
    missed = [row for row, outcome in enumerate(outcomes) if outcome is not Outcome.CORRECT]
    assert missed == list(MISREAD)
    assert all(scorer.judge(f"#### {wrong[row]}", gsm8k_test[row]).correct for row in MISREAD)


@needs_library
def test_many_at_once_have_the_verdicts_of_single_questions() -> None:
    scorer, again = get_scorer("math-verify/default"), get_scorer("math-verify/boxed-gold")
    pairs = [(f"\\boxed{{{number}}} or {number % 7}", "3") for number in range(300)]
    single = [judge_against(scorer, *pair).outcome for pair in pairs]
    assert outcomes_of(scorer, pairs) == single
    assert outcomes_of(again, pairs[::-1]) == single[::-1]


@needs_library
@pytest.mark.parametrize("name", NAMES)
def test_no_text_is_run_and_each_has_an_outcome(name: str, tmp_path: Path) -> None:
    """`parse_expr` runs Python; only digits and operators may reach it."""
    mark = tmp_path / "ran"
    code = f"__import__('pathlib').Path({str(mark)!r}).touch()"
    attacks = (code, f"The answer is {code}", f"\\boxed{{{code}}}", f"#### 1+{code}", f"x={code}")
    strange = ("", "\0#### 18\0", "\ud800 #### 18 \udfff", "\u2028", "\\boxed{}", "\\boxed{,}")
    for text in (*attacks, *strange):
        verdict = judge(text, "18", scorer=name)
        assert verdict.outcome in Outcome
        if verdict.answer is not None and verdict.answer.span is not None:
            start, end = verdict.answer.span
            assert text[start:end] == verdict.answer.text
    assert not mark.exists()


def without(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the optional library look uninstalled."""
    monkeypatch.setattr(registry, "is_installed", lambda _: False)
    registry.get_usable_scorer.cache_clear()


def test_without_the_library_the_other_scorers_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch)
    assert not [scorer for scorer in choose_scorers(["all"]) if scorer.extra]
    for ask in (
        lambda: choose_scorers(["trl/accuracy-reward"]),
        lambda: judge("#### 18", 18, scorer="trl/accuracy-reward"),
    ):
        with pytest.raises(MissingExtraError, match=r"pip install 'gradeschool\[math-verify\]'"):
            ask()
    assert judge("#### 18", 18, scorer="openai/2021").correct


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """One completion."""
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"index": 0, "completion": "#### 600"}) + "\n", "utf-8")
    return path


def test_score_says_what_is_left_out(
    monkeypatch: pytest.MonkeyPatch, gradeschool: Command, file: Path
) -> None:
    without(monkeypatch)
    score = ("score", file, "-d", "sample", "--json")
    everything = gradeschool(*score, "--scorer", "all")
    assert everything.status == 0
    assert everything.err.count("not installed") == 1
    assert f"{len(LIBRARY)} scorers that call a library are not installed" in everything.err
    assert "pip install 'gradeschool[inspect-ai,math-verify]'" in everything.err
    assert "not installed" not in gradeschool(*score).err
    result = gradeschool(*score, "--scorer", "evalscope/gsm8k")
    assert result.status == 2
    assert "'evalscope/gsm8k' needs an extra: pip install" in result.err
