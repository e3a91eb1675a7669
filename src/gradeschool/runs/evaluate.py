"""One evaluation from plan to results: request missing samples, store and score them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

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
from gradeschool.percentages import count
from gradeschool.runs.job import PreparedJob, shown_options
from gradeschool.runs.plan import make_manifest
from gradeschool.runs.send import Dispatcher, InFlight
from gradeschool.runs.store import RunStore
from gradeschool.scoring.samples import Run
from gradeschool.scoring.score import RunScore, score_table
from gradeschool.scoring.statistics import Interval, clustered_wilson
from gradeschool.scoring.table import (
    OUTCOMES,
    ScoredTable,
    ScorerSet,
    choose_scorers,
    tally_by_problem,
)
from gradeschool.signals import on_interrupt
from gradeschool.verdict import Outcome

if TYPE_CHECKING:
    from gradeschool.runs.cost import Budget
    from gradeschool.scoring.at_k import AtK

FIRST_LOOK = 100  # problems
UNKNOWN = Interval(0.0, 1.0)


class EndedSample(NamedTuple):
    """A sample that was answered or failed, and its outcome by the headline scorer."""

    completion: Completion
    outcome: Outcome


class RunProgress:
    """Counts a run while it goes on; subclasses show or log the counts.

    total, stored: samples of the run, and those of earlier sessions. ended, failed, tokens: samples
    of this session and their completion tokens. judged, correct: by the headline scorer. in_flight:
    the requests; budget: the cost, None without a price.
    """

    def __init__(self) -> None:
        self.total = self.stored = self.ended = self.failed = 0
        self.tokens = self.judged = self.correct = 0
        self.in_flight = InFlight()
        self.budget: Budget | None = None

    def begin(
        self, total: int, stored: int, in_flight: InFlight, budget: Budget | None, damaged: str
    ) -> None:
        """Start counting. damaged: what is wrong with the stored rows, or ""."""
        self.total, self.stored, self.in_flight, self.budget = total, stored, in_flight, budget

    def count(self, sample: EndedSample) -> None:
        """Count a sample that ended."""
        completion, outcome = sample
        self.ended += 1
        self.failed += bool(completion.error)
        self.tokens += completion.usage.completion_tokens or 0
        self.judged += outcome is not Outcome.ERROR
        self.correct += outcome is Outcome.CORRECT

    def note(self, text: str) -> None:
        """Show a message: a batch was submitted, or the run waits for requests in flight."""

    def finish(self, whole: bool) -> None:
        """Note that results.json is written; whole: every sample is answered."""


@dataclass(slots=True)
class Looks:
    """The looks at a run that stops when its interval is narrow enough.

    points: the width to stop at, in percentage points. sizes: problems at each possible look, fixed
    before the first: FIRST_LOOK, doubled, and all. problems, interval: at the last look. Each look
    takes an equal share of the 5 % of error, so that all intervals hold together with 95 %
    (Bonferroni; the simplest spending of alpha, Lan and DeMets 1983, Biometrika 70:659).
    """

    points: float
    sizes: tuple[int, ...]
    problems: int = 0
    interval: Interval = UNKNOWN

    @property
    def is_narrow(self) -> bool:
        """Return whether the interval of the last look is narrow enough."""
        return (self.interval.high - self.interval.low) * 100 < self.points

    def look(self, outcomes: Iterable[tuple[str, int]], problems: int) -> None:
        """Note the interval; outcomes: (problem id, outcome of the first scorer)."""
        z = NormalDist().inv_cdf(1 - 0.025 / len(self.sizes))
        tallies = [(tally.correct, tally.judged) for tally in tally_by_problem(outcomes).values()]
        self.problems, self.interval = problems, clustered_wilson(tallies, z)

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values, with the level of each interval."""
        return {
            "points": self.points,
            "looks": list(self.sizes),
            "problems": self.problems,
            "interval": list(self.interval),
            "level": round(1 - 0.05 / len(self.sizes), 6),
            "method": "Wilson, Bonferroni over the looks",
        }

    def sentence(self) -> str:
        """Return what ended the run, and the interval that holds over all looks."""
        low, high = (100 * bound for bound in self.interval)
        return (
            f"--until {self.points:g}: {'stopped' if self.is_narrow else 'not reached'} after "
            f"{self.problems:,} of {self.sizes[-1]:,} problems in random order; the interval that "
            f"holds at all {count(len(self.sizes), 'look')} together is {low:.2f} to {high:.2f}"
        )


