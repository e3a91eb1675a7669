"""What no command foresaw: one line, an exit status, no traceback; and no secret in it."""

import json
import subprocess
import sys

import pytest

from gradeschool import masking
from tests.support.command import Command

KEY = "sk-canary-4815162342"
INTERRUPTED = """
import runpy, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            raise KeyboardInterrupt

module, sys.argv = sys.argv[1], ["gradeschool", "eval", "-m", "tiny", "--dry-run"]
sys.meta_path.insert(0, Interrupting())
"""


@pytest.mark.parametrize("error", [ZeroDivisionError("by 0"), RecursionError(), KeyError(KEY)])
def test_a_fault_of_ours_is_one_line_and_exit_2(
    error: Exception, gradeschool: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gradeschool.runs import folder

    def fail(*_: object) -> None:
        raise error

    masking.register_secret(KEY)
    monkeypatch.setattr(folder, "summarise_run", fail)
    result = gradeschool("runs", "show", "folder", "--json")
    assert result.status == 2
    assert f"unexpected {type(error).__name__} in cli/test_guard.py, line " in result.err
    assert len(result.err.splitlines()) == 1
    assert "unexpected" in json.loads(result.out)["error"]
    assert KEY not in result.out + result.err


def test_click_8_1_says_it_as_well(gradeschool: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """click 8.1 has no NoArgsIsHelpError."""
    monkeypatch.delattr("click.exceptions.NoArgsIsHelpError", raising=False)
    result = gradeschool("score", "--nope", "x.jsonl")
    assert (result.status, len(result.err.splitlines())) == (2, 1)
    assert result.err.startswith("gradeschool: no such option")


def test_a_broken_package_is_told(gradeschool: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    from gradeschool.runs import folder

    def fail(*_: object) -> None:
        raise ImportError("libgomp.so.1: cannot open shared object file")

    monkeypatch.setattr(folder, "summarise_run", fail)
    result = gradeschool.refused("runs", "show", "folder")
    assert "Install this package again, or the library of the system that it names" in result
    assert "report it" not in result


@pytest.mark.parametrize("module", ["click", "gradeschool.cli.eval", "gradeschool.errors"])
def test_an_interrupt_during_imports_is_no_traceback(module: str) -> None:
    run = "runpy.run_module('gradeschool', run_name='__main__')"
    result = subprocess.run(
        [sys.executable, "-c", f"{INTERRUPTED}\n{run}", module],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (result.returncode, result.stderr.strip()) == (130, "gradeschool: interrupted")
