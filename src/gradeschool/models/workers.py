"""Processes that generate: some on this machine, or actors on Ray.

Each has a model and receives tasks; only the process that started them stores the results. A sample
and its key do not depend on the worker, so a run can continue with other workers.
"""

from __future__ import annotations

import ctypes
import os
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import ceil
from multiprocessing import get_context
from pathlib import Path
from queue import Empty
from tempfile import TemporaryDirectory
from typing import Any

from gradeschool.errors import InputError
from gradeschool.models.generation import SEND_ROWS, LoadedGenerator
from gradeschool.models.local import GenerationSettings, SampleTask, WrittenText, files_digest
from gradeschool.ray_session import ray_session
from gradeschool.signals import ignore_interrupts

WAIT_SECONDS = 0.5
# malloc.h of glibc: no separate mappings for large blocks, no memory returned below 2 GB, growth by
# 200 MB. Otherwise large blocks are returned to the system and come back as zeroed pages.
MALLOC_OPTIONS = {-4: 0, -1: 2**31 - 1, -2: 200_000_000}  # M_MMAP_MAX, M_TRIM_THRESHOLD, M_TOP_PAD
# The files of a model's folder that are sent to a machine without it.
SENT_FILES = ("*.safetensors", "*.bin", "*.json", "*.txt", "*.model", "*.jinja")
# Maximum number of tasks in a share. A GPU writes a thousand rows at a time.
SHARE_ON_CPU, SHARE_ON_GPU = 512, 4096
SHARES_PER_ACTOR = 4  # so that no actor waits long for the last one
MOST_LOSSES = 3  # per actor, without progress in between


def keep_freed_memory() -> bool:
    """Let this process keep the memory that it frees; False if the C library is not glibc.

    Training a model of 0.2 M weights is 8 % faster with it (17,981 to 19,461 tokens per CPU
    second).
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return False
    results = [mallopt(option, value) for option, value in MALLOC_OPTIONS.items()]
    return all(result == 1 for result in results)


# Processes on this machine


def in_processes(
    settings: GenerationSettings, limit: int, tasks: Sequence[SampleTask], processes: int
) -> Generator[list[WrittenText], None, None]:
    """Yield written rows, several at a time; each process writes the samples of some prompts.

    Raises InputError if a process dies.
    """
    context = get_context("spawn")
    queue: Any = context.Queue(maxsize=4 * processes)
    prompts = sorted({task.tokens for task in tasks}, key=lambda ids: -len(ids))
    owner = {ids: index % processes for index, ids in enumerate(prompts)}
    shares = [[task for task in tasks if owner[task.tokens] == number]
              for number in range(processes)]  # fmt: skip
    workers = [
        context.Process(target=_work, args=(settings, limit, share, queue), daemon=True)
        for share in shares
        if share
    ]
    for worker in workers:
        worker.start()
    try:
        yield from _received(queue, workers)
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join()


def _received(queue: Any, workers: Sequence[Any]) -> Iterator[list[WrittenText]]:
    """Yield what the processes send until all have ended; an empty list if nothing arrives."""
    running = len(workers)
    while running:
        try:
            rows = queue.get(timeout=WAIT_SECONDS)
        except Empty:
            status = next((worker.exitcode for worker in workers if worker.exitcode), None)
            if status is not None:
                raise InputError(
                    f"a sampling process exited with {status}; stored samples are kept, and the "
                    "same command continues (fewer --processes need less memory)"
                ) from None
            yield []
            continue
        if rows is None:
            running -= 1
        else:
            yield rows


def _work(
    settings: GenerationSettings, limit: int, tasks: Sequence[SampleTask], queue: Any
) -> None:
    """Write in a separate process; end if the parent process no longer exists."""
    import torch

    ignore_interrupts()
    parent = os.getppid()
    keep_freed_memory()
    torch.set_num_threads(1)
    for rows in LoadedGenerator(settings.folder).write(settings, limit, tasks):
        if os.getppid() != parent:
            return
        queue.put(rows)
    queue.put(None)


# Actors on Ray


class RayGenerator:
    """The model in one of Ray's processes."""

    def __init__(self, folder: str, digest: str) -> None:
        self.folder, self.digest = Path(folder), digest
        self.generator: LoadedGenerator | None = None

    def load(self, files: Mapping[str, bytes] | None) -> bool:
        """Load the model from the folder or from these files; False if this machine has neither."""
        if files is not None:
            with TemporaryDirectory(prefix="gradeschool-") as folder:
                for name, body in files.items():
                    Path(folder, name).write_bytes(body)
                self.generator = LoadedGenerator(Path(folder))
        elif (self.folder / "config.json").is_file() and files_digest(self.folder) == self.digest:
            self.generator = LoadedGenerator(self.folder)
        return self.generator is not None

    def write(
        self, settings: GenerationSettings, limit: int, tasks: Sequence[SampleTask]
    ) -> Iterator[list[WrittenText]]:
        """Yield written rows."""
        assert self.generator is not None, "the model is loaded first"  # noqa: S101
        for rows in self.generator.write(settings, limit, tasks):
            if rows:
                yield rows


