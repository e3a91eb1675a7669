"""The command line under test: the installed console script, or `main` in this process."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

SCRIPT = Path(sys.executable).with_name("gradeschool")
SECONDS = 120


class CommandResult(NamedTuple):
    """Exit status and output of a command."""

    status: int
    out: str
    err: str

    def json(self) -> Any:
        """Return the value on stdout."""
        return json.loads(self.out)


def environment(changes: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment with changes, without a terminal's width.

    PYTHONSAFEPATH is what `main` sets in this process; `python -m tests...` could not start.
    """
    unset = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "PYTHONIOENCODING", "PYTHONSAFEPATH"}
    return {name: value for name, value in os.environ.items() if name not in unset} | dict(changes)


def run_script(*arguments: object, **changes: str) -> CommandResult:
    """Run the console script in its own process; its streams must be valid UTF-8."""
    process = subprocess.run(
        [SCRIPT, *map(str, arguments)],
        capture_output=True,
        env=environment(changes),
        timeout=SECONDS,
    )
    return CommandResult(process.returncode, process.stdout.decode(), process.stderr.decode())


class Command:
    """Runs `gradeschool.cli.main` in this process: ten times as fast as the script."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch = monkeypatch
        self.capsys = capsys

    def __call__(self, *arguments: object, columns: int = 0) -> CommandResult:
        from gradeschool.cli import main

        self.monkeypatch.setattr(sys, "argv", ["gradeschool", *map(str, arguments)])
        self.monkeypatch.delenv("COLUMNS", raising=False)
        self.monkeypatch.setenv("PYTHONSAFEPATH", "1")  # set by main; undone after the test
        if columns:
            self.monkeypatch.setenv("COLUMNS", str(columns))
        with pytest.raises(SystemExit) as caught:
            main()
        out, err = self.capsys.readouterr()
        assert isinstance(caught.value.code, int)
        return CommandResult(caught.value.code, out, err)

    def done(self, *arguments: object, columns: int = 0) -> CommandResult:
        """Run a command that ends with status 0."""
        result = self(*arguments, columns=columns)
        assert result.status == 0, result
        return result

    def refused(self, *arguments: object) -> str:
        """Run a command that is refused with status 2; return what it says on stderr."""
        result = self(*arguments)
        assert result.status == 2, result
        return result.err


def command_lines(cases: Iterable[str]) -> list[Any]:
    """Return the cases as parameters; commands that need torch run in `make test-all`."""
    needs_torch = (
        *("verifier finetune", "verifier train", "verifier sample -m transformers"),
        "eval -m transformers",
    )
    return [
        pytest.param(words, marks=[pytest.mark.slow] * words.startswith(needs_torch))
        for words in cases
    ]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
