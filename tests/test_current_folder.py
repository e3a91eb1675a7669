"""No process of ours imports anything that lies in the current folder, whatever its name."""

import json
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import NamedTuple

import pytest

from gradeschool.worker import Child
from tests.support.command import SECONDS, environment

# A script in another folder, as the installed one is: `python -c` and `python -m` would themselves
# put the current folder on the path.
LAUNCHER = "from gradeschool.cli import main\nif __name__ == '__main__':\n    main()\n"
PROBLEM = {"question": "Ann has 3 pens and buys 4. How many has she?", "answer": "3+4=7\n#### 7"}


class Canaries(NamedTuple):
    """A folder with a module of every name that could be imported; each notes that it ran."""

    folder: Path
    launcher: Path
    notes: Path

    def command(self, *words: object) -> subprocess.CompletedProcess[str]:
        """Run the command line in the folder."""
        return subprocess.run(
            [sys.executable, self.launcher, *map(str, words)],
            cwd=self.folder,
            env=environment({}),
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )

    def ran(self) -> list[str]:
        """The modules that were imported from the folder."""
        return sorted(set(self.notes.read_text().split())) if self.notes.exists() else []


@pytest.fixture
def canaries(tmp_path: Path) -> Canaries:
    folder, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    notes, launcher = elsewhere / "notes", elsewhere / "launcher.py"
    launcher.write_text(LAUNCHER)
    names = {*sys.stdlib_module_names, *packages_distributions(), "usercustomize", "sitecustomize"}
    for name in names:
        if name.isidentifier():
            note = f"open({str(notes)!r}, 'a').write({name + ' '!r})\n"
            (folder / f"{name}.py").write_text(note)
    return Canaries(folder, launcher, notes)


COMMANDS = {
    "audit my_rewards:score --longest 50 --json": 1,
    "audit my_rewards.py:score --longest 50 --json": 1,
    "audit --scorer openai/2021 --longest 50 --json": 1,
    "score completions.jsonl -d problems.jsonl --scorer all --jobs 1 --json": 0,
    "score completions.jsonl -d problems.jsonl --scorer all --jobs 2 --json": 0,
}


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS)
def test_commands_import_no_canary(canaries: Canaries, words: str) -> None:
    """The folder is where the user's function comes from, and the library's modules are not."""
    for name, text in {
        "my_rewards.py": "import json, my_helper\n"
        "def score(completion, gold): return my_helper.ends(completion, gold)\n",
        "my_helper.py": "def ends(completion, gold): return completion.endswith(gold)\n",
        "problems.jsonl": json.dumps(PROBLEM) + "\n",
        "completions.jsonl": '{"id": "0", "completion": "It is \\\\boxed{7}.\\n#### 7"}\n',
    }.items():
        (canaries.folder / name).write_text(text)
    process = canaries.command(*words.split())
    assert process.returncode == COMMANDS[words], process.stderr
    assert json.loads(process.stdout)
    assert canaries.ran() == []


@pytest.mark.slow
def test_a_worker_imports_no_canary(canaries: Canaries, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even in a process that itself imports from the current folder, as a notebook does."""
    monkeypatch.chdir(canaries.folder)
    monkeypatch.setattr(sys, "path", ["", str(canaries.folder), *sys.path])
    monkeypatch.setenv("PYTHONPATH", str(canaries.folder))
    monkeypatch.setenv("PYTHONWARNINGS", "ignore::json.Warning")
    child = Child()
    try:
        assert child.call("json:loads", ("[7]",)) == [7]
    finally:
        child.stop()
    assert canaries.ran() == []
