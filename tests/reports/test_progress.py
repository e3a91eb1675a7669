"""What a run shows while it goes: plain lines for a log, a display for a terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from gradeschool.completion import Completion, Finish, Usage
from gradeschool.reports.progress import EvaluationDisplay, ProgressDisplay
from gradeschool.runs.cost import Budget, Price
from gradeschool.runs.evaluate import EndedSample
from gradeschool.runs.send import SendingState
from gradeschool.verdict import Outcome


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, in a list that a test changes."""
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def ended(display: EvaluationDisplay, outcome: Outcome, error: str = "") -> None:
    usage = Usage(10, 50)
    completion = Completion("k", "1", 0, "x", Finish.STOP, usage, error=error)
    display.count(EndedSample(completion, outcome))


def test_plain_lines_come_at_the_start_every_ten_seconds_and_at_the_end(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    in_flight, budget = SendingState(3, 2, 16), Budget(Price(0.4, 1.6), 5.0, [], {})
    budget.cost = 1.25
    with EvaluationDisplay() as display:
        display.begin(100, 20, in_flight, budget, "1 row is damaged (row 3)")
        for _ in range(20):
            clock[0] += 1
            ended(display, Outcome.CORRECT)
        in_flight.retries += 1
        ended(display, Outcome.ERROR, "timeout: x")
        display.note("stopping")
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["1 row is damaged (row 3)", "100 samples, 20 stored already"]
    assert lines[2].startswith("31/100 done · 0 failed · 3 of 16 in flight · ")
    assert "accuracy of new samples 100.0 % [74" in lines[2]
    assert "1.0/s · 50 tokens/s · $1.2500 of $5.00 · 0:01:09 left" in lines[2]
    assert lines[3] == "stopping"
    assert lines[4].startswith("41/100 done · 1 failed · 1 retry (2 waiting)")
    assert len(lines) == 5


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with EvaluationDisplay(quiet=True) as display:
        display.begin(1, 0, SendingState(), None, "")
        ended(display, Outcome.WRONG)
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_a_bar_and_three_lines(clock: list[float]) -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100, color_system=None)
    with EvaluationDisplay(console=console) as display:
        display.begin(10, 2, SendingState(4, 0, 8), None, "")
        for _ in range(4):
            clock[0] += 1
            ended(display, Outcome.CORRECT)
            ended(display, Outcome.WRONG)
        display.note("stopping: waiting for 4 in flight")
    shown = out.getvalue()
    assert "10/10" in shown
    assert "accuracy of new samples 50.0 % [21.5, 78.5]" in shown
    assert "2.0/s · 100 tokens/s" in shown
    assert "0 failed · 4 of 8 in flight" in shown
    assert "stopping: waiting for 4 in flight" in shown


def test_scoring_shows_lines_every_ten_seconds_and_at_the_end(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with ProgressDisplay() as display:
        for scored in range(3, 13, 3):
            clock[0] += 6
            display.scored(scored, 12)
    assert capsys.readouterr().err.splitlines() == [
        "6/12 done · scored",
        "12/12 done · scored",
    ]