def plan_looks(points: float, problems: int) -> Looks:
    """Return the looks at a run of so many problems."""
    sizes = [FIRST_LOOK]
    while sizes[-1] < problems:
        sizes.append(2 * sizes[-1])
    return Looks(points, (*sizes[:-1], problems))


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The end of a session of a run.

    curve: maj@k and pass@k by the headline scorer, () for one sample per problem. cost: dollars for
    all stored completions, None without a price. over_budget: the run stopped at `max_cost`.
    other_models: other models that answered according to the server, "" for none. errors: failed
    samples by cause, the most frequent first. example: the first message of that cause.
    deviations: completions by how the server deviated from the request. looks: of
    --until. judged: the counts of --judge (`runs.judge`).
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
    looks: Looks | None = None
    judged: Mapping[str, Any] | None = None

    @property
    def missing(self) -> int:
        """The number of requested samples that are not answered."""
        return self.requested - self.answered

    def cautions(self) -> list[str]:
        """Return messages about answers that were not drawn as requested, or are empty."""
        messages = []
        if self.other_models:
            messages.append(
                f"the server says that another model answered: {self.other_models}; "
                "check the model's name"
            )
        messages += [
            f"the server refuses {name}: {count} of {self.answered} answers were drawn with the "
            "server's own value, not the protocol's"
            for name in SAMPLING
            if (count := self.deviations.get(f"{name} refused"))
        ]
        messages += [
            f"{count} of {self.answered} answers have {cause}; {remedy}"
            for cause, remedy in REMEDIES.items()
            if (count := self.deviations.get(cause))
        ]
        return messages


