"""Sampling on Ray: actors on any machine hold the model, and are given one share after another.

What they write comes back as it is written; the process that started them alone stores it. A share
whose actor is lost goes, without what came back of it, to another one. Samples and their keys are
those of a sampling without Ray, so either goes on where the other stopped. With a local Ray or one
at RAY_ADDRESS, whose machines need gradeschool too; a model that a machine lacks is sent there.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gradeschool.errors import GradeschoolError, InputError, MissingExtraError
from gradeschool.models.batched import fingerprint
from gradeschool.signals import keeping_handler
from gradeschool.verifier.sample_work import TOGETHER, Asked, How, Sampler, Written

# Of a model's folder what is sent to a machine that lacks it.
SENT = ("*.safetensors", "*.bin", "*.json", "*.txt", "*.model", "*.jinja")
# Samples in a share, at most. A GPU writes a thousand at once.
ON_CPU, ON_GPU = 512, 4096
SHARES = 4  # for each actor, so that none waits long for the last
LOST = 3  # so many actors in a row, nothing written between them, are no accident
WAIT_SECONDS = 1.0
TOLD = 300  # characters of what Ray says


class OnRay:
    """The model in one of Ray's processes."""

    def __init__(self, folder: str, digest: str, how: How) -> None:
        self.folder, self.digest, self.how = Path(folder), digest, how
        self.sampler: Sampler | None = None

    def load(self, files: Mapping[str, bytes] | None) -> bool:
        """Load the model: the folder's, or what is sent; False where this machine has neither."""
        if files is not None:
            with TemporaryDirectory(prefix="gradeschool-") as folder:
                for name, body in files.items():
                    Path(folder, name).write_bytes(body)
                self.sampler = Sampler(Path(folder), self.how)
        elif (self.folder / "config.json").is_file() and fingerprint(self.folder) == self.digest:
            self.sampler = Sampler(self.folder, self.how)
        return self.sampler is not None

    def write(self, asked: Sequence[Asked]) -> Iterator[list[Written]]:
        """Yield what is written."""
        assert self.sampler is not None, "the model is loaded first"  # noqa: S101
        yield from self.sampler.write(asked)


def on_ray(
    folder: Path, how: How, asked: Sequence[Asked], actors: int | None = None
) -> Iterator[list[Written]]:
    """Yield what is written, some rows at a time.

    actors: how many; by default one for each GPU of the cluster, else for each CPU. Raises
    MissingExtraError without ray, InputError where there is none at RAY_ADDRESS, GradeschoolError
    where an actor fails or Ray gives up.
    """
    try:
        import ray
    except ImportError:
        raise MissingExtraError("--engine ray", "cluster") from None
    with _running(ray):
        found = ray.cluster_resources()
        unit = "GPU" if found.get("GPU", 0) >= 1 else "CPU"
        most = ON_GPU if unit == "GPU" else ON_CPU
        count = actors or max(1, int(found.get(unit, 1)))
        shares = shares_of(asked, count, most)
        actor = ray.remote(OnRay).options(**{f"num_{unit.lower()}s": 1})
        yield from _Crew(ray, actor, folder, how, shares).write(min(count, len(shares)))


def shares_of(asked: Sequence[Asked], actors: int, most: int) -> deque[Sequence[Asked]]:
    """Cut samples into shares, those of the longest prompts first, those of one prompt together."""
    ordered = sorted(asked, key=lambda one: (-len(one.tokens), one.tokens, one.sample))
    size = min(most, max(TOGETHER, ceil(len(ordered) / (SHARES * actors))))
    return deque(ordered[at : at + size] for at in range(0, len(ordered), size))


