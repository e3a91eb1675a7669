"""`gradeschool reproduce` from nothing to its report, interrupted and killed on the way."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")
pytest.importorskip("matplotlib")

from gradeschool.atomic import FolderLock
from gradeschool.errors import StoreError
from gradeschool.verifier.training import CHECKPOINT, checkpoint_facts
from tests.support.command import environment
from tests.support.micro import SAVE_EVERY

WAIT_SECONDS = 120
# Equal to the bit, whatever the number of processes and the breaks between them.
SAME = ("problems/train.jsonl", "seed-0/generator/model.safetensors", "seed-0/right.jsonl",
        "seed-0/control/model.safetensors", "seed-0/verifier/model.safetensors",
        "figures/6a.json")  # fmt: skip
ABLATION = "5a"


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "tests.support.micro", *map(str, words)]


def begin(*words: object) -> "subprocess.Popen[str]":
    """The command as a terminal starts it: the leader of a process group."""
    return subprocess.Popen(
        command(*words), env=environment({}), text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_for(there: Callable[[], bool], process: "subprocess.Popen[str] | None" = None) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while not there():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)


def updates(folder: Path) -> int:
    """The update of the generator's last checkpoint."""
    facts = checkpoint_facts(folder / "seed-0/generator/training" / CHECKPOINT)
    return int(facts["updates"]) if facts else 0


def free(folder: Path) -> bool:
    """Whether no process trains in a folder."""
    try:
        with FolderLock(folder):
            return True
    except StoreError:
        return False


def stage_files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """What is written of the stages that are done, and when."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns)
            for path in (folder / "stages").glob("*.json")}  # fmt: skip


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recipe's folder after an interrupt and a kill in the generator's training."""
    folder = tmp_path_factory.mktemp("killed")
    arguments = ("reproduce", "-o", folder, "--jobs", 2)
    work = folder / "seed-0/generator/training"

    process = begin(*arguments)
    wait_for(lambda: updates(folder) > 0, process)
    os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does
    _, errors = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 130, errors
    assert "interrupted" in errors
    assert "Traceback" not in errors
    stopped = updates(folder)
    log = (folder / "stages/generator-0.log").read_text()
    assert f"the same command resumes from update {stopped}" in log
    before = stage_files(folder)
    assert {"problems-train.json", "problems-labelled.json"} <= before.keys()
    assert "generator-0.json" not in before

    process = begin(*arguments)
    wait_for(lambda: updates(folder) > stopped, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    wait_for(lambda: free(work))  # its stages end with it
    assert updates(folder) % SAVE_EVERY == 0
    after = stage_files(folder)
    assert {name: after[name] for name in before} == before
    assert "generator-0.json" not in after
    return folder


@pytest.fixture(scope="module")
def whole(killed: Path) -> Path:
    """The same folder when the same command has ended."""
    before = stage_files(killed)
    ended = subprocess.run(
        command("reproduce", "-o", killed, "--jobs", 2),
        capture_output=True, text=True, env=environment({}),
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == (killed / "report.md").read_text(encoding="utf-8")
    assert "problems-train:" not in ended.stderr
    assert "(2/13 done)" in ended.stderr or "(3/13 done)" in ended.stderr
    after = stage_files(killed)
    assert {name: after[name] for name in before} == before
    assert len(after) == 13
    return killed


def figure(folder: Path, *names: str) -> str:
    """What the command prints of figures."""
    options = [word for name in names for word in ("--figure", name)]
    ended = subprocess.run(
        command("reproduce", "-o", folder, *options),
        capture_output=True, text=True, env=environment({}),
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_a_killed_recipe_goes_on_to_the_figures_of_one_that_was_not(
    whole: Path, tmp_path: Path
) -> None:
    rows = (whole / "seed-0/generator/losses.jsonl").read_text().splitlines()
    assert [json.loads(row)["update"] for row in rows] == list(range(1, 251))
    report = (whole / "report.md").read_text(encoding="utf-8")
    assert "best by verifier" in report
    assert f"`gradeschool reproduce --figure {ABLATION}`" in report

    alone = tmp_path / "alone"
    subprocess.run(
        command("in-one", alone, ABLATION), check=True, capture_output=True, env=environment({})
    )
    assert figure(whole, "6a") in figure(alone, "6a", ABLATION)
    for name in SAME:
        assert (whole / name).read_bytes() == (alone / name).read_bytes(), name
    results = [json.loads((root / "results/test-0.json").read_text()) for root in (whole, alone)]
    assert results[0] == results[1]
    drawn = json.loads((alone / f"figures/{ABLATION}.json").read_text())
    assert [(point["series"], point["x"]) for point in drawn["points"]] == [
        ("token level", 1), ("solution level", 1)
    ]  # fmt: skip
    assert (alone / f"figures/{ABLATION}.svg").stat().st_size > 1000


def test_a_folder_that_a_recipe_runs_in_is_refused(tmp_path: Path) -> None:
    (tmp_path / "stages").mkdir()
    with FolderLock(tmp_path / "stages"):
        ended = subprocess.run(
            command("reproduce", "-o", tmp_path), capture_output=True, text=True,
            env=environment({}),
        )  # fmt: skip
    assert ended.returncode == 2
    assert "in use by another process" in ended.stderr
