"""One evaluation from plan to results: request missing samples, store and score them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from gradeschool.atomic import write_json
from gradeschool.completion import REMEDIES, Completion
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
from gradeschool.models.openai_api import SAMPLING
from gradeschool.runs.job import PreparedJob
from gradeschool.runs.plan import make_manifest
from gradeschool.runs.send import Dispatcher
from gradeschool.runs.store import RunStore
from gradeschool.runs.until import InterimAnalysis, plan_looks
from gradeschool.scoring.checks import AlikeTexts
from gradeschool.scoring.samples import Run
from gradeschool.scoring.score import RunScore, score_run
from gradeschool.scoring.table import CORRECT, ERROR, ScoredTable, ScorerSet, choose_scorers
from gradeschool.signals import on_interrupt

if TYPE_CHECKING:
    from gradeschool.runs.cost import Budget
    from gradeschool.scoring.at_k import AtK


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The end of a session of a run.

    results: the fields of results.json. requested, answered: samples. curve: maj@k and pass@k by
    the headline scorer, () for one sample per problem. cost: dollars for all stored completions,
    None without a price. over_budget: the run stopped at `max_cost`. example: the first message of
    the most frequent cause of failed samples. looks: of --until.
    """

    folder: Path
    model: str
    score: RunScore
    results: Mapping[str, Any]
    requested: int
    answered: int
    interrupted: bool
    fatal: FatalModelError | None
    curve: tuple[AtK, ...] = ()
    cost: float | None = None
    over_budget: bool = False
    example: str = ""
    looks: InterimAnalysis | None = None

    def cautions(self) -> list[str]:
        """Return messages about answers that were not drawn as requested, or are empty."""
        deviations: Mapping[str, int] = self.results["deviations"]
        messages = [
            f"the server refuses {name}: {refused} of {self.answered} answers were drawn with the "
            "server's own value, not the protocol's"
            for name in SAMPLING
            if (refused := deviations.get(f"{name} refused"))
        ]
        if others := other_models(self.model, self.results["answered_by"]):
            messages.append(
                f"the server says that another model answered: {others}; check the model's name"
            )
        for cause, remedy in REMEDIES.items():
            if empty := deviations.get(cause):
                messages.append(f"{empty} of {self.answered} answers have {cause}; {remedy}")
        return messages + list(self.results["alike"])