@contextmanager
def _running(ray: Any) -> Iterator[None]:
    """Join the Ray that runs, or run one on this machine for as long as it takes."""
    ours = not ray.is_initialized()
    if ours:
        address = os.environ.get("RAY_ADDRESS")
        local = {} if address else {"include_dashboard": False}
        try:
            with keeping_handler(signal.SIGTERM):
                ray.init(log_to_driver=False, logging_level="ERROR", **local)
        except (ConnectionError, ValueError) as error:
            raise InputError(f"cannot join Ray at RAY_ADDRESS={address!r}: {error}") from error
    try:
        yield
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, GradeschoolError):
            raise error.cause from None
        raise GradeschoolError(f"an actor on Ray failed: {error.cause or error}") from error
    except ray.exceptions.RayError as error:
        told = str(error).strip().rpartition("\n")[2].strip()
        raise GradeschoolError(
            f"Ray gave up: {told[-TOLD:]}; what is stored stays, the same command goes on"
        ) from error
    finally:
        if ours:
            ray.shutdown()


@dataclass(slots=True)
class _Actor:
    """An actor, and what of its share has not come back yet, by number."""

    handle: Any
    left: dict[int, Asked] = field(default_factory=dict)


class _Crew:
    """The actors of one sampling, as seen by the process that started them."""

    def __init__(
        self, ray: Any, actor: Any, folder: Path, how: How, shares: deque[Sequence[Asked]]
    ) -> None:
        self.ray, self.actor, self.folder, self.shares = ray, actor, folder, shares
        self.given = str(folder.absolute()), fingerprint(folder), how
        self.files: Any = None  # once an actor has asked for them
        self.busy: dict[Any, _Actor] = {}  # by what it was asked: to load, or to write a share
        self.lost = 0

    def write(self, count: int) -> Iterator[list[Written]]:
        """Yield what that many actors write, until all shares are written."""
        try:
            for _ in range(count):
                self._start()
            while self.shares or any(actor.left for actor in self.busy.values()):
                done, _ = self.ray.wait(list(self.busy), num_returns=1, timeout=WAIT_SECONDS)
                for task in done:
                    yield from self._take(task)
        finally:
            for actor in self.busy.values():
                self.ray.kill(actor.handle)

    def _start(self) -> None:
        actor = _Actor(self.actor.remote(*self.given))
        self.busy[actor.handle.load.remote(None)] = actor

    def _take(self, task: Any) -> Iterator[list[Written]]:
        """Take what an actor did; where it is lost, begin another one for what is left."""
        actor = self.busy.pop(task)
        try:
            if not hasattr(task, "__next__"):
                self._loaded(actor, self.ray.get(task))
            elif rows := self._rows(task):
                self.busy[task] = actor
                self.lost = 0
                for row in rows:
                    del actor.left[row.number]
                yield rows
            else:
                self._next(actor)
        except self.ray.exceptions.RayTaskError:
            raise
        except self.ray.exceptions.RayError as error:
            self.busy.pop(task, None)
            self._replace(actor, error)

    def _rows(self, task: Any) -> list[Written]:
        """Return the next rows of a share, none at its end."""
        try:
            rows: list[Written] = self.ray.get(next(task))
        except StopIteration:
            return []
        return rows

    def _loaded(self, actor: _Actor, loaded: bool) -> None:
        if loaded:
            self._next(actor)
            return
        if self.files is None:
            paths = {path for pattern in SENT for path in self.folder.glob(pattern)}
            self.files = self.ray.put({path.name: path.read_bytes() for path in paths})
        self.busy[actor.handle.load.remote(self.files)] = actor

    def _next(self, actor: _Actor) -> None:
        """Give an actor a share; let it go where there is none."""
        if not self.shares:
            self.ray.kill(actor.handle)
            return
        share = self.shares.popleft()
        actor.left = {one.number: one for one in share}
        task = actor.handle.write.options(num_returns="streaming").remote(share)
        self.busy[task] = actor

    def _replace(self, actor: _Actor, error: Exception) -> None:
        self.lost += 1
        if self.lost >= LOST * (1 + len(self.busy)):
            raise error
        if actor.left:
            self.shares.append(list(actor.left.values()))
        with suppress(self.ray.exceptions.RayError):
            self.ray.kill(actor.handle)  # it may only have been out of reach
        self._start()
