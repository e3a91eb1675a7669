"""Sampling on a real Ray, in an environment of its own, against sampling here; actors that die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.peers.compare import COMPARED
from tests.peers.install import missing, python_of

SOURCE = Path(__file__).parents[2] / "src"
pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(bool(missing("ray")), reason=missing("ray")),
]
PROBLEMS, SAMPLES, TOKENS = 40, 30, 60
MOST_OTHER = 6  # of 1,200 samples, 72,000 draws
WAIT_SECONDS = 240
ACTOR = "ray::RayGenerator"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that knows nothing, and problems."""
    pytest.importorskip("transformers")
    from tests.support.trainees import sums, tokenizer_of, trainee, write_problems

    folder = tmp_path_factory.mktemp("ray")
    tokenizer = tokenizer_of(sums(PROBLEMS))
    trainee(tokenizer).save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    write_problems(folder / "sums.jsonl", PROBLEMS)
    return folder


def start(folder: Path, output: Path, *words: object) -> subprocess.Popen[str]:
    """The command, by the interpreter that has Ray: torch is the same for both engines."""
    options = ["sample", "-m", f"transformers/{folder / 'model'}", "-d", folder / "sums.jsonl",
             "-k", SAMPLES, "--max-tokens", TOKENS, "-o", output, *words]  # fmt: skip
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "RAY_USAGE_STATS_ENABLED": "0"}
    return subprocess.Popen(
        [python_of("ray"), "-m", "gradeschool", *map(str, options)],
        env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def assert_exit_0(process: subprocess.Popen[str]) -> str:
    """What a command that ended well printed."""
    out, err = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 0, err
    return out


def rows_of(output: Path) -> list[dict[str, Any]]:
    """The completions, by problem and sample; a line that is not whole is left out."""
    lines = (output / "completions.jsonl").read_bytes().split(b"\n")[:-1]
    return sorted(map(json.loads, lines), key=sample_of)


def sample_of(row: dict[str, Any]) -> tuple[str, int]:
    return row["problem_id"], row["sample"]


@pytest.fixture(scope="module")
def here(folder: Path) -> list[dict[str, Any]]:
    """What the local engine writes."""
    assert_exit_0(start(folder, folder / "here"))
    rows = rows_of(folder / "here")
    assert len(set(map(sample_of, rows))) == len(rows) == PROBLEMS * SAMPLES
    return rows


def assert_same_samples(samples: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    """Assert that every sample is there once, with its text.

    Rows that are computed beside others are rounded otherwise, which turns a draw in about 100,000.
    """
    assert [(*sample_of(row), row["key"]) for row in samples] == [
        (*sample_of(row), row["key"]) for row in expected
    ]
    other = [
        sample_of(sample)
        for sample, expected_sample in zip(samples, expected, strict=True)
        if sample["completion"] != expected_sample["completion"]
    ]
    assert len(other) <= MOST_OTHER, other
    COMPARED["samples on ray"] += len(samples)


def below(ancestor: int) -> Iterator[tuple[int, str]]:
    """Yield the processes that descend from one, with their command lines."""
    listing = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True).stdout
    split = [line.split(None, 2) for line in listing.splitlines()[1:]]
    family = {ancestor}
    for _ in range(10):
        family |= {int(pid) for pid, parent, *_ in split if int(parent) in family}
    for pid, _, *words in split:
        if int(pid) in family:
            yield int(pid), "".join(words)


def wait_for(there: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while not there():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.05)


def some_stored(output: Path) -> bool:
    path = output / "completions.jsonl"
    return path.exists() and path.stat().st_size > 0


def test_ray_writes_what_this_machine_writes(
    folder: Path, here: list[dict[str, Any]], tmp_path: Path
) -> None:
    assert_exit_0(start(folder, tmp_path / "ray", "--engine", "ray", "--processes", 2))
    assert_same_samples(rows_of(tmp_path / "ray"), here)


def test_the_work_of_an_actor_that_is_killed_is_done_by_another(
    folder: Path, here: list[dict[str, Any]], tmp_path: Path
) -> None:
    output = tmp_path / "ray"
    process = start(folder, output, "--engine", "ray", "--processes", 2)
    wait_for(lambda: some_stored(output), process)
    actors = [pid for pid, words in below(process.pid) if words.startswith(ACTOR)]
    assert len(actors) == 2
    assert len(rows_of(output)) < len(here)
    os.kill(actors[0], signal.SIGKILL)
    assert_exit_0(process)
    assert_same_samples(rows_of(output), here)


def test_a_sampling_on_ray_that_is_killed_goes_on_without_ray(
    folder: Path, here: list[dict[str, Any]], tmp_path: Path
) -> None:
    output = tmp_path / "ray"
    process = start(folder, output, "--engine", "ray", "--processes", 2)
    wait_for(lambda: some_stored(output), process)
    actors = [pid for pid, words in below(process.pid) if words.startswith(ACTOR)]
    process.kill()
    process.communicate()
    stored = len(rows_of(output))
    assert 0 < stored < len(here)
    assert_exit_0(start(folder, output))
    assert_same_samples(rows_of(output), here)
    end = time.monotonic() + WAIT_SECONDS
    while running := [pid for pid in actors if _runs(pid)]:
        assert time.monotonic() < end, running
        time.sleep(0.1)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
