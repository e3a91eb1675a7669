"""What the machine has, as the system reports it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gradeschool.machine import cores, free_memory, machine_memory


def test_cores_are_those_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 5}, raising=False)
    assert cores() == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1


def test_free_memory_is_a_part_of_all() -> None:
    free, whole = free_memory(), machine_memory("cpu")
    if not Path("/proc/meminfo").exists():
        pytest.skip("this system has no /proc/meminfo")
    assert free is not None and whole is not None
    assert 10**7 < free < whole
