"""Check what is printed of an audit: formats, findings that count, allowed ones, a summary."""

from __future__ import annotations

from rich.console import Console

from gradeschool.auditing.audit import AuditFinding, AuditReport, Fault
from gradeschool.reports.audit import print_audit

SUFFIX = AuditFinding(Fault.FALSE_ACCEPT, "suffix", "11 is not 1", "1\x1b[31m1", "'1\\x1b[31m1'",
                      "1", "True", 40, 1200)  # fmt: skip
LONG = AuditFinding(Fault.SLOW, "digits", "a reader needs no second", "9" * 5000, "'9' * 5000",
                    "18", "no answer within 0.5 s", 1, 3)  # fmt: skip


def report(*findings: AuditFinding, gave_up: bool = False) -> AuditReport:
    shapes = tuple(f"Answer {index}: N" for index in range(9))
    return AuditReport("mine", "f(text)", ("#### N",), shapes, 2345, 7, findings, gave_up)


def shown(audited: AuditReport, *counting: AuditFinding, width: int = 100) -> str:
    console = Console(width=width, record=True)
    print_audit(audited, counting, console)
    return console.export_text()


def test_findings_that_count_have_a_row_and_others_are_named() -> None:
    text = shown(report(SUFFIX, LONG), SUFFIX)
    assert "false accept  wrong answers that pass: 1 kind" in text
    assert "40 of 1,200" in text
    assert "'1\\x1b[31m1'" in text
    assert "\x1b" not in text
    assert "slow  texts that take it too long: 0 kinds\nallowed: digits\n" in text
    assert text.splitlines()[-1] == "1 finding, 1 more allowed: 2,345 questions, seed 7"


def test_a_long_completion_is_shown_as_the_expression_that_builds_it() -> None:
    text = shown(report(LONG), LONG)
    assert "'9' * 5000" in text
    assert "no answer within 0.5 s" in text
    assert "a reader needs no second" not in text  # why is for verdicts
    assert len(text) < 2000


def test_an_audit_that_stopped_early_says_so() -> None:
    whole, stopped = report(), report(SUFFIX, gave_up=True)
    assert shown(whole).splitlines()[-1] == "clean: 2,345 questions, seed 7"
    assert "so often that the audit stopped early" in " ".join(shown(stopped, SUFFIX).split())
