"""One evaluation from plan to results: ask for what is missing, store, score."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gradeschool.completion import Completion
from gradeschool.errors import FatalModelError
from gradeschool.models.base import Model, Request
from gradeschool.protocols.registry import get_usable_rule
from gradeschool.recordings.files import MANIFEST_FILE
from gradeschool.runs.ask import Asker
from gradeschool.runs.manifest import manifest
from gradeschool.runs.plan import Plan, missing
from gradeschool.runs.records import to_line
from gradeschool.runs.results import answers_file, run_of, slug, summarise
from gradeschool.runs.store import RESULTS_FILE, RunStore
from gradeschool.scoring.score import RunScore
from gradeschool.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator


class Observer(Protocol):
    """Whoever watches a run: told of its size, of each sample that ends, of each retry."""

    def begin(self, total: int, stored: int, quarantined: int) -> None:
        """Learn how many samples the run has and how many of them are stored already."""

    def ended(self, completion: Completion, outcome: Outcome) -> None:
        """Learn of one sample that ended; `outcome` is by the headline rule."""

    def retry(self) -> None:
        """Learn that a request is tried again."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How a session of a run ended."""

    folder: Path
    score: RunScore
    requested: int
    answered: int
    failed: int
    interrupted: bool
    fatal: FatalModelError | None


async def evaluate(
    plan: Plan,
    model: Model,
    folder: Path,
    *,
    connections: int,
    observer: Observer,
    version: str,
) -> Evaluation:
    """Run a plan in a folder; what is stored there already is not asked again.

    Samples whose last attempt failed are asked again. SIGINT or SIGTERM stops gracefully, a second
    one at once; either leaves a resumable folder. Raises StoreError, InputError, and before
    anything is asked MissingExtraError for a rule that calls a library that is not installed.
    """
    for name in plan.protocol.rules:
        get_usable_rule(name)
    started = time.monotonic()
    async with model:
        requests = plan.requests(model)
        with RunStore(folder) as store:
            fields = manifest(plan, model, version, store.read_json(MANIFEST_FILE))
            store.write_json(MANIFEST_FILE, fields)
            asker, fatal = _asker(plan, model, store, connections, observer), None
            done = {key for key, known in store.completions.items() if not known.error}
            todo = missing(requests, done)
            observer.begin(len(requests), len(requests) - len(todo), store.quarantined)
            with _stopped_by_signals(asker):
                try:
                    await asker.ask_all(todo)
                except FatalModelError as error:
                    fatal = error
            score = _finish(plan, model, store, requests, time.monotonic() - started)
            answered = [store.completions.get(request.key) for request in requests]
            return Evaluation(
                folder=folder,
                score=score,
                requested=len(requests),
                answered=sum(known is not None and not known.error for known in answered),
                failed=sum(known is not None and bool(known.error) for known in answered),
                interrupted=asker.stopping.is_set() and fatal is None,
                fatal=fatal,
            )


def _asker(
    plan: Plan, model: Model, store: RunStore, connections: int, observer: Observer
) -> Asker:
    headline = get_usable_rule(plan.protocol.rules[0])

    def record(request: Request, completion: Completion) -> None:
        store.append([to_line(completion, request.problem.question)], [completion])
        verdict = Outcome.ERROR
        if not completion.error:
            verdict = headline.judge(completion.text, request.problem).outcome
        observer.ended(completion, verdict)

    return Asker(model, connections, record, lambda _: observer.retry(), model.name)


def _finish(
    plan: Plan, model: Model, store: RunStore, requests: Sequence[Request], seconds: float
) -> RunScore:
    """Score what is stored and write results.json and the protocol's answers file."""
    rules = [get_usable_rule(name) for name in plan.protocol.rules]
    run = run_of(model.name, requests, store.completions)
    score, fields = summarise(run, rules, requests, store.completions, seconds)
    store.write_json(RESULTS_FILE, fields)
    if plan.protocol.answers_file:
        name, body = answers_file(
            plan.protocol.answers_file, model.name, requests, store.completions
        )
        store.write_whole(name, body)
    return score


@contextmanager
def _stopped_by_signals(asker: Asker) -> Iterator[None]:
    """Let the first SIGINT or SIGTERM stop the asker and the second cancel what is in flight."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()

    def stop() -> None:
        if asker.stopping.is_set() and task is not None:
            task.cancel()
        asker.stop()

    signals: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM)
    try:
        for number in signals:
            loop.add_signal_handler(number, stop)
    except (RuntimeError, ValueError, NotImplementedError):  # not in the main thread
        signals = ()
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def default_folder(model: str, protocol: str, dataset: str) -> Path:
    """Return where a run goes when no folder is given: the same command finds it again."""
    return Path("runs") / f"{slug(model)}-{slug(protocol)}-{slug(dataset)}"
