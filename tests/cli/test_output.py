"""Nothing that a file, a server or a model says is obeyed by a terminal or computed by a sheet."""

import io
import json
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from gradeschool.printable import terminal
from tests.support.command import Command

HOSTILE = "\x1b[31mred\x1b]0;title\x07 \u202e\x9b2J"


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Completions of a run with a hostile name, hostile texts and a hostile finish."""
    rows = [
        {"run": f"run {HOSTILE}", "index": index, "sample": sample, "finish": HOSTILE,
         "completion": f"{HOSTILE}\n#### {index}\n=1+1"}
        for index in range(12) for sample in range(2)
    ]  # fmt: skip
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


COMMANDS = (
    "score F -d sample", "explain F -d sample",
    "compare F F -d sample", "runs curve F -d sample", "verifier rank F -d sample --by majority",
    f"eval -m recorded/{HOSTILE.replace(' ', '')} -d sample --dry-run",
    f"score {HOSTILE.replace(' ', '')}", f"score --{HOSTILE.replace(' ', '')} F",
    f"protocols show {HOSTILE.replace(' ', '')}", "runs list D",
)  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS)
def test_no_command_prints_control_characters(
    answers: Path, gradeschool: Command, words: str, tmp_path: Path
) -> None:
    arguments = [word.replace("F", str(answers)) if word == "F" else word for word in words.split()]
    arguments = [str(tmp_path) if word == "D" else word for word in arguments]
    result = gradeschool(*arguments)
    assert (result.out + result.err).replace("\n", "").isprintable()


def test_a_console_escapes_text_and_keeps_its_own_styles() -> None:
    file = io.StringIO()
    console = terminal(file=file, force_terminal=True, color_system="standard", width=200)
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
