"""The audit's suite, and the audit of scorers as people write them."""

import ast
import json
import os
import random
import time
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradeschool
from gradeschool import AuditReport, audit
from gradeschool.answers.numbers import parse_decimal
from gradeschool.auditing.calling import AuditedScorer, Question
from gradeschool.auditing.cases import BARE, COMMAS, FORMATS, equal, golds, grouped, plus, times
from gradeschool.auditing.hostile import HostileText, rounds
from gradeschool.auditing.report import AuditFinding, Fault
from gradeschool.auditing.suite import NEAR_MISSES, SPELLINGS, every_kind, suite
from gradeschool.auditing.target import Call, calls_of, target_of
from gradeschool.errors import InputError, UnknownNameError
from tests.support import scorers

LONGEST = 2_000  # characters of hostile texts here: what a test needs, no more
WHOLE = st.integers(-(10**12), 10**12).map(str)


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


@given(gold=WHOLE)
def test_a_number_near_the_gold_is_never_the_gold(gold: str) -> None:
    """What Python's Decimal can read of the near misses is another number."""
    for kind in NEAR_MISSES:
        for text in kind.texts(BARE, gold):
            number = parse_decimal(text.replace(",", "").replace("−", "-"))
            assert number is None or number != Fraction(gold), (kind.name, text)


@given(gold=WHOLE)
def test_another_spelling_of_the_gold_is_the_gold(gold: str) -> None:
    for kind in SPELLINGS:
        for text in kind.texts(BARE, gold):
            number = parse_decimal(text.replace(",", "").replace("−", "-"))
            assert number is None or number == Fraction(gold), (kind.name, text)


def test_published_readings_confirm_the_plain_cases() -> None:
    """The mended multi-pattern reader gives the suite's verdict on plain and near-miss integers."""
    simple = {"plain", "suffix", "prefix", "ten times", "one off", "sign", "thousands commas"}
    simple |= {"five significant digits", "digits swapped", "zero decimals", "decimal tail"}
    for case in suite(3):
        if case.kind.name in simple:
            read = gradeschool.parse_gsm8k_answer(case.completion)
            same = read is not None and gradeschool.answers_match(read, case.gold)
            assert same is case.kind.right, case


@given(number=WHOLE, term=st.integers(-9, 9))
def test_numbers_are_written_exactly(number: str, term: int) -> None:
    assert Fraction(times(number, "0.01")) == Fraction(number) / 100
    assert Fraction(times(number, "1000")) == Fraction(number) * 1000
    assert int(plus(number, term)) == int(number) + term
    assert grouped(number).replace(",", "") == str(int(number))
    assert equal(grouped(number), f"{number}.00")


def test_golds_with_commas_and_drawn_golds_are_numbers() -> None:
    assert all(gold.lstrip("-").isdigit() for seed in range(20) for gold in golds(seed))
    assert all(grouped(gold.replace(",", "")) == gold for gold in COMMAS)


def test_a_style_writes_the_number_at_its_place_alone() -> None:
    for form in FORMATS:
        assert form.write("18").count("18") == 1
        assert form.write(r"\1\g<0>").count(r"\1\g<0>") == 1
        assert form.write("18").replace("18", "N") == form.shape


def test_hostile_texts_are_what_their_recipes_say() -> None:
    for texts in rounds(300):
        for text in texts:
            assert ast.literal_eval(repr(text.text)) == text.text
            parts = text.recipe().split(" * ")
            assert len(parts) == 1 + (text.times > 1)
            assert len(text.text) < 500
    assert HostileText("", "ab", "<", ">", 3).text == "<ababab>"
    assert HostileText("", "ab", "<", ">", 3_000).recipe() == "'<' + 'ab' * 3_000 + '>'"


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


@pytest.mark.parametrize(
    ("function", "call"),
    [
        (scorers.by_solution, "f(completion, gold), the gold as a whole solution with '#### N'"),
        (scorers.by_number, "f(completion, gold), the gold as a number"),
        (scorers.of_trl, "f(completions=[messages], answer=[gold]), the gold as text"),
        (scorers.of_verl, "f(data_source=, solution_str=, ground_truth=, extra_info=), the gold"),
        (scorers.later, "f(completion, gold), the gold as text"),
        (scorers.Graders.by_end, "f(completion, gold), the gold as text"),
        (scorers.noisy, "f(completion, gold), the gold as text"),
    ],
)
def test_the_way_of_calling_is_found_out(function: Callable[..., object], call: str) -> None:
    with AuditedScorer(target_of(function), 0.5) as scorer:
        from gradeschool.auditing.audit import _formats_read, _in_words

        assert "#### N" in _formats_read(scorer)
        assert _in_words(scorer.call, scorer.target).startswith(call)


def test_a_verdict_that_changes_and_one_that_is_no_number() -> None:
    changing = finding_named(audited(scorers.moody), "changing-verdict/asked-twice")
    assert changing.got in ("True, then False", "False, then True")
    odd = finding_named(audited(scorers.not_a_number), "odd-return/nan")
    assert odd.completion == "?"


def test_a_scorer_that_ends_its_process() -> None:
    (crash,) = audited(scorers.exits).of(Fault.CRASH)
    assert "exit status 3" in crash.got
    assert crash.recipe == "'9' * 50"


