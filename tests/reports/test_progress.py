"""What a run shows while it goes: plain lines for a log, a display for a terminal."""

import io
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from gradeschool.reports.progress import EvaluationDisplay, ProgressDisplay
from gradeschool.runs.send import Budget, Price


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, in a list that a test changes."""
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def session(total: int, stored: int, **more: Any) -> Any:
    """The counts of a run at its beginning."""
    sending = SimpleNamespace(in_flight=3, waiting=2, retries=0, limiter=SimpleNamespace(limit=16))
    usual = {"failed": 0, "ended": 0, "judged": 0, "correct": 0, "tokens": 0, "budget": None}
    store = SimpleNamespace(damaged="")
    fields = {**usual, "dispatcher": sending, "store": store, **more}
    return SimpleNamespace(total=total, stored=stored, **fields)


def ended(display: EvaluationDisplay, run: Any, right: bool | None) -> None:
    """Count a sample that is right, wrong, or failed."""
    run.ended, run.tokens = run.ended + 1, run.tokens + 50
    run.failed += right is None
    run.judged += right is not None
    run.correct += bool(right)
    display.show(run, "")


def test_plain_lines_are_timed(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    budget = Budget(Price(0.4, 1.6), 5.0, [], {})
    budget.cost = 1.25
    damaged = SimpleNamespace(damaged="1 row is damaged (row 3)")
    run = session(100, 20, budget=budget, store=damaged)
    with EvaluationDisplay() as display:
        display.show(run, "")
        for _ in range(20):
            clock[0] += 1
            ended(display, run, True)
        run.dispatcher.retries += 1
        ended(display, run, None)
        display.show(run, "stopping")
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
        run = session(1, 0)
        display.show(run, "")
        ended(display, run, False)
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_a_bar_and_three_lines(clock: list[float]) -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100, color_system=None)
    with EvaluationDisplay(console=console) as display:
        run = session(10, 2)
        run.dispatcher.in_flight, run.dispatcher.waiting, run.dispatcher.limiter.limit = 4, 0, 8
        display.show(run, "")
        for _ in range(4):
            clock[0] += 1
            ended(display, run, True)
            ended(display, run, False)
        display.show(run, "stopping: waiting for 4 in flight")
    shown = out.getvalue()
    assert "10/10" in shown
    assert "accuracy of new samples 50.0 % [21.5, 78.5]" in shown
    assert "2.0/s · 100 tokens/s" in shown
    assert "0 failed · 4 of 8 in flight" in shown
    assert "stopping: waiting for 4 in flight" in shown


def test_scoring_shows_a_few_lines(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressDisplay() as display:
        for scored in range(3, 13, 3):
            clock[0] += 6
            display.scored(scored, 12)
    assert capsys.readouterr().err.splitlines() == ["6/12 done · scored", "12/12 done · scored"]
