"""Many samples of a model on this machine, straight from the token loop into a run folder.

The same folder as `gradeschool eval` writes, row by row: a sampling that is killed at any time asks
only for what is missing, and more samples can be added later. What a sample is depends on weights,
prompt, its number and the seed alone, not on what else is asked for.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from queue import Empty
from typing import Any, NamedTuple

from gradeschool.completion import Finish, Usage
from gradeschool.errors import InputError
from gradeschool.models.base import Reply, Request
from gradeschool.models.batched import DEFAULT_TOKENS, fingerprint, folder_of, tokens_of, too_long
from gradeschool.recordings.files import MANIFEST_FILE
from gradeschool.runs.finish import matrix_of, write_results
from gradeschool.runs.manifest import manifest
from gradeschool.runs.plan import Plan, missing
from gradeschool.runs.records import completed, failed, to_line
from gradeschool.runs.store import RunStore
from gradeschool.verifier.stopping import stopped_by_signals

TOGETHER = 64  # rows that are written at once, and sent by a process at once
WAIT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Here:
    """A model on this machine as a sampling asks it: the one that `eval` calls transformers/."""

    folder: Path
    name: str
    calculator: bool

    @property
    def identity(self) -> str:
        """Return what makes its samples its own."""
        calculator = " with the calculator" if self.calculator else ""
        return f"transformers/{self.name} {fingerprint(self.folder)}{calculator}"


class Told(NamedTuple):
    """How far a sampling is; `tokens` were written in this session."""

    done: int
    of: int
    tokens: int


class Sampling(NamedTuple):
    """How a sampling ended: samples stored of all that the plan has, failures, interrupted."""

    stored: int
    of: int
    failed: int
    stopped: bool


class _Job(NamedTuple):
    number: int  # of the request
    sample: int
    tokens: tuple[int, ...]


class _Work(NamedTuple):
    """What one process writes, and how."""

    folder: Path
    jobs: Sequence[_Job]
    temperature: float
    top_p: float
    max_tokens: int
    seed: int
    calculator: bool
    stop: tuple[str, ...]


class _Written(NamedTuple):
    number: int
    text: str
    tokens: int
    finished: bool


def here(spec: str, calculator: bool) -> Here:
    """Return the model of a folder, or of a name in the Hugging Face cache; raises InputError."""
    return Here(folder_of(spec), spec.rstrip("/").rpartition("/")[2], calculator)


def sample_here(
    plan: Plan,
    model: Here,
    output: Path,
    *,
    processes: int = 1,
    version: str = "",
    tell: Callable[[Told], None] | None = None,
) -> Sampling:
    """Write the samples that a run folder lacks, then its results.

    SIGINT and SIGTERM end it in order. Raises StoreError where the folder holds another run.
    """
    requests = plan.requests(model.identity)
    with RunStore(output) as store, stopped_by_signals() as stop:
        asked: Any = model  # only its identity is looked at
        store.write_json(
            MANIFEST_FILE, manifest(plan, asked, version, store.read_json(MANIFEST_FILE))
        )
        done = {key for key, known in store.completions.items() if not known.error}
        todo = missing(requests, done)
        work, unfit = _work(plan, model, todo) if todo else (None, [])
        for request, error in unfit:
            one = failed(request, error, model.name)
            store.append([to_line(one, request.problem.question)], [one])
        before, tokens = len(requests) - len(todo), 0
        written = _written(work, processes) if work is not None and work.jobs else iter(())
        stored = before
        for rows in written:
            replies = [(todo[row.number], _reply(row)) for row in rows]
            made = [completed(request, reply, model.name) for request, reply in replies]
            store.append(
                [to_line(one, request.problem.question)
                 for one, (request, _) in zip(made, replies, strict=True)], made,
            )  # fmt: skip
            stored += len(rows)
            tokens += sum(row.tokens for row in rows)
            if tell is not None:
                tell(Told(stored, len(requests), tokens))
            if stop.asked:
                break
        if not stop.asked:
            write_results(plan, model.name, store, requests, matrix_of(plan))
        return Sampling(stored, len(requests), len(unfit), stop.asked)


def _reply(row: _Written) -> Reply:
    finish = Finish.STOP if row.finished else Finish.LENGTH
    return Reply(row.text, finish, Usage(None, row.tokens))


def _work(plan: Plan, model: Here, todo: Sequence[Request]) -> tuple[_Work, list[Any]]:
    """Return what is to be written, and the requests whose prompt leaves no room, with the error.

    The limit of tokens is lowered where the longest prompt that fits leaves less room.
    """
    from transformers import AutoConfig

    from gradeschool.verifier.head import load_tokenizer

    tokenizer = load_tokenizer(model.folder)
    decoding = plan.decoding
    limit = decoding.max_tokens or DEFAULT_TOKENS
    config = AutoConfig.from_pretrained(model.folder, local_files_only=True)
    context = getattr(config, "max_position_embeddings", None) or 1 << 30
    prompts: dict[Any, tuple[int, ...]] = {}
    jobs, unfit = [], []
    for number, request in enumerate(todo):
        if request.prompt not in prompts:
            prompts[request.prompt] = tuple(tokens_of(tokenizer, request.prompt))
        ids = prompts[request.prompt]
        if len(ids) + limit // 4 > context:
            unfit.append((request, too_long(len(ids), limit, context)))
        else:
            jobs.append(_Job(number, request.sample, ids))
    room = context - max((len(job.tokens) for job in jobs), default=0)
    work = _Work(
        folder=model.folder,
        jobs=jobs,
        temperature=1.0 if decoding.temperature is None else decoding.temperature,
        top_p=1.0 if decoding.top_p is None else decoding.top_p,
        max_tokens=min(limit, room),
        seed=decoding.seed or 0,
        calculator=model.calculator,
        stop=decoding.stop,
    )
    return work, unfit


def _written(work: _Work, processes: int) -> Iterator[list[_Written]]:
    """Yield what is written, some rows at a time; with several processes, each has some prompts."""
    if processes < 2:
        yield from _loop(work)
        return
    context = get_context("spawn")
    queue: Any = context.Queue(maxsize=4 * processes)
    prompts = sorted({job.tokens for job in work.jobs}, key=lambda ids: -len(ids))
    turn = {ids: at % processes for at, ids in enumerate(prompts)}
    parts = [
        work._replace(jobs=[job for job in work.jobs if turn[job.tokens] == part])
        for part in range(processes)
    ]
    started = [
        context.Process(target=_child, args=(part, queue), daemon=True)
        for part in parts
        if part.jobs
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


def _received(queue: Any, started: Sequence[Any]) -> Iterator[list[_Written]]:
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


def _child(work: _Work, queue: Any) -> None:
    """Write in a process of its own; ends where the process that started it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    parent = os.getppid()
    for rows in _loop(work):
        if os.getppid() != parent:
            return
        queue.put(rows)
    queue.put(None)


