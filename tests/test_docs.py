"""README, docs/ and CONTRIBUTING.md: every example runs and prints what the page shows.

In the pages, blocks of `console` hold commands and what they print, `pycon` Python and
what it says, `sh` and `python` what runs without an error. The blocks of a page share a folder, in
the order of the page. What stands before a block says what is special about it:

    <!-- not run: WHY -->       it cannot be run here
    <!-- runs in: PEER -->      tests/peers runs it against the real package ("here": so does this)
    <!-- exit status: 2 -->     the last command ends so, and what it says on stderr is shown too
    <!-- needs: gsm8k -->       it reads GSM8K; without the data the page is skipped
    <!-- needs: xllamacpp -->   it needs this package; without it the page is skipped
    <!-- tested with: -n 3 -->  run with this in place of its other -n, to save time

`python -m tests.test_docs` writes the present output of commands into the pages.
"""

import doctest
import importlib
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest

import gradeschool
from gradeschool import protocols
from gradeschool.protocols.registry import entries_of
from tests.peers.golden import rows_of
from tests.peers.views import View, view
from tests.support.command import run_script

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = "../README.md"
LLAMA = "few-shot/llama31"  # the run that the README names, in the shared file of completions
WIDTH = 110
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[a-z ]+): (?P<value>[^\n]+?) -->\n)?"
    r"^```(?P<language>\w*)\n(?P<code>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
RUN = ("console", "pycon", "sh", "python")
MARKS = ("not run", "runs in", "exit status", "needs", "tested with", "None")
SIZE = re.compile(r"\b\d+(?= kB)")  # of a page, which grows with the styles that it holds
SECONDS = 600
HERE = "here"


class Block(NamedTuple):
    """A block of code, and what is said before it: ("not run", "needs a server")."""

    mark: str
    value: str
    language: str
    code: str

    @property
    def runs(self) -> bool:
        """Whether it runs in this environment."""
        elsewhere = self.mark == "not run" or (self.mark == "runs in" and self.value != HERE)
        return self.language in RUN and not elsewhere

    @property
    def status(self) -> int:
        """The exit status of its last command."""
        return int(self.value) if self.mark == "exit status" else 0


def pages() -> list[str]:
    return [README, *sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))]


