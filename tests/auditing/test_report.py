"""Check what a report of an audit counts, allows and writes as JSON."""

from collections.abc import Callable
from functools import cache

import pytest

from gradeschool import AuditReport, audit
from gradeschool.auditing.report import AuditFinding, Fault, check_names
from gradeschool.errors import UnknownNameError
from tests.support import scorers

LONGEST = 2_000  # characters of hostile texts here: what a test needs, no more


@cache
def audited(function: Callable[..., object] | str, longest: int = LONGEST) -> AuditReport:
    return audit(function, longest=longest)


def test_allowed_findings_do_not_count() -> None:
    report = audited(scorers.contained)
    every = {finding.fault.value for finding in report.findings}
    assert report.counting(every) == ()
    assert len(report.counting(["false-accept/suffix"])) == len(report.findings) - 1
    assert not report.clean
    with pytest.raises(UnknownNameError, match="did you mean false-accept/suffix"):
        report.counting(["false-accept/sufix"])


def finding(fault: Fault, kind: str, completion: str = "11") -> AuditFinding:
    return AuditFinding(fault, kind, "why", completion, repr(completion), "1", "True", 2, 5)


def test_a_finding_is_named_by_its_class_and_kind_in_one_word() -> None:
    ten = finding(Fault.FALSE_ACCEPT, "ten times")
    crash = finding(Fault.CRASH, "KeyError")
    report = AuditReport("mine", "f", (), (), 9, 0, (ten, crash))
    assert (ten.name, crash.name) == ("false-accept/ten-times", "crash/KeyError")
    assert report.of(Fault.CRASH) == (crash,)
    assert report.counting([]) == (ten, crash)
    assert report.counting(["false-accept/ten-times"]) == (crash,)
    assert report.counting(["crash"]) == (ten,)


@pytest.mark.parametrize(
    ("name", "is_known"),
    [
        ("slow", True),
        ("crash/AnyError", True),
        ("odd-return/nan", True),
        ("false-reject/thousands-commas", True),
        ("false-accept/thousands-commas", False),  # right answers are not accepted by mistake
        ("false-reject/anything", False),
        ("fast", False),
    ],
)
def test_names_of_exceptions_are_free_and_those_of_kinds_are_not(name: str, is_known: bool) -> None:
    if is_known:
        check_names([name])
    else:
        with pytest.raises(UnknownNameError, match=f"is called '{name}'"):
            check_names([name])


def test_json_gives_a_long_completion_by_its_recipe_alone() -> None:
    short, long = (finding(Fault.SLOW, "digits", "9" * length) for length in (2000, 2001))
    assert (short.to_json()["completion"], long.to_json()["completion"]) == ("9" * 2000, None)
    assert long.to_json()["recipe"] == repr("9" * 2001)
    fields = AuditReport("mine", "f", ("N",), ("#### N",), 9, 3, (long,), gave_up=True).to_json()
    assert fields["findings"] == [long.to_json()]
    assert (fields["reads"], fields["does_not_read"]) == (["N"], ["#### N"])
    assert (fields["clean"], fields["gave_up"], fields["seed"]) == (False, True, 3)
