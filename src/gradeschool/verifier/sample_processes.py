"""Samples written by this process, or by several on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from pathlib import Path
from queue import Empty
from typing import Any

from gradeschool.errors import InputError
from gradeschool.signals import ignore_interrupts
from gradeschool.verifier.memory import keep_freed_memory
from gradeschool.verifier.sample_work import Asked, How, Sampler, Written

WAIT_SECONDS = 0.5


def in_processes(
    folder: Path, how: How, asked: Sequence[Asked], processes: int = 1
) -> Iterator[list[Written]]:
    """Yield what is written, some rows at a time; with several processes, each has some prompts."""
    if processes < 2:
        yield from Sampler(folder, how).write(asked)
        return
    context = get_context("spawn")
    queue: Any = context.Queue(maxsize=4 * processes)
    prompts = sorted({one.tokens for one in asked}, key=lambda ids: -len(ids))
    turn = {ids: at % processes for at, ids in enumerate(prompts)}
    parts = [[one for one in asked if turn[one.tokens] == part] for part in range(processes)]
    started = [
        context.Process(target=_child, args=(folder, how, part, queue), daemon=True)
        for part in parts
        if part
    ]
    for process in started:
        process.start()
    try:
        yield from _received(queue, started)
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.join()


def _received(queue: Any, started: Sequence[Any]) -> Iterator[list[Written]]:
    """Yield what processes send until each has ended; raises InputError where one died."""
    running = len(started)
    while running:
        try:
            rows = queue.get(timeout=WAIT_SECONDS)
        except Empty:
            dead = [one.exitcode for one in started if one.exitcode]
            if dead:
                raise InputError(
                    f"a process that samples ended with {dead[0]}; what is stored stays, the same "
                    "command goes on (fewer --processes need less memory)"
                ) from None
            continue
        if rows is None:
            running -= 1
        else:
            yield rows


def _child(folder: Path, how: How, asked: Sequence[Asked], queue: Any) -> None:
    """Write in a process of its own; ends where the process that started it is gone."""
    ignore_interrupts()
    parent = os.getppid()
    keep_freed_memory()
    for rows in Sampler(folder, how).write(asked):
        if os.getppid() != parent:
            return
        queue.put(rows)
    queue.put(None)