def commands(block: str) -> list[tuple[str, str]]:
    """Split a console block into commands and the output shown for each."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def blocks(page: str) -> list[Block]:
    matches = BLOCK.finditer((DOCS / page).read_text("utf-8"))
    return [Block(*(str(match[name]) for name in Block._fields)) for match in matches]


def run(code: str, folder: Path, status: int = 0) -> str:
    """Run shell commands; return what they print, without spaces at the ends of lines.

    What goes to stderr is progress, and left out, except of a command that is meant to fail.
    """
    scripts = Path(sys.executable).parent
    changes = {"COLUMNS": str(WIDTH), "PATH": f"{scripts}:{os.environ['PATH']}"}
    process = subprocess.run(
        ["bash", "-ec", code],
        cwd=folder,
        env=os.environ | changes,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if status else subprocess.PIPE,
        text=True,
        timeout=SECONDS,
    )
    assert process.returncode == status, (
        f"exit status {process.returncode}, not {status}, of:\n{code}\n{process.stdout}"
        f"{process.stderr or ''}\nWhat cannot run here has <!-- not run: WHY --> before its block."
    )
    return "".join(f"{line.rstrip()}\n" for line in process.stdout.splitlines())


def outputs(block: Block, folder: Path) -> list[tuple[str, str, str]]:
    """Return (command, what the page shows, what it prints) for each command of a block."""
    examples = commands(block.code)
    last = len(examples) - 1
    return [
        (command, shown, run(command, folder, block.status if index == last else 0))
        for index, (command, shown) in enumerate(examples)
    ]


def check_python(code: str, page: str) -> None:
    test = doctest.DocTestParser().get_doctest(code, {}, page, page, 0)
    results = doctest.DocTestRunner().run(test)
    assert results.attempted and not results.failed


@pytest.mark.slow
@pytest.mark.parametrize("page", pages())
def test_the_examples_of_a_page_run_and_print_what_it_shows(page: str, tmp_path: Path) -> None:
    for block in blocks(page):
        assert block.mark in MARKS, f"{page}: <!-- {block.mark}: ... --> is none of {MARKS}"
        if not block.runs:
            continue
        if block.mark == "needs" and importlib.util.find_spec(block.value) is None:
            pytest.skip(f"the examples need {block.value}")
        if block.language == "console":
            for command, shown, printed in outputs(block, tmp_path):
                assert SIZE.sub("", printed) == SIZE.sub("", shown), f"{page}: {command}"
        elif block.language == "pycon":
            check_python(block.code, page)
        elif block.language == "sh":
            code = block.code
            if block.mark == "tested with":
                code = re.sub(r"-n \d+", block.value, code)
            run(code, tmp_path, block.status)
        else:
            (tmp_path / "example.py").write_text(block.code, "utf-8")
            run("python example.py", tmp_path, block.status)


@pytest.mark.official
def test_published_answers_have_the_accuracies_of_the_readme(data: Path, tmp_path: Path) -> None:
    source = data / "completions" / "lianshan_eval.jsonl"
    if not source.is_file():
        pytest.skip("the published answers are not on this machine")
    text = " ".join((ROOT / "README.md").read_text("utf-8").partition("lianshan01")[2].split())
    claims = re.findall(r"(\d+\.\d\d) % by `([^`]+)`", text)
    assert len(claims) == 5
    names = [name for _, name in claims]
    result = run_script("score", f"{source}#{LLAMA}", "-d", "gsm8k", "--scorer", *names)
    for share, name in claims:
        assert re.search(rf"{re.escape(name)} .* {share} %", result.out), result.out + result.err


SHOWN_FILE = re.compile(r"^`([\w/.]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_guides_protocol_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that CONTRIBUTING.md shows, written down: every golden case has its verdict."""
    files = dict(SHOWN_FILE.findall((ROOT / "CONTRIBUTING.md").read_text("utf-8")))
    assert len(files) == 5
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    subprocess.run([sys.executable, "riddles_golden.py"], cwd=tmp_path, check=True, timeout=60)
    folder = tmp_path / "src" / "gradeschool" / "protocols"
    monkeypatch.setattr(protocols, "__path__", [*protocols.__path__, str(folder)])
    with patch.dict(sys.modules):  # nothing of it stays for other tests
        package: Any = importlib.import_module("gradeschool.protocols.riddles")
    (scorer,), (protocol,) = (
        entries_of(package, kind).values() for kind in ("SCORERS", "PROTOCOLS")
    )
    assert protocol.scorers == (scorer.name,)
    assert "Probe question" in protocol.example_prompt().messages[0].content
    rows = rows_of(folder / "riddles" / "golden.jsonl")
    assert len(rows) >= 10
    for row in rows:
        problem = gradeschool.Problem.from_gold(row["gold"])
        expected = View(row["verdicts"][scorer.name], row["read"][scorer.name])
        assert view(scorer, row["completion"], problem) == expected, row["id"]


def update(page: str) -> None:
    """Write the present output of a page's commands into it."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)

        def renewed(match: re.Match[str]) -> str:
            block = Block(*(str(match[name]) for name in Block._fields))
            if block.runs and block.language == "sh":
                run(block.code, folder)
            if not block.runs or block.language != "console":
                return match.group()
            shown = "".join(
                f"$ {command}\n{printed}" for command, _, printed in outputs(block, folder)
            )
            return match.group().replace(f"\n{block.code}```", f"\n{shown}```")

        path = DOCS / page
        path.write_text(BLOCK.sub(renewed, path.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or pages():
        update(name)