class Session:
    """A run while it goes on: stores, scores and counts each result, and shows the counts.

    requests: those of the run; with `until`, those up to the last look. known: the outcomes of this
    session's answers by key. show: called when the session begins and for each result, with a
    message or "". stored: samples of earlier sessions. ended, failed, tokens: samples of this
    session and their completion tokens. judged, correct: by the headline scorer.
    """

    def __init__(
        self, prepared: PreparedJob, store: RunStore, scorers: ScorerSet, show: Show
    ) -> None:
        job, model = prepared.job, prepared.model
        self.prepared, self.store, self.scorers, self.show = prepared, store, scorers, show
        self.requests = prepared.plan.requests(model.identity)
        self.known: dict[str, bytes] = {}
        self.total, self.stored = len(self.requests), len(self.answered())
        self.ended = self.failed = self.tokens = self.judged = self.correct = 0
        self.budget: Budget | None = None
        if prepared.price is not None:
            from gradeschool.runs.cost import Budget

            self.budget = Budget(prepared.price, job.max_cost, self.requests, store.completions)
        most = job.connections or model.connections
        self.dispatcher = Dispatcher(model, self.record, most, self.budget)
        self._task = asyncio.current_task()

    def answered(self) -> list[tuple[Request, Completion]]:
        """Return the requests that are answered, with their completions."""
        pairs, rows = [], self.store.completions
        for request in self.requests:
            row = rows.get(request.key)
            if row is not None and not row.error:
                pairs.append((request, row))
        return pairs

    def record(self, request: Request, completion: Completion) -> None:
        """Store a result, score it, and count it."""
        self.store.append(completion, request.problem.question)
        if self.budget is not None:
            self.budget.add(completion)
        self.ended += 1
        self.tokens += completion.usage.completion_tokens or 0
        if completion.error:
            self.failed += 1
        else:
            [outcomes] = self.scorers.outcomes_of([(completion.text, request.problem)])
            self.known[request.key] = outcomes
            self.judged += outcomes[0] != ERROR
            self.correct += outcomes[0] == CORRECT
        self.show(self, "")

    def interrupt(self) -> None:
        """Let requests in flight end; at the second call, stop immediately."""
        if self.dispatcher.stopping.is_set() and self._task is not None:
            self._task.cancel()
            return
        self.dispatcher.stop()
        in_flight = self.dispatcher.sent
        self.show(
            self, f"stopping: waiting for {in_flight} in flight; press Ctrl-C again to stop now"
        )

    async def send(self, manifest: dict[str, Any], looks: InterimAnalysis | None) -> None:
        """Write run.json and send what is not answered; raises FatalModelError."""
        prepared, rows, planned = self.prepared, self.store.completions, self.requests
        plan, path = prepared.plan, prepared.folder / MANIFEST_FILE
        sizes = [len(plan.problems)]
        if looks is None:
            write_json(path, manifest)
        else:
            before = int((read_json(path) or {}).get("problems", 0))
            sizes = [size for size in looks.sizes if size >= before]
        is_continued = plan.protocol.example_prompt().prefix is not None and not prepared.job.batch
        if is_continued and self.stored < len(planned):
            from gradeschool.models.doctor import check_server

            if server := await check_server(prepared.model, plan.protocol):
                manifest["server"] = server
                if looks is None:
                    write_json(path, manifest)
        for size in sizes:
            self.requests = planned[: size * plan.samples]
            if looks is not None:
                manifest["problems"] = size
                manifest["problem_ids"] = [problem.id for problem in plan.problems[:size]]
                write_json(path, manifest)
            todo = [each for each in self.requests
                    if each.key not in rows or rows[each.key].error]  # fmt: skip
            if prepared.job.batch:
                from gradeschool.models.endpoint import Endpoint
                from gradeschool.runs.batch import BatchRun

                assert isinstance(prepared.model, Endpoint)  # noqa: S101  (see `prepare`)
                note, stopping = partial(self.show, self), self.dispatcher.stopping
                batches = BatchRun(prepared.model, self.store, self.record, note, stopping)
                await batches.request_all(todo)
            else:
                await self.dispatcher.send_all(todo)
            if looks is None:
                return
            if self.dispatcher.stopping.is_set():
                self.requests = planned
                return
            pairs = [(row.text, each.problem) for each, row in self.answered()]
            outcomes = self.scorers.outcomes_of(pairs)
            looks.look(
                [(problem.id, each[0]) for (_, problem), each in zip(pairs, outcomes, strict=True)],
                size,
            )
            manifest["until"] = looks.as_json()
            write_json(path, manifest)
            if looks.is_narrow:
                return


Show = Callable[[Session, str], None]


async def evaluate(prepared: PreparedJob, show: Show = lambda session, note: None) -> Evaluation:
    """Run a job in its folder; stored samples are not requested again.

    show: see `Session`. Samples whose last attempt failed are requested again. SIGINT or SIGTERM
    stops after the requests in flight, a second signal immediately (CancelledError, which
    `asyncio.run` turns into KeyboardInterrupt for SIGINT); both leave a resumable folder. The run
    ends before anything is sent if the protocol begins the answer and the server does not continue
    it. Raises StoreError, InputError, and before anything is sent MissingExtraError for a scorer
    without its library.
    """
    job, plan, model, folder = prepared.job, prepared.plan, prepared.model, prepared.folder
    started = monotonic()
    scorers = ScorerSet(plan.scorers or choose_scorers(plan.protocol.scorers))
    fatal: FatalModelError | None = None
    async with model:
        manifest = make_manifest(plan, model.identity, read_json(folder / MANIFEST_FILE), folder)
        if facts := await model.facts():
            manifest["engine"] = facts
        if prepared.options:
            manifest["options"] = prepared.options
        looks = plan_looks(job.until, len(plan.problems)) if job.until is not None else None
        with RunStore(folder) as store:
            # Without --batch, the requests of an open batch would be sent and paid for twice.
            if not job.batch and (files := sorted(folder.glob(BATCH_FILES))):
                raise StoreError(
                    f"{str(folder)!r} has an open batch ({files[0].name}); collect it with "
                    "--batch, or delete these files to send its requests again"
                )
            session = Session(prepared, store, scorers, show)
            show(session, "")
            with on_interrupt(session.interrupt):
                try:
                    await session.send(manifest, looks)
                except FatalModelError as error:
                    fatal = error
            requests, answered, rows = session.requests, session.answered(), store.completions
            score, curve, results = summarise(model.name, scorers, requests, rows, session.known)
            results["seconds"] = round(monotonic() - started, 3)
            budget, stopping = session.budget, session.dispatcher.stopping.is_set()
            if prepared.judge is not None and fatal is None and not stopping:
                from gradeschool.runs.judge import ask_judge

                results["judge"] = await ask_judge(
                    prepared.judge, folder, answered, scorers.thinking_marks, job.connections
                )
            if budget is not None:
                results["cost"] = {"dollars": round(budget.cost, 6), "price": list(budget.price)}
            write_json(folder / RESULTS_FILE, results)

    is_partial = len(answered) < len(requests)
    over_budget = is_partial and budget is not None and budget.stopped
    example = ""
    if cause := next(iter(results["errors"]), ""):
        failed = (rows[each.key] for each in requests if each.key in rows)
        example = next(row.error for row in failed if row.error and row.cause == cause)
    return Evaluation(
        folder=folder,
        model=model.identity,
        score=score,
        results=results,
        requested=len(requests),
        answered=len(answered),
        interrupted=is_partial and stopping and fatal is None and not over_budget,
        fatal=fatal,
        curve=tuple(curve),
        cost=None if budget is None else budget.cost,
        over_budget=over_budget,
        example=example.removeprefix(f"{cause}: "),
        looks=looks if looks and looks.problems else None,
    )


