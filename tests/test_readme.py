"""The README's claims: commands print what it shows, Python says what it shows, links lead on.

What stands before a block says what it needs:

    <!-- needs: llama31.jsonl -->                   published answers; skipped without them
    <!-- needs: llama31.jsonl, first lines: 5 -->   the same; the block shows so much of the output
    <!-- needs: sample run -->                      the folder runs/mine
    <!-- not run: WHY -->                           it cannot be run here

`python -m tests.test_readme` writes the present output into the README.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gradeschool

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
CONSOLE = re.compile(
    r"<!-- needs: llama31\.jsonl(?:, first lines: (\d+))? -->\n```console\n(.*?)```", re.DOTALL
)
ON_A_RUN = re.compile(r"<!-- needs: sample run -->\n```sh\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)\)")
WIDTH = 110
MOST_LINES = 150
LLAMA = "few-shot/llama31"  # the run of the README in the shared file of completions


def commands(block: str) -> list[tuple[str, str]]:
    """Split a console block into commands and the output shown for each."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def output(command: str, cwd: Path) -> str:
    """Run a command as typed and return what it prints, without spaces at the ends of lines."""
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "COLUMNS": str(WIDTH), "PATH": f"{scripts}:{os.environ['PATH']}"}
    ended = subprocess.run(
        ["bash", "-ec", command],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    return "".join(f"{line.rstrip()}\n" for line in ended.stdout.splitlines())


def shown_by(command: str, lines: str, folder: Path) -> str:
    """Return what the README shows of a command's output: all of it, or its first lines."""
    printed = output(command, folder)
    return "".join(printed.splitlines(keepends=True)[: int(lines)]) if lines else printed


def write_answers(folder: Path, data: Path) -> None:
    """Write llama31.jsonl, the answers of one run of the shared completions."""
    with (data / "completions" / "lianshan_eval.jsonl").open(encoding="utf-8") as rows:
        chosen = [row for row in rows if json.loads(row)["model"] == LLAMA]
    (folder / "llama31.jsonl").write_text("".join(chosen), encoding="utf-8")


@pytest.mark.official
def test_the_example_of_the_readme(data: Path, tmp_path: Path) -> None:
    if not (data / "completions").is_dir():
        pytest.skip("the published answers are not on this machine")
    write_answers(tmp_path, data)
    blocks = CONSOLE.findall(README.read_text("utf-8"))
    assert len(blocks) == 2
    for lines, block in blocks:
        for command, shown in commands(block):
            assert shown_by(command, lines, tmp_path) == shown


def test_the_words_about_the_example_are_its_figures() -> None:
    text = README.read_text("utf-8")
    for figure, name in (("54.66 %", "gradeschool/reader"), ("9.93 %", "flexible-extract")):
        assert re.search(rf"{name} .* {figure}", text)
        assert figure in text.partition("Same model, same answers:")[2].split("\n")[0]
    assert re.search(r"^ +600 .*run-on$", text, re.M)
    assert "In 600 answers" in text


def test_the_commands_on_a_run_work(tmp_path: Path) -> None:
    sample = "gradeschool eval -m 'recorded/sample#handwritten/chat' -d sample -o runs/mine --quiet"
    block = ON_A_RUN.search(README.read_text("utf-8"))
    assert block
    other = sample.replace("runs/mine", "runs/other").replace("chat' -d", "cot' -d")
    output(f"{sample}\n{other}\n{block[1]}", tmp_path)
    assert (tmp_path / "report.html").exists()


def test_every_block_says_how_it_is_checked() -> None:
    blocks = re.findall(r"(?:^<!-- (.*?) -->\n)?^```(\w+)\n(.*?)^```$", README.read_text("utf-8"),
                        re.M | re.S)  # fmt: skip
    unmarked = [(language, code) for mark, language, code in blocks if not mark]
    installs = [code for language, code in unmarked if language == "sh"]
    assert all(code.startswith(("make demo", "python3 -m venv")) for code in installs)
    assert {language for language, _ in unmarked} == {"sh", "pycon"}
    assert len(installs) == 2  # `make demo`, `make test`, and the same without make


def test_the_python_of_the_readme_says_what_it_shows() -> None:
    source = "\n".join(re.findall(r"```pycon\n(.*?)```", README.read_text(), re.DOTALL))
    test = doctest.DocTestParser().get_doctest(source, {}, "README.md", "README.md", 0)
    results = doctest.DocTestRunner().run(test)
    assert results.attempted >= 5
    assert results.failed == 0


def test_the_readme_is_short_and_its_links_lead_somewhere() -> None:
    text = README.read_text("utf-8")
    assert len(text.splitlines()) <= MOST_LINES
    links = [link for link in LINK.findall(text) if "://" not in link]
    assert len(links) > 20
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_counts_of_the_readme_hold() -> None:
    words = r"More than (\d+) protocols and (\d+) scorers, of (\d+) harnesses"
    found = re.search(words, README.read_text("utf-8"))
    assert found
    sources = list((ROOT / "src/gradeschool/protocols").glob("*/SOURCE.md"))
    counts = (len(gradeschool.all_protocols()), len(gradeschool.all_scorers()), len(sources))
    for claimed, counted in zip(map(int, found.groups()), counts, strict=True):
        assert claimed <= counted < 1.5 * claimed


def test_every_command_of_the_readme_exists() -> None:
    from gradeschool.cli import VERBS

    named = re.findall(r"^gradeschool (\w+)|\$ gradeschool (\w+)", README.read_text("utf-8"), re.M)
    verbs = {first or second for first, second in named}
    assert len(verbs) >= 8
    assert verbs <= set(VERBS)


def update(folder: Path, data: Path) -> None:
    """Write the present output of every command into the README."""
    write_answers(folder, data)

    def renewed(match: re.Match[str]) -> str:
        lines, block = match.groups()
        shown = "".join(
            f"$ {command}\n{shown_by(command, lines, folder)}" for command, _ in commands(block)
        )
        head = match[0].partition("```console\n")[0]
        return f"{head}```console\n{shown}```"

    README.write_text(CONSOLE.sub(renewed, README.read_text()))


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as temporary:
        update(Path(temporary), Path(os.environ["GRADESCHOOL_DATA"]))
