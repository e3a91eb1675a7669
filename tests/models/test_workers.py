"""Tests that memory is kept, how tasks are shared out, and that processes write them all."""

from __future__ import annotations

import platform
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")

from gradeschool.completion import Decoding  # noqa: E402
from gradeschool.models.generation import SEND_ROWS, LoadedGenerator  # noqa: E402
from gradeschool.models.local import (  # noqa: E402
    GenerationSettings,
    SampleTask,
    files_digest,
)
from gradeschool.models.workers import (  # noqa: E402
    RayGenerator,
    in_processes,
    keep_freed_memory,
    shares_of,
)
from tests.support.trainees import model_folder, sums  # noqa: E402


def test_freed_memory_is_kept_where_the_library_is_glibc() -> None:
    assert keep_freed_memory() is (platform.libc_ver()[0] == "glibc")


@given(
    lengths=st.lists(st.integers(1, 30), max_size=60),
    samples=st.integers(1, 5),
    actors=st.integers(1, 4),
    most=st.integers(SEND_ROWS, 3 * SEND_ROWS),
)
def test_shares_hold_every_task_once_with_the_longest_prompts_first(
    lengths: list[int], samples: int, actors: int, most: int
) -> None:
    tasks = [
        SampleTask(number * samples + sample, sample, (number, *[1] * length))
        for number, length in enumerate(lengths)
        for sample in range(samples)
    ]
    shares = list(shares_of(tasks, actors, most))
    ordered = [task for share in shares for task in share]
    assert sorted(ordered) == sorted(tasks)
    assert all(0 < len(share) <= most for share in shares)
    sizes = [len(task.tokens) for task in ordered]
    assert sizes == sorted(sizes, reverse=True)
    runs = [prompt for prompt, _ in groupby(ordered, key=lambda task: task.tokens)]
    assert len(runs) == len(set(runs))  # the tasks of a prompt stand together


def test_few_tasks_are_one_share_and_many_are_several_for_each_actor() -> None:
    tasks = [SampleTask(number, 0, (number,)) for number in range(10 * SEND_ROWS)]
    assert [len(share) for share in shares_of(tasks[:SEND_ROWS], 2, 512)] == [SEND_ROWS]
    assert len(shares_of(tasks, 2, 512)) == 8


def settings_of(folder: Path) -> GenerationSettings:
    return GenerationSettings(folder, True, Decoding(temperature=0.8, max_tokens=12, seed=3))


def tasks_of(folder: Path) -> list[SampleTask]:
    tokenizer = LoadedGenerator(folder).tokenizer
    prompts = [tokenizer(f"{problem.question}\n")["input_ids"] for problem in sums(5)]
    return [
        SampleTask(2 * number + sample, sample, tuple(prompt))
        for number, prompt in enumerate(prompts)
        for sample in range(2)
    ]


def test_two_processes_write_what_one_writes(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    tasks, settings = tasks_of(folder), settings_of(folder)
    here = [row for rows in LoadedGenerator(folder).write(settings, 12, tasks) for row in rows]
    there = [row for rows in in_processes(settings, 12, tasks, 2) for row in rows]
    assert sorted(row[:4] for row in there) == sorted(row[:4] for row in here)
    assert len(there) == len(tasks)


def test_an_actor_loads_the_folder_it_has_or_the_files_it_is_sent(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    assert RayGenerator(str(folder), files_digest(folder)).load(None)
    assert not RayGenerator(str(folder), "another digest").load(None)
    absent = RayGenerator(str(tmp_path / "absent"), files_digest(folder))
    assert not absent.load(None)
    assert absent.load({file.name: file.read_bytes() for file in folder.iterdir()})
    tasks, settings = tasks_of(folder), settings_of(folder)
    written = [row for rows in absent.write(settings, 12, tasks) for row in rows]
    assert sorted(row.prompt for row in written) == list(range(len(tasks)))