@pytest.mark.parametrize(
    ("function", "message"),
    [(scorers.sleeps, "no answer within 20 s"), (scorers.dies, "exit status -")],
)
def test_a_scorer_that_is_stopped_is_asked_on(
    function: Callable[..., object], message: str
) -> None:
    with AuditedScorer(target_of(function), 0.5) as scorer:
        stopped, following = scorer.replies(
            [Question(scorers.LONG_RUN, "18"), Question("#### 18", "18")]
        )
    assert message in stopped.raised
    assert stopped.hung is (function is scorers.sleeps)
    assert scorer.accepts(following)


def test_a_scorer_that_hangs_too_often_is_asked_no_further() -> None:
    with AuditedScorer(target_of(scorers.never), 0.5) as scorer:
        scorer.hangs = 12
        assert scorer.replies([Question("18", "18")])[0].given_up
        assert scorer.reply(Question("18", "18")).score == 0.0


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


# Scorers that start processes or tamper with their own

PATIENCE = 120  # seconds, on a busy machine

LINUX = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
TAMPERING = [
    (scorers.writes_to_every_pipe, "the function wrote to the worker's own channel"),
    (scorers.writes_nonsense, "the function wrote to the worker's own channel"),
    (scorers.forges_by_the_channel, "the function wrote to the worker's own channel"),
    (scorers.ends_with_status, "the process died with exit status 75"),
    (scorers.sends_the_signal_of_a_long_computation, "the process died with exit status -"),
    (scorers.closes_everything, "the process died with exit status 1"),
]


class Process(NamedTuple):
    """A process that runs, by Linux's list of them."""

    number: int
    parent: int
    group: int


def running() -> list[Process]:
    """All processes but those that ended and were not reaped."""
    processes = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent, group = stat.read_text().rpartition(")")[2].split()[:3]
            if state != "Z":
                processes.append(Process(int(stat.parent.name), int(parent), int(group)))
    return processes


def children() -> set[int]:
    """The processes that this one started."""
    return {process.number for process in running() if process.parent == os.getpid()}


@LINUX
@pytest.mark.parametrize("function", [scorers.by_executor, scorers.by_pool, scorers.forks])
def test_a_scorer_with_processes_is_judged_and_leaves_none_behind(
    function: Callable[..., object],
) -> None:
    start, earlier = time.monotonic(), children()
    with AuditedScorer(target_of(function), 0.5) as scorer:
        questions = [Question(f"#### {gold}", str(gold)) for gold in range(8)]
        assert all(map(scorer.accepts, scorer.replies(questions)))
        assert scorer.reply(Question("#### 18", "19")).score == 0.0
        groups = children() - earlier
        members = [process for process in running() if process.group in groups]
        assert len(groups) == 1
        assert len(members) > 1 or function is scorers.forks  # whose processes end by themselves
    while any(process.group in groups for process in running()):  # a killed process takes a moment
        assert time.monotonic() - start < PATIENCE
        time.sleep(0.05)


@LINUX
def test_a_process_that_outlives_the_one_that_started_it_is_killed(tmp_path: Path) -> None:
    note, start = tmp_path / "process", time.monotonic()
    with AuditedScorer(target_of(scorers.forks_for_ever), 0.5) as scorer:
        assert "exit status 7" in scorer.reply(Question(str(note), "18")).raised
        while int(note.read_text()) in {process.number for process in running()}:
            assert time.monotonic() - start < PATIENCE
            time.sleep(0.05)


@pytest.mark.parametrize(("function", "message"), TAMPERING)
def test_a_scorer_that_tampers_is_named(function: Callable[..., object], message: str) -> None:
    with AuditedScorer(target_of(function), 0.5) as scorer:
        questions = [Question("#### 7", "7"), Question(scorers.LONG_RUN, "9"),
                     *(Question("#### 18", gold) for gold in ("18", "19", "8"))]  # fmt: skip
        replies = scorer.replies(questions)
    assert replies[0].score == 1.0
    assert message in replies[1].raised
    assert not replies[1].hung
    assert [reply.score for reply in replies[3:]] == [0.0, 1.0]
    # A forged answer takes the place of its own; the scorer's own then comes where the next is due.
    assert replies[2].score == 1.0 or replies[2].raised == message


def test_a_scorer_that_replaces_json_is_judged() -> None:
    with AuditedScorer(target_of(scorers.replaces_json), 0.5) as scorer:
        replies = scorer.replies([Question("#### 18", "18"), Question("#### 18", "19")])
    assert [reply.score for reply in replies] == [1.0, 0.0]


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


def test_ways_to_call_follow_the_signature() -> None:
    assert {call.way for call in calls_of(scorers.of_trl)} == {"batch", "chats"}
    assert calls_of(scorers.of_verl)[0] == Call("names")
    assert calls_of(scorers.ends_with)[0] == Call("pair")
    with pytest.raises(TypeError, match="takes no gold"):
        calls_of(lambda completions: [0.0])


def test_allowed_findings_do_not_count() -> None:
    report = audited(scorers.contained)
    every = {finding.fault.value for finding in report.findings}
    assert report.counting(every) == ()
    assert len(report.counting(["false-accept/suffix"])) == len(report.findings) - 1
    assert not report.clean
    with pytest.raises(UnknownNameError, match="did you mean false-accept/suffix"):
        report.counting(["false-accept/sufix"])
