"""The scorers that call Math-Verify or sympy in a child process: figures, extra, batches, verbs."""

import json
from pathlib import Path

import pytest

from gradeschool import all_scorers, get_scorer, judge
from gradeschool.errors import MissingExtraError
from gradeschool.protocols import registry
from gradeschool.scorer import Outcome
from gradeschool.scoring.table import choose_scorers
from tests.peers.views import missing_extra
from tests.support.command import Command
from tests.support.outcomes import judge_against, outcomes_of

LIBRARY = [scorer for scorer in all_scorers().values() if scorer.extra]
NAMES = [scorer.name for scorer in LIBRARY if scorer.extra == "math-verify"]
needs_library = pytest.mark.skipif(
    bool(missing_extra(get_scorer("math-verify/default"))),
    reason="Math-Verify is not installed: pip install 'gradeschool[math-verify]'",
)


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


def test_score_says_what_is_left_out(gradeschool: Command, file: Path) -> None:
    without(gradeschool.monkeypatch)
    score = ("score", file, "-d", "sample", "--json")
    everything = gradeschool.done(*score, "--scorer", "all")
    assert everything.err.count("not installed") == 1
    assert f"{len(LIBRARY)} scorers that call a library are not installed" in everything.err
    assert "pip install 'gradeschool[inspect-ai,math-verify]'" in everything.err
    assert "not installed" not in gradeschool(*score).err
    said = gradeschool.refused(*score, "--scorer", "evalscope/gsm8k")
    assert "'evalscope/gsm8k' needs an extra: pip install" in said