async def evaluate(work: PreparedJob, *watchers: RunProgress) -> Evaluation:
    """Run a job in its folder; stored samples are not requested again.

    Samples whose last attempt failed are requested again. SIGINT or SIGTERM stops after the
    requests in flight, a second signal immediately (CancelledError, which `asyncio.run` turns into
    KeyboardInterrupt for SIGINT); both leave a resumable folder. The run ends before anything is
    sent if the protocol begins the answer and the server does not continue it. Raises StoreError,
    InputError, and before anything is sent MissingExtraError for a scorer without its library.
    """
    job, plan, model, folder = work.job, work.plan, work.model, work.folder
    started = monotonic()
    scorers = ScorerSet(plan.scorers or choose_scorers(plan.protocol.scorers))
    fatal: FatalModelError | None = None
    known: dict[str, bytes] = {}  # outcomes of this session's answers by key

    async with model:
        requests = planned = plan.requests(model.identity)
        stored_manifest = read_json(folder / MANIFEST_FILE) or {}
        manifest = make_manifest(plan, model.identity, stored_manifest or None, folder)
        looks = plan_looks(job.until, len(plan.problems)) if job.until is not None else None
        earlier = int(stored_manifest.get("problems", 0))
        ids = [problem.id for problem in plan.problems]
        with RunStore(folder) as store:
            # Without --batch, the requests of an open batch would be sent and paid for twice.
            if not job.batch and (files := sorted(folder.glob(BATCH_FILES))):
                raise StoreError(
                    f"{str(folder)!r} has an open batch ({files[0].name}); collect it with "
                    "--batch, or delete these files to send its requests again"
                )
            rows, budget = store.completions, None
            todo = [each for each in requests if each.key not in rows or rows[each.key].error]
            if work.price is not None:
                from gradeschool.runs.cost import Budget

                budget = Budget(work.price, job.max_cost, requests, rows, job.choices)

            def record(request: Request, completion: Completion) -> None:
                store.append(completion, request.problem.question)
                if budget is not None:
                    budget.add(completion)
                outcome = Outcome.ERROR
                if not completion.error:
                    [outcomes] = scorers.outcomes_of([(completion.text, request.problem)])
                    known[completion.key] = outcomes
                    outcome = OUTCOMES[outcomes[0]]
                for watcher in watchers:
                    watcher.count(EndedSample(completion, outcome))

            def note(text: str) -> None:
                for watcher in watchers:
                    watcher.note(text)

            most = job.connections or model.connections
            dispatcher = Dispatcher(model, record, most, budget)
            session = asyncio.current_task()

            def interrupt() -> None:
                if dispatcher.stopping.is_set() and session is not None:
                    session.cancel()
                    return
                dispatcher.stop()
                in_flight = dispatcher.in_flight.sent
                note(f"stopping: waiting for {in_flight} in flight; press Ctrl-C again to stop now")

            if facts := await model.facts():
                manifest["engine"] = facts
            if options := shown_options(job):
                manifest["options"] = options
            if looks is None:
                write_json(folder / MANIFEST_FILE, manifest)
            stored = len(requests) - len(todo)
            for watcher in watchers:
                watcher.begin(len(requests), stored, dispatcher.in_flight, budget, store.damaged)
            with on_interrupt(interrupt):
                try:
                    if todo and not job.batch and plan.protocol.example_prompt().prefix is not None:
                        from gradeschool.models.doctor import check_server

                        if server := await check_server(model, plan.protocol):
                            manifest["server"] = server
                            write_json(folder / MANIFEST_FILE, manifest)
                    if job.batch:
                        from gradeschool.runs.batch import BatchRun

                        batches = BatchRun(model, store, record, note, dispatcher.stopping)
                        await batches.request_all(todo)
                    elif looks is None:
                        await dispatcher.send_all(todo, job.choices)
                    else:
                        asked = 0
                        for size in (size for size in looks.sizes if size >= earlier):
                            requests = planned[: size * plan.samples]
                            manifest |= {"problems": size, "problem_ids": ids[:size]}
                            write_json(folder / MANIFEST_FILE, manifest)
                            keys = {request.keys[0] for request in requests[asked:]}
                            new = [request for request in todo if request.keys[0] in keys]
                            await dispatcher.send_all(new, job.choices)
                            if dispatcher.stopping.is_set():
                                requests = planned
                                break
                            pairs = [
                                (row.text, each.problem)
                                for each in requests
                                if (row := rows.get(each.keys[0])) is not None and not row.error
                            ]
                            ended = zip(pairs, scorers.outcomes_of(pairs), strict=True)
                            looks.look(((pair[1].id, each[0]) for pair, each in ended), size)
                            manifest["until"] = looks.as_json()
                            write_json(folder / MANIFEST_FILE, manifest)
                            if looks.is_narrow:
                                break
                            asked = len(requests)
                except FatalModelError as error:
                    fatal = error

            score, curve, fields = summarise(model.name, scorers, requests, rows, known)
            fields["seconds"] = round(monotonic() - started, 3)
            if work.judge is not None and fatal is None and not dispatcher.stopping.is_set():
                from gradeschool.runs.judge import judge

                answers = [
                    (each, row)
                    for each in requests
                    if (row := rows.get(each.keys[0])) is not None and not row.error
                ]
                fields["judge"] = await judge(
                    work.judge, folder, answers, work.plan.thinking_marks, job.connections
                )
            if budget is not None:
                fields["cost"] = {"dollars": round(budget.cost, 6), "price": list(budget.price)}
            write_json(folder / RESULTS_FILE, fields)

    errors, failed = fields["errors"], fields["failed"]
    answered = len(requests) - fields["missing"] - failed
    is_partial = answered < len(requests)
    over_budget = is_partial and budget is not None and budget.stopped
    stopped = is_partial and dispatcher.stopping.is_set()
    first = next(iter(errors), "")
    shown = (row.error for each in requests if (row := rows.get(each.key)) and row.cause == first)
    for watcher in watchers:
        watcher.finish(not is_partial)
    return Evaluation(
        folder=folder,
        score=score,
        requested=len(requests),
        answered=answered,
        failed=failed,
        interrupted=stopped and fatal is None and not over_budget,
        fatal=fatal,
        curve=tuple(curve),
        cost=None if budget is None else budget.cost,
        over_budget=over_budget,
        other_models=other_models(model.identity, fields["answered_by"]),
        errors=errors,
        example=next(shown, "").removeprefix(f"{first}: ") if first else "",
        deviations=fields["deviations"],
        judged=fields.get("judge"),
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

    name: of the run. scorers: of the protocol, the headline first. completions: by key. known:
    outcomes by key, used if all are known, as in a run of one session. The curve is empty for one
    sample per problem. `answered_by` counts the model names in replies.
    """
    samples, curve, outcomes = [], [], []
    failed = prompt_tokens = completion_tokens = 0
    errors, answered_by, deviations = Counter[str](), Counter[str](), Counter[str]()
    seconds, speeds, thinking = [], [], []
    for number, request in enumerate(requests, start=1):
        if (row := completions.get(request.keys[0])) is None:
            continue
        samples.append(
            Sample(
                number, text=row.text, sample=request.samples[0], finish=row.finish,
                error=row.error, problem=request.problem,
            )
        )  # fmt: skip
        deviations.update(row.deviations)
        if row.error:
            failed += 1
            errors[row.cause] += 1
            continue
        if known is not None and row.key in known:
            outcomes.append(known[row.key])
        answered_by[row.model] += 1
        prompt_tokens += row.usage.prompt_tokens or 0
        completion_tokens += row.usage.completion_tokens or 0
        if row.usage.reasoning_tokens is not None:
            thinking.append(row.usage.reasoning_tokens)
        if row.latency is not None:
            seconds.append(row.latency)
            if row.latency and row.usage.completion_tokens:
                speeds.append(row.usage.completion_tokens / row.latency)
    table = ScoredTable(Run(name, samples), scorers)
    if len(outcomes) == len(table.samples):
        table.outcomes = outcomes
    score = score_table(table)
    if requests and requests[-1].samples[0]:
        from gradeschool.scoring.at_k import ballots_of
        from gradeschool.scoring.at_k import curve as curve_of

        curve = curve_of(ballots_of(table))
    del answered_by[""]
    fields = {
        **score.as_json(),
        "at_k": [point.as_json() for point in curve],
        "requested": len(requests),
        "failed": failed,
        "missing": len(requests) - len(samples),
        "truncated": score.forms.truncated if score.forms else 0,
        "empty": score.forms.empty if score.forms else 0,
        "errors": dict(errors.most_common()),
        "answered_by": dict(answered_by),
        "deviations": dict(deviations),
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        **({"reasoning_tokens": sum(thinking)} if thinking else {}),
        "latency": quantiles(seconds),
        "tokens_per_second": quantiles(speeds),
    }
    return score, curve, fields


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """Return the median, the 90th and the 99th percentile, {} for no values."""
    ranked, named = sorted(values), {}
    for share in (50, 90, 99) if ranked else ():
        named[f"p{share}"] = round(ranked[min(len(ranked) - 1, len(ranked) * share // 100)], 3)
    return named
