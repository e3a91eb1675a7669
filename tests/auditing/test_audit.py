"""The audit's suite, and the audit of scorers as people write them."""

import json
import random
from collections.abc import Callable
from functools import cache

import pytest

import gradeschool
from gradeschool import AuditReport, audit
from gradeschool.auditing.cases import FORMATS
from gradeschool.auditing.report import AuditFinding, Fault
from gradeschool.auditing.suite import every_kind, suite
from gradeschool.errors import InputError
from tests.support import scorers

LONGEST = 2_000  # characters of hostile texts here: what a test needs, no more


@cache
def audited(function: Callable[..., object] | str, longest: int = LONGEST) -> AuditReport:
    return audit(function, longest=longest)


def finding_named(report: AuditReport, name: str) -> AuditFinding:
    """The finding of that name; the names that there are where it is missing."""
    findings = {finding.name: finding for finding in report.findings}
    assert name in findings, [*findings]
    return findings[name]


# The suite


def test_the_suite_is_the_same_for_a_seed_and_another_for_another() -> None:
    assert suite(7) == suite(7)
    assert {case.gold for case in suite(7)} != {case.gold for case in suite(8)}


def test_kinds_have_names_of_their_own_that_an_option_can_name() -> None:
    names = [kind.name for kind in every_kind()]
    assert len(set(names)) == len(names)
    assert all(name and "," not in name and "/" not in name for name in names)
    assert all(kind.why for kind in every_kind())


def test_every_kind_has_cases_and_no_case_is_both_right_and_wrong() -> None:
    cases = suite(0)
    assert {case.kind.name for case in cases} == {kind.name for kind in every_kind()}
    right = {(case.completion, case.gold) for case in cases if case.kind.right}
    wrong = {(case.completion, case.gold) for case in cases if not case.kind.right}
    assert not right & wrong


def test_published_readings_confirm_the_plain_cases() -> None:
    """The mended multi-pattern reader gives the suite's verdict on plain and near-miss integers."""
    simple = {"plain", "suffix", "prefix", "ten times", "one off", "sign", "thousands commas"}
    simple |= {"five significant digits", "digits swapped", "zero decimals", "decimal tail"}
    for case in suite(3):
        if case.kind.name in simple:
            read = gradeschool.parse_gsm8k_answer(case.completion)
            same = read is not None and gradeschool.answers_match(read, case.gold)
            assert same is case.kind.right, case


# What it finds


def test_a_suffix_comparison() -> None:
    report = audited(scorers.ends_with)
    suffix = finding_named(report, "false-accept/suffix")
    assert (suffix.completion, suffix.gold, suffix.got) == ("11", "1", "True")
    assert suffix.failed == suffix.tried > 100
    assert len(report.read) == len(FORMATS)
    assert not {"prefix", "five significant digits"} & {finding.kind for finding in report.findings}
    assert finding_named(report, "false-reject/thousands-commas").completion == "1,000"


def test_a_comparison_of_floats() -> None:
    report = audited(scorers.as_floats)
    assert finding_named(report, "false-accept/float-precision").completion == "9007199254740993"
    crash = finding_named(report, "crash/IndexError")
    assert crash.completion == ""
    assert "list index out of range" in crash.got


def test_a_scorer_that_runs_what_it_reads() -> None:
    report = audited(scorers.by_eval)
    assert finding_named(report, "false-accept/program").completion == "len('a')"
    assert finding_named(report, "crash/ZeroDivisionError").completion == "0/0"
    slow = finding_named(report, "slow/odd-number-'9**9**9'")
    assert "no answer within" in slow.got
    assert set(report.read) == {"#### N", "N"}


def test_a_gold_that_only_occurs() -> None:
    report = audited(scorers.contained)
    kinds = {finding.kind for finding in report.of(Fault.FALSE_ACCEPT)}
    assert {"inside", "gold in the reasoning", "gold revised away", "cut off"} <= kinds


def test_a_quadratic_regex_takes_too_long() -> None:
    report = audited(scorers.by_quadratic_regex, longest=10_000)
    slow = finding_named(report, "slow/open-boxes")
    assert slow.recipe.startswith("'\\\\boxed{' * ")
    assert len(slow.completion) <= 10_000
    assert report.read == (r"The result is $\boxed{N}$.",)


def test_a_verdict_that_changes_and_one_that_is_no_number() -> None:
    changing = finding_named(audited(scorers.moody), "changing-verdict/asked-twice")
    assert changing.got in ("True, then False", "False, then True")
    odd = finding_named(audited(scorers.not_a_number), "odd-return/nan")
    assert odd.completion == "?"


def test_a_scorer_that_ends_its_process() -> None:
    (crash,) = audited(scorers.exits).of(Fault.CRASH)
    assert "exit status 3" in crash.got
    assert crash.recipe == "'9' * 50"


def test_the_same_audit_has_the_same_findings() -> None:
    def without_times(report: AuditReport) -> list[AuditFinding]:
        return [finding for finding in report.findings if finding.fault is not Fault.SLOW]

    once, again = audited(scorers.contained), audit(scorers.contained, longest=LONGEST)
    assert without_times(once) == without_times(again)
    assert json.loads(json.dumps(once.to_json()))["scorer"] == "tests.support.scorers:contained"


def test_findings_are_real() -> None:
    """Every example of a verdict, given to the function itself, has the reported verdict."""
    for finding in audited(scorers.ends_with).findings:
        if finding.fault in (Fault.FALSE_ACCEPT, Fault.FALSE_REJECT):
            verdict = scorers.ends_with(finding.completion, finding.gold)
            assert verdict is (finding.fault is Fault.FALSE_ACCEPT)
            assert repr(verdict) == finding.got


# What can be audited


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("scorers", "'scorers' does not name a function; give MODULE:FUNCTION"),
        ("no such:function", "'no such' is not a module name"),
        ("nowhere.py:function", "there is no file 'nowhere.py'"),
        ("nowhere_at_all:function", "No module named 'nowhere_at_all'"),
        ("tests.support.scorers:nothing", "has no attribute 'nothing'"),
        ("tests.support.scorers:not_callable", "not_callable is not callable"),
        (
            "tests.support.scorers:of_three",
            r"takes \(first, second, third\); wrap it in a function",
        ),
        ("tests.support.scorers:never", "accepts no right answer in any of 15 formats"),
        ("tests.support.scorers:raises", "it raises RuntimeError: out of order"),
    ],
)
def test_what_cannot_be_audited_is_said(function: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        audited(function)


def test_a_function_that_no_other_process_finds_is_refused() -> None:
    def inner(completion: str, gold: str) -> bool:
        return True

    for function in (inner, lambda completion, gold: True, random.Random(0).choice):
        with pytest.raises(InputError, match="cannot be imported by another process"):
            audited(function)
