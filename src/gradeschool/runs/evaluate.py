"""One evaluation from plan to results: request missing samples, store and score them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
from gradeschool.scoring.score import RunScore, score_run
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
class InterimAnalysis:
    """When `--until` may stop a run, and the interval at the last look at it.

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


def plan_looks(points: float, problems: int) -> InterimAnalysis:
    """Return the looks at a run of so many problems."""
    sizes = [FIRST_LOOK]
    while sizes[-1] < problems:
        sizes.append(2 * sizes[-1])
    return InterimAnalysis(points, (*sizes[:-1], problems))


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The end of a session of a run.

    results: the fields of results.json. requested, answered: samples. curve: maj@k and pass@k by
    the headline scorer, () for one sample per problem. cost: dollars for all stored completions,
    None without a price. over_budget: the run stopped at `max_cost`. other_models: other models
    that answered according to the server, "" for none. example: the first message of the most
    frequent cause of failed samples. looks: of --until.
    """

    folder: Path
    score: RunScore
    results: Mapping[str, Any]
    requested: int
    answered: int
    interrupted: bool
    fatal: FatalModelError | None
    curve: tuple[AtK, ...] = ()
    cost: float | None = None
    over_budget: bool = False
    other_models: str = ""
    example: str = ""
    looks: InterimAnalysis | None = None

    @property
    def missing(self) -> int:
        """The number of requested samples that are not answered."""
        return self.requested - self.answered

    def cautions(self) -> list[str]:
        """Return messages about answers that were not drawn as requested, or are empty."""
        deviations: Mapping[str, int] = self.results["deviations"]
        messages = []
        if self.other_models:
            messages.append(
                f"the server says that another model answered: {self.other_models}; "
                "check the model's name"
            )
        messages += [
            f"the server refuses {name}: {refused} of {self.answered} answers were drawn with the "
            "server's own value, not the protocol's"
            for name in SAMPLING
            if (refused := deviations.get(f"{name} refused"))
        ]
        messages += [
            f"{empty} of {self.answered} answers have {cause}; {remedy}"
            for cause, remedy in REMEDIES.items()
            if (empty := deviations.get(cause))
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
        earlier = read_json(folder / MANIFEST_FILE)
        manifest = make_manifest(plan, model.identity, earlier or None, folder)
        manifest |= {"engine": facts} if (facts := await model.facts()) else {}
        manifest |= {"options": options} if (options := shown_options(job)) else {}
        looks = plan_looks(job.until, len(plan.problems)) if job.until is not None else None
        with RunStore(folder) as store:
            # Without --batch, the requests of an open batch would be sent and paid for twice.
            if not job.batch and (files := sorted(folder.glob(BATCH_FILES))):
                raise StoreError(
                    f"{str(folder)!r} has an open batch ({files[0].name}); collect it with "
                    "--batch, or delete these files to send its requests again"
                )
            rows, budget = store.completions, None
            if work.price is not None:
                from gradeschool.runs.cost import Budget

                budget = Budget(work.price, job.max_cost, requests, rows)

            def record(request: Request, completion: Completion) -> None:
                store.append(completion, request.problem.question)
                if budget is not None:
                    budget.add(completion)
                outcome = Outcome.ERROR
                if not completion.error:
                    known[request.key] = scorers.outcomes(completion.text, request.problem)
                    outcome = OUTCOMES[known[request.key][0]]
                for watcher in watchers:
                    watcher.count(EndedSample(completion, outcome))

            def note(text: str) -> None:
                for watcher in watchers:
                    watcher.note(text)

            dispatcher = Dispatcher(model, record, job.connections or model.connections, budget)
            session = asyncio.current_task()

            def interrupt() -> None:
                if dispatcher.stopping.is_set() and session is not None:
                    session.cancel()
                    return
                dispatcher.stop()
                in_flight = dispatcher.in_flight.sent
                note(f"stopping: waiting for {in_flight} in flight; press Ctrl-C again to stop now")

            def answered() -> list[tuple[Request, Completion]]:
                pairs = [(each, rows[each.key]) for each in requests if each.key in rows]
                return [(each, row) for each, row in pairs if not row.error]

            total, stored = len(requests), len(answered())
            for watcher in watchers:
                watcher.begin(total, stored, dispatcher.in_flight, budget, store.damaged)
            sizes = [len(plan.problems)]
            if looks is not None:
                before = int((earlier or {}).get("problems", 0))
                sizes = [size for size in looks.sizes if size >= before]
            else:
                write_json(folder / MANIFEST_FILE, manifest)
            with on_interrupt(interrupt):
                try:
                    if (
                        stored < total
                        and not job.batch
                        and plan.protocol.example_prompt().prefix is not None
                    ):
                        from gradeschool.models.doctor import check_server

                        if server := await check_server(model, plan.protocol):
                            manifest["server"] = server
                    for size in sizes:
                        requests = planned[: size * plan.samples]
                        if looks is not None:
                            ids = [problem.id for problem in plan.problems[:size]]
                            manifest |= {"problems": size, "problem_ids": ids}
                        if looks is not None or "server" in manifest:
                            write_json(folder / MANIFEST_FILE, manifest)
                        todo = [each for each in requests
                                if each.key not in rows or rows[each.key].error]  # fmt: skip
                        if job.batch:
                            from gradeschool.models.endpoint import Endpoint
                            from gradeschool.runs.batch import BatchRun

                            assert isinstance(model, Endpoint)  # noqa: S101  (see `prepare`)
                            batches = BatchRun(model, store, record, note, dispatcher.stopping)
                            await batches.request_all(todo)
                        else:
                            await dispatcher.send_all(todo)
                        if looks is None:
                            continue
                        if dispatcher.stopping.is_set():
                            requests = planned
                            break
                        pairs = [(row.text, each.problem) for each, row in answered()]
                        ended = zip(pairs, scorers.outcomes_of(pairs), strict=True)
                        looks.look(((pair[1].id, each[0]) for pair, each in ended), size)
                        manifest["until"] = looks.as_json()
                        write_json(folder / MANIFEST_FILE, manifest)
                        if looks.is_narrow:
                            break
                except FatalModelError as error:
                    fatal = error

            score, curve, results = summarise(model.name, scorers, requests, rows, known)
            results["seconds"] = round(monotonic() - started, 3)
            pairs_answered = answered()
            if work.judge is not None and fatal is None and not dispatcher.stopping.is_set():
                from gradeschool.runs.judge import ask_judge

                results["judge"] = await ask_judge(
                    work.judge, folder, pairs_answered, plan.thinking_marks, job.connections
                )
            if budget is not None:
                results["cost"] = {"dollars": round(budget.cost, 6), "price": list(budget.price)}
            write_json(folder / RESULTS_FILE, results)

    is_partial = len(pairs_answered) < len(requests)
    over_budget = is_partial and budget is not None and budget.stopped
    stopped = is_partial and dispatcher.stopping.is_set()
    cause = next(iter(results["errors"]), "")
    failed = (rows[each.key] for each in requests if each.key in rows)
    for watcher in watchers:
        watcher.finish(not is_partial)
    return Evaluation(
        folder=folder,
        score=score,
        results=results,
        requested=len(requests),
        answered=len(pairs_answered),
        interrupted=stopped and fatal is None and not over_budget,
        fatal=fatal,
        curve=tuple(curve),
        cost=None if budget is None else budget.cost,
        over_budget=over_budget,
        other_models=other_models(model.identity, results["answered_by"]),
        example=next(
            (
                row.error.removeprefix(f"{cause}: ")
                for row in failed
                if cause and row.cause == cause
            ),
            "",
        ),
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
    outcomes already computed, by key; ignored unless complete. The curve is empty for one
    sample per problem. `answered_by` counts the model names in replies.
    """
    pairs = [(each, completions[each.key]) for each in requests if each.key in completions]
    samples = [
        Sample(
            number, text=row.text, sample=request.sample, finish=row.finish, error=row.error,
            problem=request.problem,
        )
        for number, (request, row) in enumerate(pairs, start=1)
    ]  # fmt: skip
    answers = [row for _, row in pairs if not row.error]
    table = ScoredTable(Run(name, samples), scorers)
    if known is not None and all(row.key in known for row in answers):
        table.outcomes = [known[row.key] for row in answers]
    score, curve = score_run(table), []
    if requests and requests[-1].sample:
        from gradeschool.scoring.at_k import ballots_by_problem
        from gradeschool.scoring.at_k import curve as curve_of

        curve = curve_of(ballots_by_problem(table))
    thinking = [row.usage.reasoning_tokens for row in answers]
    counted = [tokens for tokens in thinking if tokens is not None]
    timed = [(row.latency, row.usage.completion_tokens or 0) for row in answers if row.latency]
    fields = {
        **score.as_json(),
        "at_k": [point.as_json() for point in curve],
        "requested": len(requests),
        "failed": len(pairs) - len(answers),
        "missing": len(requests) - len(pairs),
        "truncated": score.forms.truncated if score.forms else 0,
        "empty": score.forms.empty if score.forms else 0,
        "errors": dict(Counter(row.cause for _, row in pairs if row.error).most_common()),
        "answered_by": dict(Counter(row.model for row in answers if row.model)),
        "deviations": dict(Counter(each for _, row in pairs for each in row.deviations)),
        "prompt_tokens": sum(row.usage.prompt_tokens or 0 for row in answers),
        "completion_tokens": sum(row.usage.completion_tokens or 0 for row in answers),
        **({"reasoning_tokens": sum(counted)} if counted else {}),
        "latency": quantiles([row.latency for row in answers if row.latency is not None]),
        "tokens_per_second": quantiles([tokens / each for each, tokens in timed if tokens]),
    }
    return score, curve, fields


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """Return the median, the 90th and the 99th percentile, {} for no values."""
    ranked = sorted(values)
    return {
        f"p{share}": round(ranked[min(len(ranked) - 1, len(ranked) * share // 100)], 3)
        for share in ((50, 90, 99) if ranked else ())
    }