def _loop(work: _Work) -> Iterator[list[_Written]]:
    import torch

    from gradeschool.models.batched import ends_of
    from gradeschool.models.token_loop import Loop
    from gradeschool.models.tokens.draw import Draw
    from gradeschool.models.tokens.rows import Job
    from gradeschool.verifier.head import load_model, load_tokenizer

    torch.set_num_threads(1)
    model = load_model(work.folder, "cuda" if torch.cuda.is_available() else "cpu")
    tokenizer = load_tokenizer(work.folder)
    ends = ends_of(model, tokenizer)
    draw = Draw(work.temperature, work.top_p)
    loop = Loop(model, tokenizer, draw, ends, work.calculator, work.stop)
    jobs = [
        Job(at, job.sample, job.tokens)
        for at, job in sorted(enumerate(work.jobs), key=lambda pair: -len(pair[1].tokens))
    ]
    rows: list[_Written] = []
    for one in loop.run(jobs, work.max_tokens, work.seed):
        ids = one.ids[:-1] if one.finished else one.ids
        text = _cut(str(tokenizer.decode(ids, skip_special_tokens=True)), work.stop)
        rows.append(_Written(work.jobs[one.prompt].number, text, len(one.ids), one.finished))
        if len(rows) == TOGETHER:
            yield rows
            rows = []
    if rows:
        yield rows


def _cut(text: str, stop: Sequence[str]) -> str:
    """Return a text up to the first stop string in it."""
    return text[: min((at for end in stop if (at := text.find(end)) >= 0), default=len(text))]
