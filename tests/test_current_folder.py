"""No process of ours imports anything that lies in the current folder, whatever its name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import NamedTuple

import pytest

from gradeschool.worker import Child, python_environment
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


@pytest.mark.slow
def test_python_started_as_usual_imports_the_canaries(canaries: Canaries) -> None:
    """The folder is one in which Python, started in the usual way, runs them."""
    program = [sys.executable, "-c", "import json"]
    # Python 3.13 imports linecache for -c, and ends at the canary of that name.
    subprocess.run(program, cwd=canaries.folder, check=False, timeout=SECONDS, capture_output=True)
    assert {"json", "linecache"} & set(canaries.ran())


@pytest.mark.slow
def test_audit_imports_the_function_from_the_folder_and_no_canary(canaries: Canaries) -> None:
    """The folder is where the function comes from, and the library's modules are not."""
    (canaries.folder / "my_rewards.py").write_text(
        "import json, my_helper\n"
        "def score(completion, gold):\n    return my_helper.ends(completion, gold)\n"
    )
    (canaries.folder / "my_helper.py").write_text(
        "def ends(completion, gold):\n    return completion.endswith(gold)\n"
    )
    for name in ("my_rewards:score", "my_rewards.py:score"):
        process = canaries.command("audit", name, "--longest", 50, "--json")
        assert process.returncode == 1, process.stderr
        assert json.loads(process.stdout)["counting"]
    assert canaries.ran() == []


@pytest.mark.slow
def test_audit_of_a_scorer_imports_no_canary(canaries: Canaries) -> None:
    process = canaries.command("audit", "--scorer", "openai/2021", "--longest", 50, "--json")
    assert process.returncode == 1, process.stderr
    assert canaries.ran() == []


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_score_under_every_scorer_imports_no_canary(canaries: Canaries, jobs: int) -> None:
    """With Math-Verify in its child process, where it is installed; in processes of our own."""
    (canaries.folder / "problems.jsonl").write_text(json.dumps(PROBLEM) + "\n")
    row = {"id": "0", "completion": "It is \\boxed{7}.\n#### 7"}
    (canaries.folder / "completions.jsonl").write_text(json.dumps(row) + "\n")
    options = ("-d", "problems.jsonl", "--scorer", "all", "--jobs", jobs, "--json")
    process = canaries.command("score", "completions.jsonl", *options)
    assert process.returncode == 0, process.stderr
    assert canaries.ran() == []


@pytest.mark.slow
def test_a_worker_started_in_the_folder_imports_no_canary(
    canaries: Canaries, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_the_environment_of_a_child_has_no_variable_that_runs_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("PYTHONPATH", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONWARNINGS"):
        monkeypatch.setenv(name, "x")
    variables = python_environment({"PYTHONHASHSEED": "0"})
    assert {name for name in variables if name.startswith("PYTHON")} <= {
        "PYTHONHASHSEED", "PYTHONHOME", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE",
        "PYTHONPYCACHEPREFIX",
    }  # fmt: skip
    assert variables["PATH"] == os.environ["PATH"]


@pytest.mark.slow
def test_sample_imports_no_canary(canaries: Canaries, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tests.support.trainees import sums, tokenizer_of, trainee, write_problems

    tokenizer = tokenizer_of(sums(40))
    trainee(tokenizer).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    write_problems(canaries.folder / "sums.jsonl", 2)
    options = ("-d", "sums.jsonl", "-k", 2, "-o", "run", "--max-tokens", 8)
    process = canaries.command(
        "verifier", "sample", "-m", f"transformers/{tmp_path / 'model'}", *options
    )
    assert process.returncode == 0, process.stderr
    assert canaries.ran() == []