def summarise(
    name: str,
    scorers: ScorerSet,
    requests: Sequence[Request],
    completions: Mapping[str, Completion],
    known: Mapping[str, bytes] | None = None,
) -> tuple[RunScore, list[AtK], dict[str, Any]]:
    """Return the score, the curve over k of the headline scorer, and the fields of results.json.

    `alike` warns of short texts that may be failures of the server.

    name: of the run. scorers: of the protocol, the headline first. completions: by key. known:
    outcomes already computed, by key; ignored unless complete. The curve is empty for one
    sample per problem. `answered_by` counts the model names in replies.
    """
    samples: list[Sample] = []
    answers: list[Completion] = []
    errors, models, deviations = Counter[str](), Counter[str](), Counter[str]()
    tokens = {"prompt_tokens": 0, "completion_tokens": 0}
    seconds: list[float] = []
    speeds: list[float] = []
    for request in requests:
        row = completions.get(request.key)
        if row is None:
            continue
        samples.append(Sample(len(samples) + 1, text=row.text, sample=request.sample,
                              finish=row.finish, error=row.error,
                              problem=request.problem))  # fmt: skip
        deviations.update(row.deviations)
        if row.error:
            errors[row.cause] += 1
            continue
        answers.append(row)
        if row.model:
            models[row.model] += 1
        for kind, number in row.usage._asdict().items():
            if number is not None:
                tokens[kind] = tokens.get(kind, 0) + number
        if row.latency is not None:
            seconds.append(row.latency)
            if row.latency and row.usage.completion_tokens:
                speeds.append(row.usage.completion_tokens / row.latency)
    alike = AlikeTexts(name)
    alike.add(samples)
    table = ScoredTable(Run(name, samples), scorers)
    if known is not None and len(known) >= len(answers):
        kept = [known[row.key] for row in answers if row.key in known]
        if len(kept) == len(answers):
            table.outcomes = kept
    score, curve = score_run(table), []
    if requests and requests[-1].sample:
        from gradeschool.scoring.at_k import ballots_by_problem
        from gradeschool.scoring.at_k import curve as curve_of

        curve = curve_of(ballots_by_problem(table))
    fields = {
        **score.as_json(),
        "at_k": [point.as_json() for point in curve] if curve else [],
        "requested": len(requests),
        "failed": len(samples) - len(answers),
        "missing": len(requests) - len(samples),
        "truncated": score.forms.truncated if score.forms else 0,
        "empty": score.forms.empty if score.forms else 0,
        "errors": dict(errors.most_common()),
        "answered_by": dict(models),
        "deviations": dict(deviations),
        "alike": alike.conclude(),
        "latency": quantiles(seconds),
        "tokens_per_second": quantiles(speeds),
        **tokens,
    }
    return score, curve, fields


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """Return the median, the 90th and the 99th percentile, {} for no values."""
    ranked, shares = sorted(values), {}
    for share in (50, 90, 99) if ranked else ():
        place = min(len(ranked) - 1, len(ranked) * share // 100)
        shares[f"p{share}"] = round(ranked[place], 3)
    return shares
