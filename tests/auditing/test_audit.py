"""The audit of scorers as people write them, and of published ones."""

import ast
import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from gradeschool import AuditReport, answers_match, audit, get_scorer, parse_gsm8k_answer
from gradeschool.answers.numbers import parse_decimal
from gradeschool.auditing.audit import AuditedScorer, AuditFinding, Fault, check_names
from gradeschool.auditing.cases import BARE, FORMATS, HostileText, every_kind, kinds, rounds, suite
from gradeschool.cli.audit import print_audit
from gradeschool.errors import InputError, UnknownNameError
from gradeschool.integrations.rewards import Grader
from gradeschool.user_function import UserFunction
from tests.support import scorers
from tests.support.command import Command, run_script

LONGEST = 2_000  # characters of hostile texts here: what a test needs, no more


@cache
def audited(function: Callable[..., object] | str, longest: int = LONGEST) -> AuditReport:
    return audit(function, longest=longest)


@cache
def published(scorer: str) -> AuditReport:
    return audit(get_scorer(scorer), longest=LONGEST)


def finding_named(report: AuditReport, name: str) -> AuditFinding:
    """The finding of that name; the names that there are where it is missing."""
    findings = {finding.name: finding for finding in report.findings}
    assert name in findings, [*findings]
    return findings[name]


@pytest.mark.slow
def test_a_suffix_comparison_that_needs_the_main_thread() -> None:
    report = audited(scorers.by_alarm)
    suffix = finding_named(report, "false-accept/suffix")
    assert (suffix.completion, suffix.gold, suffix.got) == ("11", "1", "True")
    assert suffix.failed == suffix.tried > 100
    assert len(report.read) == len(FORMATS)
    assert not {"prefix", "five significant digits"} & {finding.kind for finding in report.findings}
    assert finding_named(report, "false-reject/thousands-commas").completion == "1,000"
    thread = finding_named(report, "crash/in-a-second-thread")
    assert "True, in a second thread ValueError: signal only works in main" in thread.got
    for finding in report.findings:  # the examples are real
        if finding.fault in (Fault.FALSE_ACCEPT, Fault.FALSE_REJECT):
            verdict = scorers.ends_with(finding.completion, finding.gold)
            assert verdict is (finding.fault is Fault.FALSE_ACCEPT)
            assert repr(verdict) == finding.got


@pytest.mark.slow
def test_a_comparison_of_floats() -> None:
    report = audited(scorers.as_floats)
    assert finding_named(report, "false-accept/float-precision").completion == "9007199254740993"
    crash = finding_named(report, "crash/IndexError")
    assert crash.completion == ""
    assert "list index out of range" in crash.got


@pytest.mark.slow
def test_a_scorer_that_runs_what_it_reads() -> None:
    report = audited(scorers.by_eval)
    assert finding_named(report, "false-accept/program").completion == "len('a')"
    assert finding_named(report, "crash/ZeroDivisionError").completion == "0/0"
    slow = finding_named(report, "slow/odd-number-'9**9**9'")
    assert "no answer within" in slow.got
    assert set(report.read) == {"#### N", "N"}


@pytest.mark.slow
def test_a_quadratic_regex_takes_too_long() -> None:
    report = audited(scorers.by_quadratic_regex, longest=10_000)
    slow = finding_named(report, "slow/open-boxes")
    assert slow.recipe.startswith("'\\\\boxed{' * ")
    assert len(slow.completion) <= 10_000
    assert report.read == (r"The result is $\boxed{N}$.",)


@pytest.mark.slow
def test_a_verdict_that_changes_and_one_that_is_no_number() -> None:
    changing = finding_named(audited(scorers.moody), "changing-verdict/asked-twice")
    assert changing.got in ("True, then False", "False, then True")
    odd = finding_named(audited(scorers.not_a_number), "odd-return/nan")
    assert odd.completion == "?"


@pytest.mark.slow
def test_a_right_answer_without_a_number_as_reward_is_rejected() -> None:
    report = audited(scorers.none_or_one)
    assert finding_named(report, "odd-return/[None]").tried > 1000
    commas = finding_named(report, "false-reject/thousands-commas")
    assert (commas.completion, commas.got) == ("A: 1,000", "[None]")


