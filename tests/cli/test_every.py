"""What holds for every verb: help, errors, colours, pipes, encodings, interrupts, completion."""

import io
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from gradeschool import __version__, load_dataset, masking
from gradeschool.cli import COMMANDS
from gradeschool.reports.terminal import TerminalConsole
from tests.support.answers import SAMPLE, TWO, answers
from tests.support.command import SCRIPT, Command, environment, run_script
from tests.support.files import jsonl
from tests.support.fixtures import skip_without


@pytest.mark.parametrize(
    "words",
    [
        [],
        *([verb] for verb in COMMANDS),
        ["protocols", "list"],
        ["protocols", "prompts"],
        *(["data", verb] for verb in ("list", "fetch")),
    ],
    ids=" ".join,
)
def test_every_verb_has_help(gradeschool: Command, words: Sequence[str]) -> None:
    result = gradeschool(*words, "--help")
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith(f"Usage: gradeschool {' '.join(words)}".rstrip())
    assert max(map(len, result.out.splitlines())) <= 80


def test_the_installed_script_prints_version_and_help() -> None:
    assert run_script("--version").out == f"gradeschool, version {__version__}\n"
    help = run_script("--help").out
    assert all(verb in help for verb in COMMANDS)


def test_a_misspelt_verb_gets_a_suggestion(gradeschool: Command) -> None:
    result = gradeschool("scroe", "x")
    assert (result.status, result.err) == (
        2,
        "gradeschool: no command is called 'scroe'; did you mean score?\n",
    )


