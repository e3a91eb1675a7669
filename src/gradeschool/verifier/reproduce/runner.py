"""Runs stages as processes, as many at once as there are cores; a killed recipe goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from gradeschool.errors import GradeschoolError, StoreError
from gradeschool.runs.store import FolderLock
from gradeschool.signals import StopFlag, stop_flag
from gradeschool.verifier.reproduce.stages import (
    STAGES_FOLDER,
    Done,
    Stage,
    digests,
    finished,
    mark,
    ready,
)
from gradeschool.worker import python_command, python_environment

# The command line, for a process that ends with the one that started it.
STAGE_PROGRAM = "from gradeschool.cli.stage import run; run()"
POLL_SECONDS = 0.1
LOG_TAIL = 1500  # characters of a failed stage's log that its error shows
INTERRUPTED = 130
STOP_SECONDS = 60.0
# Told to keep freed memory, glibc makes training on a CPU a fifth faster (docs/log.md).
ALLOCATOR = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": "8000000000",
    "MALLOC_TOP_PAD_": "200000000",
}


class StageError(GradeschoolError):
    """A stage's command failed; the recipe stops, and goes on from there when it runs again."""


class Running(NamedTuple):
    """A stage whose process runs."""

    stage: Stage
    process: subprocess.Popen[bytes]
    since: float
    log: Path


class Watcher(Protocol):
    """Who is told of stages as they begin, go on and end."""

    def show(self, running: Sequence[Running], done: int, of: int) -> None:
        """See what runs; called often."""

    def ended(self, stage: Stage, done: Done) -> None:
        """Learn of a stage that is done."""


def run(stages: Sequence[Stage], folder: Path, jobs: int, watcher: Watcher) -> dict[str, Done]:
    """Run what is not done yet, at most `jobs` at once; return every stage as done.

    SIGINT and SIGTERM let the stages that run end in order, then raise KeyboardInterrupt; a second
    one ends all at once, as the death of this process does. The same call goes on from there.
    Raises StageError where a command fails, InputError where a stage was done with other settings,
    StoreError where the folder cannot be used or is in use.
    """
    with _locked(folder / STAGES_FOLDER), stop_flag() as stop:
        return _run(stages, folder, jobs, watcher, stop)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other recipes out of the folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(folder)
        lock.take()
    except OSError as error:
        raise StoreError(f"cannot use {str(folder)!r}: {error.strerror}; give another") from error
    try:
        yield
    finally:
        lock.release()


def _run(
    stages: Sequence[Stage], folder: Path, jobs: int, watcher: Watcher, stop: StopFlag
) -> dict[str, Done]:
    done = finished(folder, stages)
    codes = digests(stages)
    running: dict[str, Running] = {}
    try:
        while len(done) < len(stages):
            if stop.requested:
                raise KeyboardInterrupt
            for stage in ready(stages, done, running)[: jobs - len(running)]:
                running[stage.name] = _begin(stage, folder, jobs)
            watcher.show(list(running.values()), len(done), len(stages))
            time.sleep(POLL_SECONDS)
            for one in list(running.values()):
                ended = _ended(one, codes[one.stage.name])
                if ended is not None:
                    del running[one.stage.name]
                    mark(folder, one.stage, ended)
                    done[one.stage.name] = ended
                    watcher.ended(one.stage, ended)
    except BaseException:
        _stop(list(running.values()))
        raise
    return done


def _begin(stage: Stage, folder: Path, jobs: int) -> Running:
    log = folder / STAGES_FOLDER / f"{stage.name}.log"
    threads = str(max(1, (os.cpu_count() or 1) // jobs))
    (folder / stage.stdout).parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as told:
        out = (folder / f"{stage.stdout}.part").open("wb") if stage.stdout else None
        process = subprocess.Popen(  # noqa: S603 (our own command line)
            python_command(STAGE_PROGRAM, *stage.command),
            cwd=folder,
            stdin=subprocess.PIPE,  # closes with this process, and the stage ends
            process_group=0,  # a terminal's Ctrl-C reaches this process alone, which passes it on
            stdout=out or told,
            stderr=told,
            env={
                "OMP_NUM_THREADS": threads,
                "TOKENIZERS_PARALLELISM": "false",
                **ALLOCATOR,
                **python_environment({}),
            },
        )
        if out is not None:
            out.close()
    return Running(stage, process, time.monotonic(), log)


def _ended(one: Running, digest: str) -> Done | None:
    """Return what a process took if it ended well, None where it runs; raise where it failed."""
    pid, status, usage = os.wait4(one.process.pid, os.WNOHANG)
    if not pid:
        return None
    code = one.process.returncode = os.waitstatus_to_exitcode(status)
    _close(one.process)
    if code in {INTERRUPTED, -signal.SIGINT}:
        raise KeyboardInterrupt
    if code:
        told = one.log.read_text("utf-8", "replace")[-LOG_TAIL:].strip()
        raise StageError(
            f"the stage {one.stage.name!r} ended with status {code}: {told}\n"
            f"(all it said: {str(one.log)!r}); the same command goes on from there"
        )
    if one.stage.stdout:
        target = one.log.parents[1] / one.stage.stdout
        target.with_name(f"{target.name}.part").replace(target)
    seconds = round(time.monotonic() - one.since, 1)
    return Done(digest, seconds, round(usage.ru_utime + usage.ru_stime, 1))


def _stop(running: Sequence[Running]) -> None:
    """Let what runs end in order, as at an interrupt, and wait for it."""
    alive = [one.process for one in running if one.process.returncode is None]
    for process in alive:
        process.send_signal(signal.SIGINT)
    for process in alive:
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _close(process)


def _close(process: subprocess.Popen[bytes]) -> None:
    """Close our end of the pipe that a process holds on to."""
    if process.stdin is not None:
        process.stdin.close()
