"""Stages: order, digests, resuming, failures, interrupts; with real commands of the package."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from gradeschool.errors import InputError
from gradeschool.reports.progress import StagesDisplay, last_line
from gradeschool.verifier.reproduce.stages import (
    Stage,
    StageError,
    StageProcess,
    StageResult,
    digests,
    finished,
    ready_stages,
    run,
    stages_for,
)

FIRST = Stage("first", ("data", "generate", "-n", "3", "-o", "first.jsonl"))
SECOND = Stage("second", ("data", "list", "--json"), ("first",), "list.json")
THIRD = Stage("third", ("data", "generate", "--seed", "2", "-n", "2", "-o", "third.jsonl"))
STAGES = (FIRST, THIRD, SECOND)


class Notes:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.most = 0
        self.order: list[str] = []

    def show(self, running: Sequence[StageProcess], finished_stages: int, of: int) -> None:
        self.most = max(self.most, len(running))
        assert 0 <= finished_stages < of

    def ended(self, stage: Stage, result: StageResult) -> None:
        self.order.append(stage.name)


def test_a_stage_begins_when_what_it_needs_is_done() -> None:
    result = StageResult("", 0, 0)
    assert ready_stages(STAGES, {}, ()) == [FIRST, THIRD]
    assert ready_stages(STAGES, {}, ("first",)) == [THIRD]
    assert ready_stages(STAGES, {"first": result, "third": result}, ()) == [SECOND]
    assert stages_for(STAGES, ["second"]) == [FIRST, SECOND]


def test_the_longest_way_ahead_begins_first() -> None:
    stages = [Stage("a", ()), Stage("b", (), ("a",)), Stage("c", ()), Stage("d", (), ("c",)),
              Stage("e", (), ("b", "d")), Stage("f", (), ("d",)),
              Stage("g", (), ("f",))]  # fmt: skip
    result = StageResult("", 0, 0)
    assert [stage.name for stage in ready_stages(stages, {}, ())] == ["c", "a"]
    assert [stage.name for stage in ready_stages(stages, {"a": result, "c": result}, ())] == [
        "d",
        "b",
    ]


def test_the_digest_of_a_stage_changes_with_what_it_needs() -> None:
    other = Stage("first", (*FIRST.command, "--steps", "2", "3"))
    before, after = digests((FIRST, SECOND, THIRD)), digests((other, SECOND, THIRD))
    assert before["second"] != after["second"]
    assert before["third"] == after["third"]
    with pytest.raises(ValueError, match="before it"):
        digests((SECOND, FIRST))


def test_stages_run_once_two_at_a_time(tmp_path: Path) -> None:
    notes = Notes()
    results = run(STAGES, tmp_path, 2, notes)
    assert sorted(results) == ["first", "second", "third"]
    assert notes.order.index("first") < notes.order.index("second")
    assert notes.most == 2
    assert len((tmp_path / "first.jsonl").read_text().splitlines()) == 3
    assert json.loads((tmp_path / "list.json").read_text())
    assert results["first"].cpu_seconds > 0
    again = Notes()
    assert run(STAGES, tmp_path, 2, again) == results
    assert not again.order


def test_other_settings_in_the_same_folder_are_refused(tmp_path: Path) -> None:
    run((FIRST,), tmp_path, 1, Notes())
    other = Stage("first", (*FIRST.command, "--steps", "2", "3"))
    with pytest.raises(InputError, match="run with other settings"):
        finished(tmp_path, (other,))


def test_a_stage_that_fails_says_why_and_the_next_run_goes_on_from_there(tmp_path: Path) -> None:
    (tmp_path / "third.jsonl").write_text("mine\n")
    with pytest.raises(StageError, match=r"'third' ended with status 2(.|\n)*third\.jsonl"):
        run(STAGES, tmp_path, 1, Notes())
    assert (tmp_path / "third.jsonl").read_text() == "mine\n"
    assert list(finished(tmp_path, STAGES)) == ["first"]
    (tmp_path / "third.jsonl").unlink()
    notes = Notes()
    run(STAGES, tmp_path, 1, notes)
    assert notes.order == ["third", "second"]


SCRIPT = """
import sys
from pathlib import Path
from gradeschool.reports.progress import StagesDisplay
from gradeschool.verifier.reproduce.stages import run
from gradeschool.verifier.reproduce.stages import Stage
long = Stage("long", ("data", "generate", "-n", "1000000", "-o", "long.jsonl"))
try:
    run((long,), Path(sys.argv[1]), 1, StagesDisplay())
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_what_runs_and_leaves_the_stage_undone(
    number: signal.Signals, tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], start_new_session=True
    )
    log = tmp_path / "stages" / "long.log"
    while process.poll() is None and not log.exists():
        time.sleep(0.05)
    time.sleep(0.5)
    os.killpg(process.pid, number)
    assert process.wait(60) == 130
    assert "interrupted" in log.read_text()  # in order: it was told, and not left alone
    assert not (tmp_path / "stages" / "long.json").exists()
    assert not (tmp_path / "long.jsonl").exists()


def test_without_a_terminal_each_stage_is_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run((FIRST,), tmp_path, 1, StagesDisplay())
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "first ... (0/1 done)"
    assert lines[1].startswith("first: ")


def test_in_a_terminal_the_table_shows_what_a_stage_said_last(tmp_path: Path) -> None:
    from rich.console import Console

    log = tmp_path / "log"
    log.write_text("10/20 · loss 1\r15/20 · loss [bold]\x1b[2J\n\n")
    assert last_line(log) == "15/20 · loss [bold]\\x1b[2J"
    assert last_line(tmp_path / "none") == ""
    shown = io.StringIO()
    console = Console(file=shown, width=100, force_terminal=True, color_system=None)
    with StagesDisplay(console=console) as display:
        process = subprocess.Popen([sys.executable, "-c", ""])
        display.show([StageProcess(FIRST, process, time.monotonic(), log)], 3, 9)
        process.wait()
    assert "3/9 stages" in shown.getvalue()
    assert "15/20 · loss [bold]" in shown.getvalue()