@pytest.mark.slow
def test_wrong_answers_at_the_threshold_are_counted() -> None:
    report = audited(scorers.half_for_the_form)
    accepted = sum(each.failed for each in report.of(Fault.FALSE_ACCEPT))
    above = audit(scorers.half_for_the_form, longest=LONGEST, threshold=0.75)
    still = sum(each.failed for each in above.of(Fault.FALSE_ACCEPT))
    assert report.at_threshold == accepted - still > 1000
    assert not above.at_threshold


def test_a_threshold_is_a_finite_number() -> None:
    with pytest.raises(InputError, match="the threshold is nan; give a number"):
        audit(scorers.ends_with, threshold=float("nan"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "name", "got"),
    [
        (scorers.by_the_first_gold, "changing-verdict", "[1.0, 0.0, 0.0]"),
        (scorers.of_those_with_a_number, "odd-return", "[1.0, 1.0]"),
    ],
)
def test_a_function_for_lists_judges_each_by_its_own_gold(
    function: Callable[..., object], name: str, got: str
) -> None:
    found = finding_named(audited(function), f"{name}/among-other-completions")
    assert (found.got, found.tried) == (f"[1.0], among other completions {got}", 9)
    kinds = {finding.kind for finding in audited(scorers.of_trl).findings}
    assert "among other completions" not in kinds


@pytest.mark.slow
def test_the_same_audit_has_the_same_findings() -> None:
    def without_times(report: AuditReport) -> list[AuditFinding]:
        return [finding for finding in report.findings if finding.fault is not Fault.SLOW]

    shown: list[tuple[int, int, int]] = []
    once = audited(scorers.contained)
    again = audit(scorers.contained, longest=LONGEST, show=lambda *counts: shown.append(counts))
    assert shown == sorted(shown)
    assert shown[-1] == (again.questions, again.questions, 0)
    kinds = {finding.kind for finding in once.of(Fault.FALSE_ACCEPT)}
    assert {"inside", "gold in the reasoning", "gold revised away", "cut off"} <= kinds
    assert without_times(once) == without_times(again)
    assert json.loads(json.dumps(once.to_json()))["scorer"] == "scorers.py:contained"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("scorers", "'scorers' does not name a function; give MODULE:FUNCTION"),
        ("no such:function", "'no such' is not a module name"),
        ("nowhere.py:function", "there is no file 'nowhere.py'"),
        ("nowhere_at_all:function", "No module named 'nowhere_at_all'"),
        ("tests.support.scorers:nothing", "has no attribute 'nothing'"),
        ("tests.support.scorers:not_callable", "not_callable is not callable"),
        ("tests.support.scorers:of_three", r"takes \(first, second, third\); wrap it"),
        ("tests.support.scorers:gold_first", r"takes \(gold, completion\), but the completion"),
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


