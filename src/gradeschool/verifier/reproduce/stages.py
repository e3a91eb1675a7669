"""Run a recipe's stages: each is a command of this package, run once, after those it needs."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from gradeschool.atomic import FolderLock, write_json
from gradeschool.errors import GradeschoolError, InputError
from gradeschool.formats.own_run import read_json
from gradeschool.machine import cores
from gradeschool.signals import StopFlag, stop_flag
from gradeschool.worker import python_command, python_environment

STAGES_FOLDER = "stages"


@dataclass(frozen=True, slots=True)
class Stage:
    """One command. Paths in it are relative to the recipe's folder, in which it runs.

    command: the arguments of `gradeschool`. needs: the stages whose results it reads. stdout: the
    file for its output; by default the stage's log.
    """

    name: str
    command: tuple[str, ...]
    needs: tuple[str, ...] = ()
    stdout: str = ""


class StageResult(NamedTuple):
    """A finished stage: a digest of its inputs, wall-clock and CPU seconds."""

    digest: str
    seconds: float
    cpu_seconds: float


def digests(stages: Sequence[Stage]) -> dict[str, str]:
    """Return a digest for each stage: of its command, and of all stages that it needs.

    Raises ValueError if a stage needs one that does not precede it.
    """
    by_stage: dict[str, str] = {}
    for stage in stages:
        late = [need for need in stage.needs if need not in by_stage]
        if late or stage.name in by_stage:
            raise ValueError(f"the stage {stage.name!r} needs {late} before it, once")
        parts = [*stage.command, *(by_stage[need] for need in stage.needs)]
        by_stage[stage.name] = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    return by_stage


def finished(folder: Path, stages: Sequence[Stage]) -> dict[str, StageResult]:
    """Return the finished stages; raises InputError if one was run with other settings."""
    expected = digests(stages)
    results: dict[str, StageResult] = {}
    for stage in stages:
        fields = read_json(folder / STAGES_FOLDER / f"{stage.name}.json")
        if fields is None:
            continue
        if fields.get("digest") != expected[stage.name]:
            raise InputError(
                f"the stage {stage.name!r} in {str(folder)!r} was run with other settings; give "
                "another folder with -o, or the settings as they were"
            )
        results[stage.name] = StageResult(
            fields["digest"], fields["seconds"], fields["cpu_seconds"]
        )
    return results


def mark(folder: Path, stage: Stage, result: StageResult) -> None:
    """Store that a stage is done."""
    fields = {"command": ["gradeschool", *stage.command], **result._asdict()}
    write_json(folder / STAGES_FOLDER / f"{stage.name}.json", fields)


def stages_for(stages: Sequence[Stage], names: Iterable[str]) -> list[Stage]:
    """Return the named stages and all stages that they need, in order."""
    needs = {stage.name: stage.needs for stage in stages}
    needed: set[str] = set()
    ahead = list(names)
    while ahead:
        name = ahead.pop()
        if name not in needed:
            needed.add(name)
            ahead.extend(needs[name])
    return [stage for stage in stages if stage.name in needed]


def ready_stages(
    stages: Sequence[Stage], results: Mapping[str, StageResult], running: Iterable[str]
) -> list[Stage]:
    """Return the stages that can begin because all their needs are done, the longest chain first.

    So the chains of several training seeds end at about the same time.
    """
    out = set(running) | set(results)
    ahead = longest_chains(stages)
    can = [
        stage
        for stage in stages
        if stage.name not in out and all(need in results for need in stage.needs)
    ]
    return sorted(can, key=lambda stage: -ahead[stage.name])


def longest_chains(stages: Sequence[Stage]) -> dict[str, int]:
    """Return for each stage the length of the longest chain of stages after it."""
    lengths = {stage.name: 0 for stage in stages}
    for stage in reversed(stages):
        for need in stage.needs:
            lengths[need] = max(lengths[need], lengths[stage.name] + 1)
    return lengths


# The command line, for a process that ends with its parent.
STAGE_PROGRAM = "from gradeschool.cli.stage import run; run()"
POLL_SECONDS = 0.1
LOG_TAIL = 1500  # characters of a failed stage's log in its error
INTERRUPTED = 130
STOP_SECONDS = 60.0
# Keeping freed memory in glibc makes training on a CPU a fifth faster (docs/log.md).
ALLOCATOR = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": "8000000000",
    "MALLOC_TOP_PAD_": "200000000",
}


class StageError(GradeschoolError):
    """A stage's command failed; the recipe stops, and the next run continues from there."""


