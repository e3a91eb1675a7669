"""`gradeschool audit`: what it prints, and how it ends."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from gradeschool.auditing.audit import AuditFinding, AuditReport, Fault
from gradeschool.auditing.cases import HostileText
from gradeschool.cli.audit import print_audit
from gradeschool.errors import InputError
from gradeschool.integrations.rewards import Grader
from tests.support.command import Command, run_script

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