def on_ray(
    settings: GenerationSettings,
    limit: int,
    tasks: Sequence[SampleTask],
    actors: int | None = None,
) -> Generator[list[WrittenText], None, None]:
    """Yield the rows that actors write, several at a time, on a local Ray or at RAY_ADDRESS.

    actors: their number; by default one per GPU of the cluster, else one per CPU. Its machines also
    need gradeschool; the model is sent to machines without it. If an actor is lost, the unwritten
    rest of its share goes to another one. Raises MissingExtraError without ray, InputError if no
    Ray answers at RAY_ADDRESS, GradeschoolError if an actor or Ray fails.
    """
    with ray_session("; stored samples are kept: run the same command again to resume") as ray:
        resources = ray.cluster_resources()
        unit = "GPU" if resources.get("GPU", 0) >= 1 else "CPU"
        most = SHARE_ON_GPU if unit == "GPU" else SHARE_ON_CPU
        count = actors or max(1, int(resources.get(unit, 1)))
        shares = shares_of(tasks, count, most)
        actor = ray.remote(RayGenerator).options(**{f"num_{unit.lower()}s": 1})
        pool = _ActorPool(ray, actor, settings, limit, shares)
        yield from pool.write(min(count, len(shares)))


def shares_of(tasks: Sequence[SampleTask], actors: int, most: int) -> deque[Sequence[SampleTask]]:
    """Divide tasks into shares: longest prompts first, all tasks of a prompt together."""
    ordered = sorted(tasks, key=lambda task: (-len(task.tokens), task.tokens, task.sample))
    size = min(most, max(SEND_ROWS, ceil(len(ordered) / (SHARES_PER_ACTOR * actors))))
    return deque(ordered[start : start + size] for start in range(0, len(ordered), size))


@dataclass(slots=True)
class _Actor:
    """An actor, and the unfinished tasks of its share by prompt index."""

    handle: Any
    unwritten: dict[int, SampleTask] = field(default_factory=dict)


class _ActorPool:
    """The actors of one run, managed by the process that started them."""

    def __init__(
        self,
        ray: Any,
        actor: Any,
        settings: GenerationSettings,
        limit: int,
        shares: deque[Sequence[SampleTask]],
    ) -> None:
        self.ray, self.actor, self.shares = ray, actor, shares
        self.settings, self.limit = settings, limit
        self.arguments = str(settings.folder.absolute()), files_digest(settings.folder)
        self.files: Any = None  # stored when an actor first needs them
        self.busy: dict[Any, _Actor] = {}  # by the running call: loading, or writing a share
        self.losses = 0

    def write(self, count: int) -> Iterator[list[WrittenText]]:
        """Yield the rows of this many actors until all shares are written."""
        try:
            for _ in range(count):
                self._start()
            while self.shares or any(actor.unwritten for actor in self.busy.values()):
                ready, _ = self.ray.wait(list(self.busy), num_returns=1, timeout=WAIT_SECONDS)
                if not ready:
                    yield []
                for call in ready:
                    yield from self._take(call)
        finally:
            for actor in self.busy.values():
                self.ray.kill(actor.handle)

    def _start(self) -> None:
        actor = _Actor(self.actor.remote(*self.arguments))
        self.busy[actor.handle.load.remote(None)] = actor

    def _take(self, call: Any) -> Iterator[list[WrittenText]]:
        """Take the result of a call; if its actor is lost, start another one."""
        actor = self.busy.pop(call)
        try:
            if not hasattr(call, "__next__"):
                self._loaded(actor, self.ray.get(call))
            elif rows := self._rows(call):
                self.busy[call] = actor
                self.losses = 0
                for row in rows:
                    del actor.unwritten[row.prompt]
                yield rows
            else:
                self._next(actor)
        except self.ray.exceptions.RayTaskError:
            raise
        except self.ray.exceptions.RayError as error:
            self.busy.pop(call, None)
            self._replace(actor, error)

    def _rows(self, call: Any) -> list[WrittenText]:
        """Return the next rows of a share, [] at its end."""
        try:
            rows: list[WrittenText] = self.ray.get(next(call))
        except StopIteration:
            return []
        return rows

    def _loaded(self, actor: _Actor, loaded: bool) -> None:
        if loaded:
            self._next(actor)
            return
        if self.files is None:
            folder = self.settings.folder
            paths = {path for pattern in SENT_FILES for path in folder.glob(pattern)}
            self.files = self.ray.put({path.name: path.read_bytes() for path in paths})
        self.busy[actor.handle.load.remote(self.files)] = actor

    def _next(self, actor: _Actor) -> None:
        """Give an actor a share, or end it if there is none."""
        if not self.shares:
            self.ray.kill(actor.handle)
            return
        share = self.shares.popleft()
        actor.unwritten = {task.prompt: task for task in share}
        write = actor.handle.write.options(num_returns="streaming")
        self.busy[write.remote(self.settings, self.limit, share)] = actor

    def _replace(self, actor: _Actor, error: Exception) -> None:
        self.losses += 1
        if self.losses >= MOST_LOSSES * (1 + len(self.busy)):
            raise error
        if actor.unwritten:
            self.shares.append(list(actor.unwritten.values()))
        with suppress(self.ray.exceptions.RayError):
            self.ray.kill(actor.handle)  # it may only have been unreachable
        self._start()
