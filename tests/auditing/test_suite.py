"""The audit finds, unaided, what is known to be wrong with published scorers."""

from collections.abc import Iterator
from functools import cache

import pytest

from gradeschool import AuditReport, audit, get_scorer
from gradeschool.auditing.report import AuditFinding, Fault

LONGEST = 10_000


@cache
def audited(scorer: str, longest: int = LONGEST) -> AuditReport:
    return audit(get_scorer(scorer), longest=longest)


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Iterator[list[tuple[str, AuditFinding]]]:
    """Findings whose smallest examples are printed at the end of the test."""
    findings: list[tuple[str, AuditFinding]] = []
    yield findings
    with capsys.disabled():
        for scorer, finding in findings:
            print(f"\n{scorer}, {finding.name}: {finding.recipe}", end="")
            print(f" for gold {finding.gold!r}: {finding.got[:70]}")


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


@pytest.mark.parametrize("case", KNOWN)
def test_a_known_fault_is_found_with_its_smallest_example(
    case: str, shown: list[tuple[str, AuditFinding]]
) -> None:
    scorer, name, completion, gold = KNOWN[case]
    (finding,) = [other for other in audited(scorer).findings if other.name == name]
    shown.append((scorer, finding))
    assert (finding.completion, finding.gold) == (completion, gold)
    assert finding.failed > 0


@pytest.mark.slow
def test_a_hundred_times_the_gold_is_accepted(shown: list[tuple[str, AuditFinding]]) -> None:
    pytest.importorskip("math_verify", reason="the scorer needs the extra 'math-verify'")
    scorer = "qwen2.5-math/gsm8k"
    (finding,) = [
        other
        for other in audited(scorer, 10).findings
        if other.name == "false-accept/a-hundred-times"
    ]
    shown.append((scorer, finding))
    assert {len(finding.completion), len(finding.gold)} == {1, 3}
    assert {finding.completion, finding.gold} == {"1", "100"}


def test_our_own_scorer_takes_no_near_miss_and_never_raises() -> None:
    """What `gradeschool/parse-answer` gets wrong needs reading, not comparing."""
    report = audited("gradeschool/parse-answer")
    assert not report.of(Fault.CRASH)
    assert not report.of(Fault.SLOW)
    accepted = {finding.kind for finding in report.of(Fault.FALSE_ACCEPT)}
    assert not accepted & {
        *("suffix", "prefix", "inside", "ten times", "a hundred times", "a thousand times"),
        *("one off", "one off a large number", "five significant digits", "float precision"),
        *("sign", "sign by unicode minus", "digits swapped", "decimal tail", "behind the point"),
        *("last thousands group", "first thousands group", "list of digits", "no number"),
    }


def test_a_strict_scorer_is_held_to_the_formats_that_it_reads() -> None:
    report = audited("openai/2021")
    assert report.read == ("#### N",)
    assert all(finding.shapes == ("#### N",) for finding in report.of(Fault.FALSE_REJECT))