class StageProcess(NamedTuple):
    """A stage with its running process."""

    stage: Stage
    process: subprocess.Popen[bytes]
    since: float
    log: Path


class StageProgress(Protocol):
    """Progress callbacks: stages begin, run and end."""

    def show(self, running: Sequence[StageProcess], finished: int, of: int) -> None:
        """Show the running stages; called often."""

    def ended(self, stage: Stage, result: StageResult) -> None:
        """Report a finished stage."""


def run(
    stages: Sequence[Stage], folder: Path, jobs: int, progress: StageProgress
) -> dict[str, StageResult]:
    """Run the unfinished stages, at most `jobs` at a time; return the results of all stages.

    SIGINT and SIGTERM let the running stages end cleanly, then raise KeyboardInterrupt; a second
    signal, or the end of this process, kills them immediately. The same call continues from there.
    Raises StageError if a command fails, InputError if a stage was run with other settings,
    StoreError if the folder cannot be used or is in use.
    """
    with FolderLock(folder / STAGES_FOLDER), stop_flag() as stop:
        return _run(stages, folder, jobs, progress, stop)


def _run(
    stages: Sequence[Stage], folder: Path, jobs: int, progress: StageProgress, stop: StopFlag
) -> dict[str, StageResult]:
    results = finished(folder, stages)
    codes = digests(stages)
    running: dict[str, StageProcess] = {}
    try:
        while len(results) < len(stages):
            if stop.requested:
                raise KeyboardInterrupt
            for stage in ready_stages(stages, results, running)[: jobs - len(running)]:
                running[stage.name] = _begin(stage, folder, jobs)
            progress.show(list(running.values()), len(results), len(stages))
            time.sleep(POLL_SECONDS)
            for process in list(running.values()):
                ended = _ended(process, codes[process.stage.name])
                if ended is not None:
                    del running[process.stage.name]
                    mark(folder, process.stage, ended)
                    results[process.stage.name] = ended
                    progress.ended(process.stage, ended)
    except BaseException:
        _stop(list(running.values()))
        raise
    return results


def _begin(stage: Stage, folder: Path, jobs: int) -> StageProcess:
    log = folder / STAGES_FOLDER / f"{stage.name}.log"
    threads = str(max(1, cores() // jobs))
    (folder / stage.stdout).parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        out = (folder / f"{stage.stdout}.part").open("wb") if stage.stdout else None
        process = subprocess.Popen(  # noqa: S603 (our own command line)
            python_command(STAGE_PROGRAM, *stage.command),
            cwd=folder,
            stdin=subprocess.PIPE,  # closes with this process, and the stage ends
            process_group=0,  # a terminal's Ctrl-C reaches only this process, which passes it on
            stdout=out or output,
            stderr=output,
            env={
                "OMP_NUM_THREADS": threads,
                "TOKENIZERS_PARALLELISM": "false",
                **ALLOCATOR,
                **python_environment({}),
            },
        )
        if out is not None:
            out.close()
    return StageProcess(stage, process, time.monotonic(), log)


def _ended(running: StageProcess, digest: str) -> StageResult | None:
    """Return the result of a successful process, None if it is running; raise if it failed."""
    pid, status, usage = os.wait4(running.process.pid, os.WNOHANG)
    if not pid:
        return None
    code = running.process.returncode = os.waitstatus_to_exitcode(status)
    _close(running.process)
    if code in {INTERRUPTED, -signal.SIGINT}:
        raise KeyboardInterrupt
    if code:
        tail = running.log.read_text("utf-8", "replace")[-LOG_TAIL:].strip()
        raise StageError(
            f"the stage {running.stage.name!r} ended with status {code}: {tail}\n"
            f"(full output: {str(running.log)!r}); the same command continues from there"
        )
    if running.stage.stdout:
        target = running.log.parents[1] / running.stage.stdout
        target.with_name(f"{target.name}.part").replace(target)
    seconds = round(time.monotonic() - running.since, 1)
    return StageResult(digest, seconds, round(usage.ru_utime + usage.ru_stime, 1))


def _stop(running: Sequence[StageProcess]) -> None:
    """Interrupt the running stages and wait for them."""
    alive = [stage.process for stage in running if stage.process.returncode is None]
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
    """Close our end of a process's pipe."""
    if process.stdin is not None:
        process.stdin.close()
