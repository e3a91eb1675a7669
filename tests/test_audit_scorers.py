"""The audit finds, unaided, what is known to be wrong with published scorers."""

from collections.abc import Iterator
from functools import cache

import pytest

from gradeschool import AuditReport, audit, get_scorer
from gradeschool.auditing.report import Fault, Finding

LONGEST = 10_000


@cache
def audited(scorer: str, longest: int = LONGEST) -> AuditReport:
    return audit(get_scorer(scorer), longest=longest)


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Iterator[list[tuple[str, Finding]]]:
    """Findings whose smallest examples are printed at the end of the test."""
    found: list[tuple[str, Finding]] = []
    yield found
    with capsys.disabled():
        for scorer, one in found:
            print(f"\n{scorer}, {one.name}: {one.recipe} for gold {one.gold!r}: {one.got[:70]}")


KNOWN = {
    "suffix": ("inspect/match-numeric@<=0.3.220", "false-accept/suffix", "11", "1"),
    "five digits": (
        "inspect/match-numeric@>=0.3.253",
        "false-accept/five-significant-digits",
        "100001",
        "100000",
    ),
    "sign": ("olmes/gsm8k-tulu", "false-accept/sign", "-1", "1"),
    "comma": ("opencompass/gsm8k", "false-reject/thousands-commas", "1,000", "1000"),
    "comma, accepted": (
        "opencompass/gsm8k",
        "false-accept/last-thousands-group",
        "2,001",
        "1",
    ),
    "10,000 digits": (
        "multi-pattern",
        "crash/OverflowError-on-long-texts",
        "9" * 309,
        "18",
    ),
}


@pytest.mark.parametrize("known", KNOWN)
def test_a_known_fault_is_found_with_its_smallest_example(
    known: str, shown: list[tuple[str, Finding]]
) -> None:
    scorer, name, completion, gold = KNOWN[known]
    (one,) = [one for one in audited(scorer).findings if one.name == name]
    shown.append((scorer, one))
    assert (one.completion, one.gold) == (completion, gold)
    assert one.failed > 0


@pytest.mark.slow
def test_a_hundred_times_the_gold_is_accepted(shown: list[tuple[str, Finding]]) -> None:
    pytest.importorskip("math_verify", reason="the scorer needs the extra 'math-verify'")
    scorer = "qwen2.5-math/gsm8k"
    (one,) = [
        one for one in audited(scorer, 10).findings if one.name == "false-accept/a-hundred-times"
    ]
    shown.append((scorer, one))
    assert {len(one.completion), len(one.gold)} == {1, 3}
    assert {one.completion, one.gold} == {"1", "100"}


def test_our_own_scorer_takes_no_near_miss_and_never_raises() -> None:
    """What `gradeschool/parse-answer` gets wrong needs reading, not comparing."""
    report = audited("gradeschool/parse-answer")
    assert not report.of(Fault.CRASH)
    assert not report.of(Fault.SLOW)
    accepted = {one.kind for one in report.of(Fault.FALSE_ACCEPT)}
    assert not accepted & {
        *("suffix", "prefix", "inside", "ten times", "a hundred times", "a thousand times"),
        *("one off", "one off a large number", "five significant digits", "float precision"),
        *("sign", "sign by unicode minus", "digits swapped", "decimal tail", "behind the point"),
        *("last thousands group", "first thousands group", "list of digits", "no number"),
    }


def test_a_strict_scorer_is_held_to_the_formats_that_it_reads() -> None:
    report = audited("openai/2021")
    assert report.read == ("#### N",)
    assert all(one.shapes == ("#### N",) for one in report.of(Fault.FALSE_REJECT))
