"""One evaluation from plan to results: ask for what is missing, store, score."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gradeschool.completion import Completion
from gradeschool.errors import FatalModelError
from gradeschool.formats.read import MANIFEST_FILE
from gradeschool.models.base import BulkModel, Model, Request
from gradeschool.models.preflight import check
from gradeschool.runs.ask import Asker
from gradeschool.runs.cost import Price, Purse, estimate
from gradeschool.runs.finish import scorers_of, write_results
from gradeschool.runs.later import Later
from gradeschool.runs.manifest import manifest
from gradeschool.runs.observer import Observer
from gradeschool.runs.pace import Pace
from gradeschool.runs.plan import Plan, missing
from gradeschool.runs.records import to_line
from gradeschool.runs.results import slug
from gradeschool.runs.signals import stopped_by_signals
from gradeschool.runs.store import RunStore
from gradeschool.runs.writing import GroupWriter
from gradeschool.scoring.at_k import AtK
from gradeschool.scoring.score import RunScore
from gradeschool.scoring.table import OUTCOMES, ScorerSet
from gradeschool.verdict import Outcome


@dataclass(frozen=True, slots=True)
class Asking:
    """How a run is asked for; none of it changes what is asked, or the results.

    connections: requests at a time at most, None to find out what helps. choices: samples of a
    problem in one request (`n`). batch: by way of the Batch API. price, most_cost: dollars, and
    where to stop.
    """

    connections: int | None = None
    choices: int = 1
    batch: bool = False
    price: Price | None = None
    most_cost: float | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How a session of a run ended.

    curve: maj@k and pass@k by the headline scorer, () for one sample a problem. cost: dollars of
    all stored completions, None without a price. over_budget: it stopped at `most_cost`.
    """

    folder: Path
    score: RunScore
    requested: int
    answered: int
    failed: int
    interrupted: bool
    fatal: FatalModelError | None
    curve: tuple[AtK, ...] = ()
    cost: float | None = None
    over_budget: bool = False


async def evaluate(
    plan: Plan, model: Model, folder: Path, *, asking: Asking, observer: Observer, version: str
) -> Evaluation:
    """Run a plan in a folder; what is stored there already is not asked again.

    Samples whose last attempt failed are asked again. SIGINT or SIGTERM stops gracefully, a second
    one at once; either leaves a resumable folder. A server that does not continue the answer that
    the protocol begins ends the run before anything is asked. Raises StoreError, InputError, and
    before anything is asked MissingExtraError for a scorer whose library is not installed.
    """
    scorers = scorers_of(plan)
    started = time.monotonic()
    async with model:
        requests = plan.requests(model.identity)
        with RunStore(folder) as store:
            fields = manifest(plan, model, version, store.read_json(MANIFEST_FILE))
            store.write_json(MANIFEST_FILE, fields)
            purse, writer = _purse(asking, requests, store), GroupWriter(store)
            right: set[str] = set()
            judging = _judging(scorers, observer, right)
            asker, fatal = _asker(model, writer, judging, asking, observer, purse), None
            done = {key for key, known in store.completions.items() if not known.error}
            todo = missing(requests, done)
            observer.watch(asker.live, purse, store.left_by)
            observer.begin(len(requests), len(requests) - len(todo), store.quarantined)
            with stopped_by_signals(asker, observer.stopping):
                try:
                    if todo and not asking.batch and (server := await check(model, plan.protocol)):
                        store.write_json(MANIFEST_FILE, {**fields, "server": server})
                    async with judging, writer:
                        if asking.batch:
                            await _in_batches(model, store, writer, asker, observer, todo)
                        elif isinstance(model, BulkModel):
                            if todo:
                                await asker.ask_at_once(model, todo)
                        else:
                            await asker.ask_all(todo, asking.choices)
                except FatalModelError as error:
                    fatal = error
            spent = time.monotonic() - started
            scored = write_results(
                plan, model.name, store, requests, scorers, purse=purse, seconds=spent, right=right
            )
            answered = [store.completions.get(request.key) for request in requests]
            over_budget = purse is not None and purse.stopped
            return Evaluation(
                folder=folder,
                score=scored.score,
                requested=len(requests),
                answered=sum(known is not None and not known.error for known in answered),
                failed=sum(known is not None and bool(known.error) for known in answered),
                interrupted=asker.stopping.is_set() and fatal is None and not over_budget,
                fatal=fatal,
                curve=scored.curve,
                cost=None if purse is None else purse.spent,
                over_budget=over_budget,
            )


def _purse(asking: Asking, requests: Sequence[Request], store: RunStore) -> Purse | None:
    if asking.price is None:
        return None
    known = store.completions
    spent = sum(asking.price.of(one.usage) for one in known.values())
    pairs = [(request, known[request.key]) for request in requests if request.key in known]
    one = estimate(requests, pairs, 1)
    expected = one.cost(asking.price) / max(1, one.requests)
    answers = sum(not one.error for one in known.values())
    return Purse(asking.price, spent, asking.most_cost, expected, answers)


def _judging(scorers: ScorerSet, observer: Observer, right: set[str]) -> Later:
    """Return who tells the observer; keys that the headline scorer finds right go into `right`."""

    def judge(request: Request, completion: Completion) -> None:
        outcome = Outcome.ERROR
        if not completion.error:
            outcome = OUTCOMES[scorers.outcomes(completion.text, request.problem)[0]]
        if outcome is Outcome.CORRECT:
            right.add(completion.key)
        observer.ended(completion, outcome)

    return Later(judge)


def _asker(
    model: Model,
    writer: GroupWriter,
    judging: Later,
    asking: Asking,
    observer: Observer,
    purse: Purse | None,
) -> Asker:
    def record(request: Request, completion: Completion) -> None:
        writer.add(to_line(completion, request.problem.question), completion)
        if purse is not None:
            purse.pay(completion)
        judging.add(request, completion)

    return Asker(
        model,
        Pace(asking.connections),
        record,
        lambda _: observer.retry(),
        model.name,
        purse.affordable if purse is not None else lambda in_flight: True,
    )


async def _in_batches(
    model: Model,
    store: RunStore,
    writer: GroupWriter,
    asker: Asker,
    observer: Observer,
    todo: Sequence[Request],
) -> None:
    from gradeschool.runs.batch import BatchRun

    batches = BatchRun(model, store, writer, asker.record, observer, asker.stopping)
    await batches.ask_all(todo)


def default_folder(model: str, protocol: str, dataset: str) -> Path:
    """Return where a run goes when no folder is given: the same command finds it again."""
    return Path("runs") / f"{slug(model)}-{slug(protocol)}-{slug(dataset)}"
