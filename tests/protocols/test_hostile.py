"""Every scorer on hostile texts: it ends, in time linear in the length, with an outcome.

GRADESCHOOL_HOSTILE=10000000 makes the texts longer (characters; minutes at 10 million).
"""

import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool import Outcome, Problem, all_scorers, judge
from gradeschool.errors import InputError
from gradeschool.scorer import Scorer
from tests.support.outcomes import judge_against

LENGTH = int(os.environ.get("GRADESCHOOL_HOSTILE") or 100_000)
PROBE = 10_000
MEASURABLE = 0.004
TRIES = 5
LARGEST_RATIO = 8  # of the times at two lengths, one four times the other: quadratic gives 16

UNITS = (
    "9", "\\boxed{", "\\boxed{5} ", ",", "1,", "1.5", "5 ", "####", "#### ", "$", "$5 ", " ",
    "\n", "The answer is ", "the final answer is: ", "ANSWER: ", "\nA: ", "Question:", "-",
    "\u2212", ".", "{", "{}", "\\", "\\frac{", "=5", "5%", "\ud8001\udfff ", "\xb2", "5\xb2 ",
    "\xbd", "\u4e00\u4e8c\u4e09", "\u4e07\u5343\u767e\u5341", "\u0663", "<think>", "\x00", "a",
    "\u200d", "\u200d1 ", "**1**", "answer is: ", "eggs, 5 ",
)  # fmt: skip
# Ends that let a long run of one unit almost match before it fails.
ENDS = ("", "x", " x 5", "}", "\n", "####", "5.")
GOLD = Problem.from_gold("18")


def distinct_scorers() -> list[Scorer]:
    """Scorers with a reader of their own; those that call a library have a time limit instead."""
    own = {scorer.extract: scorer for scorer in all_scorers().values() if not scorer.extra}
    return sorted(own.values(), key=lambda scorer: scorer.name)


SCORERS = distinct_scorers()


def hostile(unit: str, length: int, end: str = "") -> str:
    return (unit * (length // len(unit) + 1))[: length - len(end)] + end


def cost(scorer: Scorer, text: str) -> float:
    """Judge a text and return the seconds of CPU it took: a busy machine disturbs them little."""
    reference = scorer.reference(GOLD)
    start = time.process_time()
    outcome = judge_against(scorer, text, reference).outcome
    seconds = time.process_time() - start
    assert isinstance(outcome, Outcome)
    return seconds


@pytest.mark.slow
@pytest.mark.parametrize("scorer", SCORERS, ids=lambda scorer: scorer.name)
def test_a_scorer_is_linear(scorer: Scorer) -> None:
    """On its dearest text four times the length takes about four times the time: not sixteen.

    The least of several tries of each, taken in turn, for the machine does other things too.
    """
    runs = [(unit, end) for unit in UNITS for end in ENDS]
    dearest = max(runs, key=lambda run: cost(scorer, hostile(run[0], PROBE, run[1])))
    short, long = (hostile(dearest[0], size, dearest[1]) for size in (LENGTH // 4, LENGTH))
    least = [float("inf"), float("inf")]
    for _ in range(TRIES):
        least = [min(least[0], cost(scorer, short)), min(least[1], cost(scorer, long))]
        if least[1] < max(LARGEST_RATIO * least[0], MEASURABLE):
            return
    pytest.fail(f"{least[1] / least[0]:.1f} times the time on {dearest!r}")


@pytest.mark.slow
@pytest.mark.parametrize("name", [scorer.name for scorer in all_scorers().values() if scorer.extra])
def test_a_scorer_that_calls_a_library_ends(name: str) -> None:
    """It is bounded by time; on short hostile texts it has an outcome and never raises."""
    scorer = all_scorers()[name]
    pytest.importorskip(scorer.extra.replace("-", "_"), reason=f"needs the extra {scorer.extra!r}")
    for unit in UNITS:
        assert cost(scorer, hostile(unit, 300)) < 60


PIECES = st.sampled_from([*UNITS, *ENDS, "18", "-", "inf", "nan", "1e999", "1_000", "\u2028"])
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=30).map("".join))


@given(text=TEXTS)
def test_any_text_has_an_outcome(text: str) -> None:
    """No text makes a scorer raise; verdict and outcome agree, and a span lies in the text."""
    for scorer in SCORERS:
        verdict = scorer.judge(text, GOLD)
        assert verdict.outcome is judge_against(scorer, text, scorer.reference(GOLD)).outcome
        assert len(verdict.reason) < 400
        if verdict.answer is not None and verdict.answer.span is not None:
            start, end = verdict.answer.span
            assert 0 <= start <= end <= len(text)


@given(gold=st.one_of(TEXTS, st.integers()))
def test_any_gold_gives_a_verdict_or_a_message(gold: str | int) -> None:
    """A gold that cannot be used is an InputError, in every scorer, and nothing else."""
    for scorer in SCORERS:
        try:
            verdict = judge("#### 18", gold, scorer=scorer.name)
        except InputError:
            continue
        assert isinstance(verdict.outcome, Outcome)