KNOWN = [
    ("inspect/match-numeric@<=0.3.220", "false-accept/suffix", "11", "1"),
    ("inspect/match-numeric@>=0.3.261", "false-accept/five-significant-digits", "100001", "100000"),
    ("olmes/gsm8k-tulu", "false-accept/sign", "-1", "1"),
    ("opencompass/gsm8k", "false-reject/thousands-commas", "1,000", "1000"),
    ("opencompass/gsm8k", "false-accept/last-thousands-group", "2,001", "1"),
    ("multi-pattern", "crash/OverflowError", r"The result is $\boxed{inf}$.", "1"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("scorer", "name", "completion", "gold"), KNOWN)
def test_a_known_fault_has_an_example(scorer: str, name: str, completion: str, gold: str) -> None:
    finding = finding_named(published(scorer), name)
    assert (finding.completion, finding.gold) == (completion, gold)


@pytest.mark.slow
def test_our_own_scorer_takes_no_near_miss_and_never_raises() -> None:
    """What `gradeschool/parse-answer` gets wrong needs reading, not comparing."""
    report = published("gradeschool/parse-answer")
    assert not report.of(Fault.CRASH)
    assert not report.of(Fault.SLOW)
    accepted = {finding.kind for finding in report.of(Fault.FALSE_ACCEPT)}
    assert not accepted & {
        *("suffix", "prefix", "inside", "ten times", "a hundred times", "a thousand times"),
        *("one off", "one off a large number", "five significant digits", "float precision"),
        *("sign", "sign by unicode minus", "digits swapped", "decimal tail", "behind the point"),
        *("last thousands group", "first thousands group", "list of digits", "no number"),
    }


def finding(fault: Fault, kind: str, completion: str = "11") -> AuditFinding:
    return AuditFinding(fault, kind, "why", completion, "1", "True", 2, 5)


def test_what_is_allowed_does_not_count() -> None:
    ten = finding(Fault.FALSE_ACCEPT, "ten times")
    crash = finding(Fault.CRASH, "KeyError")
    report = AuditReport("mine", "f", (), (), 9, 0, (ten, crash))
    assert (ten.name, crash.name) == ("false-accept/ten-times", "crash/KeyError")
    assert report.counting() == (ten, crash)
    assert report.counting(allow=["false-accept/ten-times"]) == (crash,)
    assert report.counting(allow=["crash"]) == (ten,)


def test_names_that_an_allowance_may_have() -> None:
    check_names(["slow", "crash/AnyError", "false-reject/thousands-commas"])
    # Right answers are not accepted by mistake.
    for name in ("false-accept/thousands-commas", "false-reject/anything"):
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


def test_a_function_that_returns_the_answer_is_compared_with_the_gold() -> None:
    asked = AuditedScorer(UserFunction(scorers.last_word), 0.5, lambda *_: None)
    questions = [("it is 18", "18"), ("it is 19", "18"), ("", "18")]
    assert [asked.accepts(reply) for reply in asked.replies(questions)] == [True, False, False]
    asked.function.stop()


@pytest.mark.parametrize(("name", "is_gold"), [("near_misses", False), ("spellings", True)])
@settings(max_examples=25)
@given(gold=st.integers(-(10**12), 10**12).map(str))
def test_a_spelling_is_the_gold_and_a_near_miss_never(name: str, is_gold: bool, gold: str) -> None:
    """As far as Python's Decimal can read them."""
    for kind in kinds()[name]:
        for text in kind.texts(BARE, gold):
            number = parse_decimal(text.replace(",", "").replace("−", "-"))
            assert number is None or (number == Fraction(gold)) is is_gold, (kind.name, text)


def test_kinds_have_names_of_their_own_that_an_option_can_name() -> None:
    names = [kind.name for kind in every_kind()]
    assert len(set(names)) == len(names)
    assert all(name and "," not in name and "/" not in name for name in names)
    assert all(kind.why for kind in every_kind())


def test_every_kind_has_cases_and_no_case_is_both_right_and_wrong() -> None:
    cases = suite(7)
    assert {case.gold for case in cases} != {case.gold for case in suite(8)}
    assert {case.kind.name for case in cases} == {kind.name for kind in every_kind()}
    right = {(case.completion, case.gold) for case in cases if case.kind.right}
    assert not right & {(case.completion, case.gold) for case in cases if not case.kind.right}


def test_published_readings_confirm_the_plain_cases() -> None:
    """The mended multi-pattern reader gives the suite's verdict on plain and near-miss integers."""
    simple = {"plain", "suffix", "prefix", "ten times", "one off", "sign", "thousands commas"}
    simple |= {"five significant digits", "digits swapped", "zero decimals", "decimal tail"}
    for case in suite(3):
        if case.kind.name in simple:
            read = parse_gsm8k_answer(case.completion)
            same = read is not None and answers_match(read, case.gold)
            assert same is case.kind.right, case


def test_hostile_texts_are_what_their_recipes_say() -> None:
    for texts in rounds(300):
        for text in texts:
            assert ast.literal_eval(repr(text.text)) == text.text
            parts = text.recipe().split(" * ")
            assert len(parts) == 1 + (text.times > 1)
            assert len(text.text) < 500
    assert HostileText("", "ab", "<", ">", 3).text == "<ababab>"
    assert HostileText("", "ab", "<", ">", 3_000).recipe() == "'<' + 'ab' * 3_000 + '>'"


SHORT = ("--longest", "200")
ENDS_WITH = "tests.support.scorers:ends_with"
SUFFIX = AuditFinding(Fault.FALSE_ACCEPT, "suffix", "11 is not 1", "1\x1b[31m1", "1", "True", 40,
                      1200)  # fmt: skip
LONG = AuditFinding(Fault.SLOW, "digits", "a reader needs no second", "9" * 5000, "18",
                    "no answer within 0.5 s", 1, 3,
                    hostile=HostileText("digits", "9", times=5000))  # fmt: skip


@pytest.mark.slow
def test_a_scorer_with_faults_ends_with_1_and_an_example(gradeschool: Command) -> None:
    ended = gradeschool("audit", ENDS_WITH, *SHORT, columns=100)
    assert ended.status == 1
    assert ended.out.startswith(f"{ENDS_WITH}  f(completion, gold), the gold as text\n")
    assert "reads 15 of 15 formats" in ended.out
    assert re.search(r"\n suffix +([\d,]+) of \1 +'11' +1 ", ended.out)
    assert "false accept  wrong answers that pass" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 100
    assert all(" done" in line for line in ended.err.splitlines())  # progress, on a slow machine


@pytest.mark.slow
def test_a_scorer_as_json(gradeschool: Command) -> None:
    ended = gradeschool("audit", "--scorer", "openai/2021", *SHORT, "--json", "--seed", 5)
    assert ended.status == 1
    report = ended.json()
    assert report["scorer"] == "openai/2021"
    assert report["reads"] == ["#### N"]
    assert len(report["reads"]) + len(report["does_not_read"]) == 15
    assert report["seed"] == 5
    assert {finding["name"] for finding in report["findings"]} == set(report["counting"])
    period = next(
        finding for finding in report["findings"] if finding["name"] == "false-reject/period"
    )
    assert (period["completion"], period["gold"]) == ("#### 1.", "1")
    assert period["recipe"] == "'#### 1.'"


@pytest.mark.slow
def test_functions_of_files_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_helpers.py").write_text("def ends(text, tail): return text.endswith(tail)\n")
    (tmp_path / "my_rewards.py").write_text(
        "from my_helpers import ends\ndef score(completion, gold): return ends(completion, gold)\n"
    )
    monkeypatch.chdir(tmp_path)
    for function in ("my_rewards:score", "my_rewards.py:score"):
        ended = run_script("audit", function, *SHORT, "--json")
        assert ended.status == 1, ended.err
        names = {finding["name"] for finding in json.loads(ended.out)["findings"]}
        assert "false-accept/suffix" in names


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
    assert "'9' * 5_000" in text
    assert "no answer within 0.5 s" in text
    assert "a reader needs no second" not in text  # why is for verdicts
    assert len(text) < 2000


def test_an_audit_that_stopped_early_says_so() -> None:
    whole, stopped = report(), report(SUFFIX, gave_up=True)
    assert shown(whole).splitlines()[-1] == "clean: 2,345 questions, seed 7"
    assert "so often that the audit stopped early" in " ".join(shown(stopped, SUFFIX).split())


def test_a_function_goes_without_the_option_for_scorers(gradeschool: Command) -> None:
    refused = gradeschool("audit", "--scorer", "good.py:score")
    assert refused.status == 2
    assert refused.err.endswith("for a function: gradeschool audit good.py:score\n")
    with pytest.raises(InputError, match="a Grader takes the name of a published scorer"):
        Grader("good.py:score")


def test_wrong_answers_at_the_threshold_are_said() -> None:
    text = shown(replace(report(SUFFIX), threshold=0.5, at_threshold=40), SUFFIX)
    assert "40 wrong answers got exactly 0.5, the lowest score" in " ".join(text.split())
