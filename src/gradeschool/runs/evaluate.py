"""One evaluation from plan to results: request missing samples, store and score them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from gradeschool.atomic import write_json
from gradeschool.completion import REMEDIES, Completion, Usage
from gradeschool.errors import FatalModelError, StoreError
from gradeschool.formats.own_run import (
    BATCH_FILES,
    MANIFEST_FILE,
    RESULTS_FILE,
    other_models,
    read_json,
)
from gradeschool.formats.samples import Sample
from gradeschool.models.base import Request
from gradeschool.models.engine_facts import engine_facts
from gradeschool.models.openai_api import SAMPLING
from gradeschool.runs.job import PreparedJob, shown_options
from gradeschool.runs.plan import RunPlan, make_manifest
from gradeschool.runs.send import ConcurrencyLimiter, Dispatcher, InFlight
from gradeschool.runs.store import RunStore
from gradeschool.scoring.samples import Run
from gradeschool.scoring.score import RunScore, score_table
from gradeschool.scoring.table import OUTCOMES, ScoredTable, ScorerSet, choose_scorers
from gradeschool.signals import on_interrupt
from gradeschool.verdict import Outcome

if TYPE_CHECKING:
    from gradeschool.runs.cost import Budget
    from gradeschool.scoring.at_k import AtK

# Stored rows are scored for the display a little later: answers to requests that were sent
# together arrive together, and the next requests must not wait for it.
PAUSE_SECONDS = 0.02


class EndedSample(NamedTuple):
    """A sample that was answered or failed, and its outcome by the headline scorer."""

    completion: Completion
    outcome: Outcome


class RunProgress:
    """Called during a run; this class ignores all calls."""

    def begin(
        self, total: int, stored: int, in_flight: InFlight, budget: Budget | None, damaged: str
    ) -> None:
        """Set the number of samples in the run, how many are stored, and the run's counters.

        in_flight, budget: may be read at any time; budget is None without a price. damaged: what is
        wrong with the stored rows, or "".
        """

    def ended(self, samples: Sequence[EndedSample]) -> None:
        """Count finished samples."""

    def retry(self) -> None:
        """Count a retried request."""

    def note(self, text: str) -> None:
        """Show a message: a batch was submitted, or the run waits for requests in flight."""

    def finished(self, whole: bool) -> None:
        """Note that results.json is written; whole: every sample is answered."""


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
        empty = [
            f"{count} of {self.answered} answers have {cause}; {remedy}"
            for cause, remedy in REMEDIES.items()
            if (count := self.deviations.get(cause))
        ]
        return [*([others] if self.other_models else []), *refused, *empty]


def run_job(work: PreparedJob, *watchers: RunProgress) -> Evaluation:
    """Run a prepared job; see `evaluate`. Raises KeyboardInterrupt at a second Ctrl-C."""
    return asyncio.run(evaluate(work, *watchers))


async def evaluate(work: PreparedJob, *watchers: RunProgress) -> Evaluation:
    """Run a job in its folder; stored samples are not requested again.

    Samples whose last attempt failed are requested again. SIGINT or SIGTERM stops after the
    requests in flight, a second signal immediately; both leave a resumable folder. The run ends
    before anything is sent if the protocol begins the answer and the server does not continue it.
    Raises StoreError, InputError, and before anything is sent MissingExtraError for a scorer
    without its library.
    """
    job, plan, model, folder = work.job, work.plan, work.model, work.folder
    scorers, started = scorers_of(plan), monotonic()
    fatal: FatalModelError | None = None
    waiting: list[tuple[Request, Completion]] = []  # stored, and not yet shown
    known: dict[str, bytes] = {}  # outcomes of this session's answers by key

    async with model:
        requests = plan.requests(model.identity)
        manifest = make_manifest(plan, model.identity, read_json(folder / MANIFEST_FILE), folder)
        with RunStore(folder) as store:
            if not job.batch:
                _check_no_batch(folder)
            rows = store.completions
            todo = [each for each in requests if each.key not in rows or rows[each.key].error]
            budget = _budget(work, requests, rows)
            loop = asyncio.get_running_loop()

            def record(request: Request, completion: Completion) -> None:
                """Store a completion, and show it a little later."""
                store.append(completion, request.problem.question)
                if budget is not None:
                    budget.add(completion)
                waiting.append((request, completion))
                if len(waiting) == 1:
                    loop.call_later(PAUSE_SECONDS, show)

            def show() -> None:
                ended, waiting[:] = list(waiting), []
                answers = [(request, row) for request, row in ended if not row.error]
                texts = [(row.text, request.problem) for request, row in answers]
                known.update(
                    (row.key, outcomes)
                    for (_, row), outcomes in zip(answers, scorers.outcomes_of(texts), strict=True)
                )
                samples = [
                    EndedSample(row, Outcome.ERROR if row.error else OUTCOMES[known[row.key][0]])
                    for _, row in ended
                ]
                for watcher in watchers:
                    watcher.ended(samples)

            def retry(usage: Usage) -> None:
                if budget is not None:
                    budget.spend(usage)
                for watcher in watchers:
                    watcher.retry()

            def note(text: str) -> None:
                for watcher in watchers:
                    watcher.note(text)

            most = job.connections or getattr(model, "connections", None)
            dispatcher = Dispatcher(
                model, ConcurrencyLimiter(most), record, retry, model.name,
                None if budget is None else budget.affordable,
            )  # fmt: skip
            session = asyncio.current_task()

            def interrupt() -> None:
                if dispatcher.stopping.is_set() and session is not None:
                    session.cancel()
                    return
                dispatcher.stop()
                in_flight = dispatcher.in_flight.sent
                note(f"stopping: waiting for {in_flight} in flight; press Ctrl-C again to stop now")

            if facts := await engine_facts(model):
                manifest["engine"] = facts
            if options := shown_options(job):
                manifest["options"] = options
            write_json(folder / MANIFEST_FILE, manifest)
            for watcher in watchers:
                stored = len(requests) - len(todo)
                watcher.begin(len(requests), stored, dispatcher.in_flight, budget, store.damaged)
            with on_interrupt(interrupt):
                try:
                    if todo and not job.batch and plan.protocol.example_prompt().prefix is not None:
                        from gradeschool.models.doctor import check_server

                        if server := await check_server(model, plan.protocol):
                            write_json(folder / MANIFEST_FILE, {**manifest, "server": server})
                    if job.batch:
                        from gradeschool.runs.batch import BatchRun

                        batches = BatchRun(model, store, record, note, dispatcher.stopping)
                        await batches.request_all(todo)
                    else:
                        await dispatcher.send_all(todo, job.choices)
                except FatalModelError as error:
                    fatal = error
                finally:
                    if waiting:
                        show()

            name = model.name
            run = run_for_scoring(name, requests, rows)
            score, curve, fields = summarise(run, scorers, requests, rows, known)
            fields["seconds"] = round(monotonic() - started, 3)
            if budget is not None:
                fields["cost"] = {"dollars": round(budget.cost, 6), "price": list(budget.price)}
            write_json(folder / RESULTS_FILE, fields)

    answered = sum(each.key in rows and not rows[each.key].error for each in requests)
    is_partial = answered < len(requests)
    over_budget = is_partial and budget is not None and budget.stopped
    stopped = is_partial and dispatcher.stopping.is_set()
    errors = fields["errors"]
    first = next(iter(errors), "")
    failed = (row.error for each in requests if (row := rows.get(each.key)) and row.cause == first)
    for watcher in watchers:
        watcher.finished(not is_partial)
    return Evaluation(
        folder=folder,
        score=score,
        requested=len(requests),
        answered=answered,
        failed=sum(errors.values()),
        interrupted=stopped and fatal is None and not over_budget,
        fatal=fatal,
        curve=tuple(curve),
        cost=None if budget is None else budget.cost,
        over_budget=over_budget,
        other_models=other_models(model.identity, fields["answered_by"]),
        errors=errors,
        example=next(failed, "").removeprefix(f"{first}: ") if first else "",
        deviations=fields["deviations"],
    )


def _check_no_batch(folder: Path) -> None:
    """Raise StoreError if a batch is open: its requests would be sent and paid for twice."""
    if batches := sorted(path.name for path in folder.glob(BATCH_FILES)):
        raise StoreError(
            f"{str(folder)!r} has an open batch ({', '.join(batches)}); collect it with "
            "--batch, or delete these files to send its requests again"
        )


def _budget(
    work: PreparedJob, requests: Sequence[Request], rows: Mapping[str, Completion]
) -> Budget | None:
    if work.price is None:
        return None
    from gradeschool.runs.cost import Budget, estimate

    cost = sum(work.price.of(row.usage) for row in rows.values())
    pairs = [(request, rows[request.key]) for request in requests if request.key in rows]
    whole = estimate(requests, pairs, work.job.choices)
    expected = whole.cost(work.price) / max(1, whole.requests)
    answers = sum(not row.error for row in rows.values())
    samples = whole.samples / max(1, whole.requests)
    return Budget(work.price, cost, work.job.max_cost, expected, answers, samples)


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """Return the median, the 90th and the 99th percentile, {} for no values."""
    ranked = sorted(values)
    return {
        f"p{share}": round(ranked[min(len(ranked) - 1, len(ranked) * share // 100)], 3)
        for share in (50, 90, 99)
        if ranked
    }


def scorers_of(plan: RunPlan) -> ScorerSet:
    """Return the scorers of a protocol, ready for use; raises MissingExtraError, InputError."""
    return ScorerSet(plan.scorers or choose_scorers(plan.protocol.scorers))


def run_for_scoring(
    name: str, requests: Sequence[Request], completions: Mapping[str, Completion]
) -> Run:
    """Return the samples of a run for scoring, without unanswered requests."""
    return Run(name, [
        Sample(
            number, text=row.text, sample=request.sample, finish=row.finish, error=row.error,
            problem=request.problem,
        )
        for number, request in enumerate(requests, start=1)
        if (row := completions.get(request.key)) is not None
    ])  # fmt: skip


def summarise(
    run: Run,
    scorers: ScorerSet,
    requests: Sequence[Request],
    completions: Mapping[str, Completion],
    known: Mapping[str, bytes] | None = None,
) -> tuple[RunScore, list[AtK], dict[str, Any]]:
    """Return the score, the curve over k of the headline scorer, and the fields of results.json.

    scorers: of the protocol, the headline first. known: outcomes by key, used if all are known, as
    in a run of one session. The curve is empty for one
    sample per problem. `answered_by` counts the model names in replies.
    """
    table = ScoredTable(run, scorers)
    keys = [request.key for request in requests
            if (row := completions.get(request.key)) is not None and not row.error]  # fmt: skip
    if known and all(key in known for key in keys):
        table.outcomes = [known[key] for key in keys]
    score = score_table(table)
    at_k: list[AtK] = []
    if any(request.sample for request in requests):
        from gradeschool.scoring.at_k import ballots_of, curve

        at_k = curve(ballots_of(table))
    rows = [completions[request.key] for request in requests if request.key in completions]
    answers = [completion for completion in rows if not completion.error]
    fields = {
        **score.as_json(),
        "at_k": [point.as_json() for point in at_k],
        "requested": len(requests),
        "failed": len(rows) - len(answers),
        "missing": len(requests) - len(rows),
        "truncated": score.forms.truncated if score.forms else 0,
        "empty": score.forms.empty if score.forms else 0,
        "errors": dict(Counter(row.cause for row in rows if row.error).most_common()),
        "answered_by": dict(Counter(answer.model for answer in answers if answer.model)),
        "deviations": dict(Counter(text for completion in rows for text in completion.deviations)),
        "prompt_tokens": sum(answer.usage.prompt_tokens or 0 for answer in answers),
        "completion_tokens": sum(answer.usage.completion_tokens or 0 for answer in answers),
        "latency": quantiles([row.latency for row in answers if row.latency is not None]),
        "tokens_per_second": quantiles([
            row.usage.completion_tokens / row.latency
            for row in answers if row.latency and row.usage.completion_tokens
        ]),
    }  # fmt: skip
    return score, at_k, fields
