"""The README's examples: commands print what it shows, Python says what it shows.

`python -m tests.test_readme` writes the present output into the README.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
CONSOLE = re.compile(r"(<!-- needs: gsm8k -->\n)?```console\n(.*?)```", re.DOTALL)
WIDTH = 110


def commands(block: str) -> list[tuple[str, str]]:
    """Split a console block into commands and the output shown for each."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def output(command: str, cwd: Path) -> str:
    """Run a command as typed and return what it prints, without spaces at the ends of lines."""
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "COLUMNS": str(WIDTH), "PATH": f"{scripts}:{os.environ['PATH']}"}
    process = subprocess.run(
        command, shell=True, capture_output=True, text=True, cwd=cwd, env=environment, timeout=60
    )
    assert process.returncode == 0, process.stderr
    return "".join(f"{line.rstrip()}\n" for line in process.stdout.splitlines())


def blocks(needs_data: bool) -> list[str]:
    return [
        block for needs, block in CONSOLE.findall(README.read_text()) if bool(needs) is needs_data
    ]


@pytest.mark.parametrize("block", blocks(needs_data=False))
def test_a_command_of_the_readme_prints_what_the_readme_shows(block: str, tmp_path: Path) -> None:
    for command, shown in commands(block):
        assert output(command, tmp_path) == shown


@pytest.mark.official
@pytest.mark.parametrize("block", blocks(needs_data=True))
def test_a_command_on_published_solutions_prints_what_the_readme_shows(
    block: str, data: Path, tmp_path: Path
) -> None:
    shutil.copy(data / "gsm8k/example_model_solutions.jsonl", tmp_path)
    for command, shown in commands(block):
        assert output(command, tmp_path) == shown


def test_the_python_of_the_readme_says_what_it_shows() -> None:
    source = "\n".join(re.findall(r"```pycon\n(.*?)```", README.read_text(), re.DOTALL))
    test = doctest.DocTestParser().get_doctest(source, {}, "README.md", "README.md", 0)
    results = doctest.DocTestRunner().run(test)
    assert results.attempted >= 5
    assert results.failed == 0


def test_the_file_tree_of_the_readme_names_folders_that_exist() -> None:
    tree = README.read_text().partition("src/gradeschool/\n")[2].partition("```")[0]
    names = re.findall(r"^  ([a-z_]+)/", tree, re.MULTILINE)
    packages = {path.name for path in (ROOT / "src/gradeschool").iterdir() if path.is_dir()}
    assert set(names) == packages - {"__pycache__"}


def update(folder: Path, data: Path) -> None:
    """Write the present output of every command into the README."""
    shutil.copy(data / "gsm8k/example_model_solutions.jsonl", folder)

    def renewed(match: re.Match[str]) -> str:
        needs, block = match.groups()
        shown = "".join(f"$ {command}\n{output(command, folder)}" for command, _ in commands(block))
        return f"{needs or ''}```console\n{shown}```"

    README.write_text(CONSOLE.sub(renewed, README.read_text()))


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as temporary:
        update(Path(temporary), Path(os.environ["GRADESCHOOL_DATA"]))
