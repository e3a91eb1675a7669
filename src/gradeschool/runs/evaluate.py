"""One evaluation from plan to results: request missing samples, store and score them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from gradeschool.completion import Completion, Usage
from gradeschool.errors import FatalModelError, StoreError
from gradeschool.formats.own_run import (
    BATCH_FILES,
    COMPLETIONS_FILE,
    MANIFEST_FILE,
    other_models,
    read_completions,
    read_json,
)
from gradeschool.models.base import Model, Request
from gradeschool.models.engine_facts import engine_facts
from gradeschool.models.openai_api import SAMPLING
from gradeschool.runs.dispatch import ConcurrencyLimiter, Dispatcher
from gradeschool.runs.plan import RunPlan, make_manifest, missing
from gradeschool.runs.progress import EndedSample, RunProgress
from gradeschool.runs.results import scorers_of, write_results
from gradeschool.runs.store import Answered, GroupWriter, RunStore
from gradeschool.scoring.score import RunScore
from gradeschool.scoring.table import OUTCOMES, ScorerSet
from gradeschool.signals import on_interrupt
from gradeschool.verdict import Outcome

if TYPE_CHECKING:
    from gradeschool.runs.cost import Budget, Price
    from gradeschool.scoring.at_k import AtK


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """How the requests of a run are sent; changes neither their content nor the results.

    connections: maximum number of requests in flight, None to adapt it. choices: samples of a
    problem per request (`n`). batch: use the Batch API. price: of tokens. max_cost: dollars at
    which to stop.
    """

    connections: int | None = None
    choices: int = 1
    batch: bool = False
    price: Price | None = None
    max_cost: float | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The end of a session of a run.

    curve: maj@k and pass@k by the headline scorer, () for one sample per problem. cost: dollars for
    all stored completions, None without a price. over_budget: the run stopped at `max_cost`.
    other_models: other models that answered according to the server, "" for none. errors: failed
    samples by cause, the most frequent first. example: the first message of that cause.
    deviations: completions by how the server deviated from the request.
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
    other_models: str = ""
    errors: Mapping[str, int] = field(default_factory=dict)
    example: str = ""
    deviations: Mapping[str, int] = field(default_factory=dict)

    @property
    def missing(self) -> int:
        """The number of requested samples that are not answered."""
        return self.requested - self.answered

    def cautions(self) -> list[str]:
        """Return messages about answers that were not drawn as requested."""
        others = (
            f"the server says that another model answered: {self.other_models}; "
            "check the model's name"
        )
        refused = [
            f"the server refuses {name}: {count} of {self.answered} answers were drawn "
            "with the server's own value, not the protocol's"
            for name in SAMPLING
            if (count := self.deviations.get(f"{name} refused"))
        ]
        return [*([others] if self.other_models else []), *refused]


async def evaluate(
    plan: RunPlan,
    model: Model,
    folder: Path,
    *,
    options: RequestOptions,
    progress: RunProgress,
) -> Evaluation:
    """Run a plan in a folder; stored samples are not requested again.

    Samples whose last attempt failed are requested again. SIGINT or SIGTERM stops after the
    requests in flight, a second signal immediately; both leave a resumable folder. The run ends
    before anything is sent if the protocol begins the answer and the server does not continue it.
    Raises StoreError, InputError, and before anything is sent MissingExtraError for a scorer
    without its library.
    """
    scorers = scorers_of(plan)
    started = monotonic()
    async with model:
        requests = plan.requests(model.identity)
        _check_folder(plan, model, folder)
        with RunStore(folder) as store:
            if not options.batch:
                _check_no_batch(store)
            earlier = store.read_json(MANIFEST_FILE)
            fields = make_manifest(plan, model, earlier, folder, store.repairs)
            if facts := await engine_facts(model):
                fields["engine"] = facts
            session = _Session(plan, model, store, requests, scorers, options, progress)
            store.write_json(MANIFEST_FILE, fields)
            with on_interrupt(session.interrupt):
                try:
                    prefix = plan.protocol.example_prompt().prefix
                    if session.todo and not options.batch and prefix is not None:
                        from gradeschool.models.doctor import check_server

                        server = await check_server(model, plan.protocol)
                        if server:
                            store.write_json(MANIFEST_FILE, {**fields, "server": server})
                    await session.request_missing()
                except FatalModelError as error:
                    session.fatal = error
            return session.finish(monotonic() - started)


def _check_folder(plan: RunPlan, model: Model, folder: Path) -> None:
    """Raise StoreError for a folder of something else, before anything in it is repaired."""
    earlier, path = read_json(folder / MANIFEST_FILE), folder / COMPLETIONS_FILE
    make_manifest(plan, model, earlier, folder)
    rows = list(read_completions(path)) if earlier is None else []
    if rows and not any(completion for _, completion in rows):
        raise StoreError(f"{str(path)!r} is not part of a run; give another folder with -o")


def _check_no_batch(store: RunStore) -> None:
    """Raise StoreError if a batch is open: its requests would be sent and paid for twice."""
    if batches := sorted(path.name for path in store.folder.glob(BATCH_FILES)):
        raise StoreError(
            f"{str(store.folder)!r} has an open batch ({', '.join(batches)}); collect it with "
            "--batch, or delete these files to send its requests again"
        )


class _Session:
    """The shared state of a session of a run: the store, the budget, the dispatcher."""

    def __init__(
        self,
        plan: RunPlan,
        model: Model,
        store: RunStore,
        requests: Sequence[Request],
        scorers: ScorerSet,
        options: RequestOptions,
        progress: RunProgress,
    ) -> None:
        self.plan, self.model, self.store, self.requests = plan, model, store, requests
        self.scorers, self.options, self.progress = scorers, options, progress
        self.fatal: FatalModelError | None = None
        self.budget = _budget(options, requests, store)
        self.writer = GroupWriter(store, self._score)
        self.dispatcher = Dispatcher(
            model,
            ConcurrencyLimiter(options.connections or getattr(model, "connections", None)),
            self._record,
            self._retry,
            model.name,
            self.budget.affordable if self.budget is not None else None,
        )
        answered = {key for key, row in store.completions.items() if not row.error}
        self.todo = missing(requests, answered)
        self._task = asyncio.current_task()
        progress.watch(self.dispatcher.in_flight, self.budget, store.died)
        progress.begin(len(requests), len(requests) - len(self.todo), store.repairs)

    def _record(self, request: Request, completion: Completion) -> None:
        """Queue a completion for storing, and count its cost."""
        self.writer.add(request, completion)
        if self.budget is not None:
            self.budget.add(completion)

    def _retry(self, usage: Usage) -> None:
        """Show a retry, and count the cost of the failed reply."""
        self.progress.retry()
        if self.budget is not None:
            self.budget.spend(usage)

    def _score(self, answered: Sequence[Answered]) -> None:
        """Show completions in the progress display."""
        texts = [(each.text, request.problem) for request, each in answered if not each.error]
        outcomes = iter(self.scorers.outcomes_of(texts))
        self.progress.ended([
            EndedSample(each, Outcome.ERROR if each.error else OUTCOMES[next(outcomes)[0]])
            for _, each in answered
        ])  # fmt: skip

    def interrupt(self) -> None:
        """Stop after the requests in flight, at the second call immediately."""
        if self.dispatcher.stopping.is_set() and self._task is not None:
            self._task.cancel()
            return
        self.dispatcher.stop()
        self.progress.stopping()

    async def request_missing(self) -> None:
        """Request and store missing samples; raises FatalModelError, StoreError."""
        async with self.writer:
            if self.options.batch:
                from gradeschool.runs.batch import BatchRun

                stopping, record = self.dispatcher.stopping, self.dispatcher.record
                batches = BatchRun(
                    self.model, self.store, self.writer, record, self.progress, stopping
                )
                await batches.request_all(self.todo)
            else:
                await self.dispatcher.send_all(self.todo, self.options.choices)

    def finish(self, seconds: float) -> Evaluation:
        """Score the stored completions and write the results."""
        written = write_results(
            self.plan,
            self.model.name,
            self.store,
            self.requests,
            self.scorers,
            budget=self.budget,
            seconds=seconds,
        )
        rows = [self.store.completions.get(request.key) for request in self.requests]
        most = next(iter(written.errors), "")
        failed = (row.error for row in rows if row and row.error and row.cause == most)
        answered = sum(row is not None and not row.error for row in rows)
        is_partial = answered < len(rows)
        over_budget = is_partial and self.budget is not None and self.budget.stopped
        stopped = is_partial and self.dispatcher.stopping.is_set()
        return Evaluation(
            folder=self.store.folder,
            score=written.score,
            requested=len(self.requests),
            answered=answered,
            failed=sum(written.errors.values()),
            interrupted=stopped and self.fatal is None and not over_budget,
            fatal=self.fatal,
            curve=written.curve,
            cost=None if self.budget is None else self.budget.cost,
            over_budget=over_budget,
            other_models=other_models(
                self.model.identity, Counter(row.model for row in rows if row and row.model)
            ),
            errors=written.errors,
            example=next(failed, "").removeprefix(f"{most}: "),
            deviations=written.deviations,
        )


def _budget(options: RequestOptions, requests: Sequence[Request], store: RunStore) -> Budget | None:
    if options.price is None:
        return None
    from gradeschool.runs.cost import Budget, estimate

    rows = store.completions
    cost = sum(options.price.of(row.usage) for row in rows.values())
    pairs = [(request, rows[request.key]) for request in requests if request.key in rows]
    whole = estimate(requests, pairs, options.choices)
    expected = whole.cost(options.price) / max(1, whole.requests)
    answers = sum(not row.error for row in rows.values())
    samples = whole.samples / max(1, whole.requests)
    return Budget(options.price, cost, options.max_cost, expected, answers, samples)