@pytest.mark.parametrize("arguments", [["score"], ["score", "--nope"], ["explain"]])
def test_wrong_options_are_one_sentence(gradeschool: Command, arguments: Sequence[str]) -> None:
    result = gradeschool(*arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("gradeschool: ")
    assert result.err.endswith(f"ee `gradeschool {arguments[0]} --help`\n")
    assert len(result.err.splitlines()) == 1


@pytest.mark.slow
def test_a_closed_pipe_ends_the_command_quietly() -> None:
    command = shlex.join([str(SCRIPT), "protocols", "prompts", "zero-shot/chat", "-d", "fresh:1"])
    result = subprocess.run(
        ["bash", "-c", f"{command} | head -c 1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        env=environment({}),
    )
    assert (result.stdout[1:], result.stderr) == ("0\n", "")


def test_no_color_is_respected(tmp_path: Path) -> None:
    words = ("explain", answers(tmp_path), "--scorer", *TWO, *SAMPLE)
    coloured = run_script(*words, FORCE_COLOR="1", TERM="xterm").out
    assert "\x1b[" in coloured
    plain = run_script(*words, FORCE_COLOR="1", TERM="xterm", NO_COLOR="1").out
    assert not re.search(r"\x1b\[[0-9;]*[34]\d", plain)


def test_a_terminal_that_cannot_show_a_character_gets_its_escape(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", [{"index": 29, "completion": "数 13 → \ud800", "run": "数"}])
    result = run_script("explain", path, "--scorer", *TWO, *SAMPLE, PYTHONIOENCODING="ascii")
    assert result.status == 0
    assert "\\ud800" in result.out
    assert "\\u6570" in result.out


def make_fail(gradeschool: Command, name: str, error: BaseException) -> None:
    """Let a function of the package raise an error."""

    def fail(*_: object, **__: object) -> None:
        raise error

    gradeschool.monkeypatch.setattr(name, fail)


def test_an_interrupt_exits_with_130(gradeschool: Command, tmp_path: Path) -> None:
    make_fail(gradeschool, "gradeschool.scoring.score.score_batch", KeyboardInterrupt())
    result = gradeschool("score", answers(tmp_path), *SAMPLE)
    assert (result.status, result.err.strip().splitlines()[-1]) == (130, "gradeschool: interrupted")


def test_with_json_an_error_is_json_on_stdout_too(gradeschool: Command) -> None:
    result = gradeschool("score", "nope.jsonl", "--json")
    assert result.status == 2
    assert json.loads(result.out) == {
        "error": "'nope.jsonl' does not exist; give the path of a file"
    }
    assert result.err == "gradeschool: 'nope.jsonl' does not exist; give the path of a file\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_full_disk_is_one_line_and_status_2(tmp_path: Path, form: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [SCRIPT, "score", answers(tmp_path), "--scorer", *TWO, *SAMPLE, *form],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment({}),
        )
    assert result.returncode == 2
    last = result.stderr.splitlines()[-1]
    assert last == "gradeschool: cannot read or write: [Errno 28] No space left on device"


def test_a_shell_completes_commands() -> None:
    words = {"COMP_WORDS": "gradeschool ev", "COMP_CWORD": "1"}
    result = run_script(_GRADESCHOOL_COMPLETE="bash_complete", **words)
    assert result.out.split() == ["plain,eval"]


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
def test_a_fault_of_ours_is_one_line_and_exit_2(error: Exception, gradeschool: Command) -> None:
    masking.register_secret(KEY)
    make_fail(gradeschool, "gradeschool.cli.runs.RunSummary", error)
    result = gradeschool("runs", "show", "folder", "--json")
    assert result.status == 2
    assert f"unexpected {type(error).__name__} in cli/test_every.py, line " in result.err
    assert len(result.err.splitlines()) == 1
    assert "unexpected" in json.loads(result.out)["error"]
    assert KEY not in result.out + result.err


def test_click_8_1_says_it_as_well(gradeschool: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """click 8.1 has no NoArgsIsHelpError."""
    monkeypatch.delattr("click.exceptions.NoArgsIsHelpError", raising=False)
    result = gradeschool("score", "--nope", "x.jsonl")
    assert (result.status, len(result.err.splitlines())) == (2, 1)
    assert result.err.startswith("gradeschool: no such option")


def test_a_broken_package_is_told(gradeschool: Command) -> None:
    error = ImportError("libgomp.so.1: cannot open shared object file")
    make_fail(gradeschool, "gradeschool.cli.runs.RunSummary", error)
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


HOSTILE = "\x1b[31mred\x1b]0;title\x07 \u202e\x9b2J"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Completions of a run with a hostile name, hostile texts and a hostile finish."""
    rows = [
        {"run": f"run {HOSTILE}", "index": index, "sample": sample, "finish": HOSTILE,
         "completion": f"{HOSTILE}\n#### {index}\n=1+1"}
        for index in range(12) for sample in range(2)
    ]  # fmt: skip
    return jsonl(tmp_path / "answers.jsonl", rows)


HOSTILE_COMMANDS = (
    "score F -d sample", "explain F -d sample",
    "compare F F -d sample", "runs curve F -d sample", "verifier rank F -d sample --by majority",
    f"eval -m recorded/{HOSTILE.replace(' ', '')} -d sample --dry-run",
    f"score {HOSTILE.replace(' ', '')}", f"score --{HOSTILE.replace(' ', '')} F",
    f"protocols show {HOSTILE.replace(' ', '')}", "runs list D",
)  # fmt: skip


@pytest.mark.parametrize("words", HOSTILE_COMMANDS)
def test_no_command_prints_control_characters(
    hostile: Path, gradeschool: Command, words: str, tmp_path: Path
) -> None:
    arguments = [word.replace("F", str(hostile)) if word == "F" else word for word in words.split()]
    arguments = [str(tmp_path) if word == "D" else word for word in arguments]
    result = gradeschool(*arguments)
    assert (result.out + result.err).replace("\n", "").isprintable()


def test_a_console_escapes_text_and_keeps_its_own_styles() -> None:
    file = io.StringIO()
    console = TerminalConsole(file=file, force_terminal=True, color_system="standard", width=200)
    table = Table(title=HOSTILE)
    table.add_column(HOSTILE)
    table.add_row(Text(HOSTILE, "bold"))
    console.print(table)
    console.print(HOSTILE, style="red")
    written = file.getvalue()
    assert "\x1b]0" not in written
    assert "\x07" not in written
    assert "\u202e" not in written
    assert written.count("\\x1b[31mred") == 4
    assert "\x1b[31m" in written  # our own red


# {F} is a file with columns that no name explains, {G} another.
READERS = (
    "score {F}", "explain {F}", "compare {F} {G}", "compare {G} --not-worse-than {F}",
    "why {F} --expected 90", "report {F} -o {T}/page.html", "export {F} -o {T}/logs --to lm-eval",
    "runs curve {F}", "data right {F}",
)  # fmt: skip
COLUMNS = ("--columns", "id=Nummer,response=Antwort", "--id-base", "1", *SAMPLE)


def numbered(path: Path, count: int) -> Path:
    """Write answers with ids from 1: every third is wrong."""
    problems = enumerate(load_dataset("sample").problems[:count], start=1)
    return jsonl(path, (
        {"Nummer": n, "Antwort": f"#### {each.gold if n % 3 else 'unknown'}"}
        for n, each in problems))  # fmt: skip


@pytest.mark.parametrize("words", READERS)
def test_a_verb_reads_named_columns(gradeschool: Command, tmp_path: Path, words: str) -> None:
    files = {name: numbered(tmp_path / f"{name}.jsonl", 48) for name in "FG"}
    scorer = () if words.startswith("data") else ("--scorer", "openai/2021")
    result = gradeschool(*words.format(**files, T=tmp_path).split(), *scorer, *COLUMNS)
    assert result.status in (0, 1), result.err
    assert "cannot be used" not in result.err
    again = words.format(**files, T=tmp_path / "again").split()
    said = gradeschool.refused(*again, *scorer, "--columns", "response=Reply", *SAMPLE)
    assert "--columns names 'Reply'" in said


@pytest.mark.slow
def test_the_tiny_verifier_reads_them_too(gradeschool: Command, tmp_path: Path) -> None:
    skip_without(("torch", "transformers", "gguf"), "the shipped verifier")
    file, output = numbered(tmp_path / "a.jsonl", 3), tmp_path / "scores.jsonl"
    gradeschool.done("verifier", "score", file, "--verifier", "tiny", "-o", output, *COLUMNS)
    assert len(output.read_text("utf-8").splitlines()) == 3
