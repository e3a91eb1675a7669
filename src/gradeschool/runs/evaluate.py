"""One evaluation from plan to results: request missing samples, store and score them."""

from __future__ import annotations

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from statistics import NormalDist
from threading import current_thread, main_thread
from time import monotonic
from typing import Any

from gradeschool.answers.extractor import Confidence, extract_final_answer
from gradeschool.answers.quantities import canonical_gold, same_answer
from gradeschool.answers.regions import Marks, thinking_spans
from gradeschool.atomic import write_json
from gradeschool.completion import IN_THINKING, REMEDIES, Completion
from gradeschool.errors import FatalModelError, StoreError
from gradeschool.formats import run_folder
from gradeschool.formats.values import Sample
from gradeschool.models.base import Model, Request
from gradeschool.models.openai_api import SAMPLING
from gradeschool.printable import count
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_protocol
from gradeschool.runs.job import PreparedJob, make_manifest, request_key
from gradeschool.runs.send import Answered, Budget, Dispatcher, estimate, split_by_answered
from gradeschool.scorer import Outcome
from gradeschool.scoring.at_k import AtK, ballots_by_problem
from gradeschool.scoring.at_k import curve as curve_of
from gradeschool.scoring.checks import AlikeTexts
from gradeschool.scoring.score import RunScore, score_run
from gradeschool.scoring.sources import Run
from gradeschool.scoring.statistics import clustered_wilson
from gradeschool.scoring.table import CORRECT, ERROR, ScoredTable, ScorerSet, tally_by_problem
from gradeschool.worker import SIGNALS

FIRST_CHECK = 100  # problems until the first interim check
# Warn of problems whose samples are the same text from this number and this share on.
LEAST_SAME, SAME = 5, 0.9
# The last line that the prompt asks for; of a longer reply, the last of them.
VERDICT = re.compile(r"^\W{0,4}ANSWER:\W{0,4}(NONE|[-+]?[\d.,/:]*\d)", re.MULTILINE)


class Session:
    """A run while it goes on: stores, scores and counts each result, and shows the counts.

    requests: of the run; with `until`, those up to the current interim check. known: the outcomes
    of this session's answers by key. note: shows a message, or the counts for "", as at the
    beginning and after each result. stored: samples of earlier sessions. ended, failed, tokens:
    samples of this session and their completion tokens. judged, correct: by the headline scorer.
    """

    def __init__(self, prepared: PreparedJob, store: run_folder.RunStore, show: Show) -> None:
        job, model = prepared.job, prepared.model
        self.prepared, self.store, self.note = prepared, store, partial(show, self)
        self.scorers = ScorerSet(prepared.plan.scorers)
        self.requests = prepared.plan.requests(model.identity)
        self.known: dict[str, bytes] = {}
        self.total = len(self.requests)
        self.stored = len(split_by_answered(self.requests, store.completions)[1])
        self.ended = self.failed = self.tokens = self.judged = self.correct = 0
        self.budget: Budget | None = None
        if prepared.price is not None:
            self.budget = Budget(prepared.price, job.max_cost, self.requests, store.completions)
        most = job.connections or model.connections
        self.dispatcher = Dispatcher(model, self.record, most, self.budget)
        self._task = asyncio.current_task()

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
            [outcomes] = self.scorers.judge_all([(completion.text, request.problem)])
            self.known[request.key] = outcomes
            self.judged += outcomes[0] != ERROR
            self.correct += outcomes[0] == CORRECT
        self.note("")

    def interrupt(self) -> None:
        """Let requests in flight end; at the second call, stop immediately."""
        if self.dispatcher.stopping.is_set() and self._task is not None:
            self._task.cancel()
            return
        self.dispatcher.stop()
        waiting = f"waiting for {self.dispatcher.in_flight} in flight"
        self.note(f"stopping: {waiting}; press Ctrl-C again to stop now")

    async def send(self, manifest: dict[str, Any]) -> None:
        """Write run.json and send what is not answered; raises FatalModelError.

        With `until`, stop at the first interim check that finds the interval narrow.
        """
        plan, job, model = self.prepared.plan, self.prepared.job, self.prepared.model
        path, rows = self.prepared.folder / run_folder.MANIFEST_FILE, self.store.completions
        planned = self.requests
        asked = (run_folder.read_json(path) or {}).get("problems") if rows else None
        sizes = [len(plan.problems)] if job.until is None else interim_sizes(len(plan.problems))
        must_check_prefix = plan.protocol.example_prompt().prefix is not None
        for size in sizes:
            if isinstance(asked, int) and size < asked:
                continue
            if job.until is not None:
                ids = [problem.id for problem in plan.problems[:size]]
                manifest |= {"problems": size, "problem_ids": ids}
            write_json(path, manifest)
            if must_check_prefix and not job.batch and self.stored < len(planned):
                from gradeschool.models.doctor import check_server

                must_check_prefix = False
                if server := await check_server(model, plan.protocol):
                    manifest["server"] = server
                    write_json(path, manifest)
            self.requests = planned[: size * plan.samples]
            todo, _ = split_by_answered(self.requests, rows)
            if job.batch:
                from gradeschool.models.endpoint import Endpoint
                from gradeschool.runs.batch import BatchRun

                assert isinstance(model, Endpoint)  # noqa: S101  (see `prepare`)
                batches = BatchRun(
                    model, self.store, self.dispatcher.stopping, self.record, self.note
                )
                await batches.request_all(todo)
            else:
                await self.dispatcher.send_all(todo)
            if job.until is None or self.dispatcher.stopping.is_set():
                self.requests = planned  # stopped between two checks: the rest is missing
                return
            _, answered = split_by_answered(self.requests, rows)
            pairs = [(row.text, request.problem) for request, row in answered]
            outcomes = [(problem.id, each[0]) for (_, problem), each
                        in zip(pairs, self.scorers.judge_all(pairs), strict=True)]  # fmt: skip
            manifest["until"] = interim_check(job.until, sizes, size, outcomes)
            write_json(path, manifest)
            if is_narrow(manifest["until"]):
                return


class Evaluation:
    """The end of a session of a run.

    manifest, results: the fields of run.json and results.json. curve: maj@k and pass@k by the
    headline scorer, () for one sample per problem. answered: samples. cautions: messages about
    answers that were sampled with other settings than requested, or are empty. cut_at: see
    `run_folder.cut_by_server`. example: the first message of the most frequent cause of failed
    samples. over_budget: the run stopped at `max_cost`. cost: dollars for all stored completions,
    None without a price.
    """

    def __init__(
        self,
        session: Session,
        manifest: Mapping[str, Any],
        summary: tuple[RunScore, Sequence[AtK], Mapping[str, Any]],
        fatal: FatalModelError | None,
    ) -> None:
        self.prepared, self.manifest, self.fatal = session.prepared, manifest, fatal
        self.score, self.curve, self.results = summary
        rows, budget, results = session.store.completions, session.budget, self.results
        todo, pairs = split_by_answered(session.requests, rows)
        texts, deviations = [row for _, row in pairs], results["deviations"]
        self.answered = len(texts)
        self.cautions = [
            f"the server refuses {name}: {refused} of {len(texts)} answers were drawn with the "
            "server's own value, not the protocol's"
            for name in SAMPLING
            if (refused := deviations.get(f"{name} refused"))
        ]
        if others := run_folder.other_models(self.prepared.model.identity, results["answered_by"]):
            self.cautions.append(
                f"the server says that another model answered: {others}; check the model's name"
            )
        shown = (row.reasoning or row.usage.reasoning_tokens
                 or thinking_spans(row.text) != ([], None) for row in texts)  # fmt: skip
        if self.prepared.job.thinking and texts and not any(shown):
            self.cautions.append(f"--thinking on was sent, and none of {len(texts)} answers shows "
                                 "thinking; the server may ignore it")  # fmt: skip
        self.cut_at = run_folder.cut_by_server(manifest, texts)
        for cause, remedy in REMEDIES.items():
            if empty := deviations.get(cause):
                if cause == IN_THINKING and self.cut_at is not None:
                    most = count(self.cut_at, "token")
                    remedy = f"the server's own limit cut them (after {most} at most)"
                self.cautions.append(f"{empty} of {len(texts)} answers have {cause}; {remedy}")
        self.cautions += results["alike"]
        self.example = ""
        if cause := next(iter(results["errors"]), ""):
            failed = (rows[each.key] for each in todo if each.key in rows)
            example = next(row.error for row in failed if row.cause == cause)
            self.example = example.removeprefix(f"{cause}: ")
        self.over_budget = bool(todo) and budget is not None and budget.stopped
        is_stopped = bool(todo) and session.dispatcher.stopping.is_set()
        self.interrupted = is_stopped and fatal is None and not self.over_budget
        self.cost = results.get("cost", {}).get("dollars")


Show = Callable[[Session, str], None]


async def evaluate(prepared: PreparedJob, show: Show = lambda session, note: None) -> Evaluation:
    """Run a job in its folder; stored samples are not requested again.

    show: see `Session`. Samples whose last attempt failed are requested again. SIGINT or SIGTERM
    stops after the requests in flight, a second signal immediately (CancelledError, which
    `asyncio.run` turns into KeyboardInterrupt for SIGINT); both leave a resumable folder. The run
    ends before any problem is sent if the protocol begins the answer and the server does not
    continue it. Raises StoreError, InputError.
    """
    job, plan, model, folder = prepared.job, prepared.plan, prepared.model, prepared.folder
    started = monotonic()
    fatal: FatalModelError | None = None
    async with model:
        manifest = make_manifest(plan, model.identity, folder)
        if facts := await model.facts():
            manifest["engine"] = facts
        if prepared.options:
            manifest["options"] = prepared.options
        with run_folder.open_store(folder) as store:
            # Without --batch, the requests of an open batch would be sent and paid for twice.
            if not job.batch and (files := sorted(folder.glob(run_folder.BATCH_FILES))):
                raise StoreError(
                    f"{str(folder)!r} has an open batch ({files[0].name}); collect it with "
                    "--batch, or delete these files to send its requests again"
                )
            session = Session(prepared, store, show)
            session.note("")
            if model.remark:
                session.note(model.remark)
            loop = asyncio.get_running_loop()
            numbers = SIGNALS if current_thread() is main_thread() else ()
            for number in numbers:
                loop.add_signal_handler(number, session.interrupt)
            try:
                await session.send(manifest)
            except FatalModelError as error:
                fatal = error
            finally:
                for number in numbers:
                    loop.remove_signal_handler(number)
            requests, rows = session.requests, store.completions
            score, curve, results = summarise(
                model.name, session.scorers, requests, rows, session.known
            )
            results["seconds"] = round(monotonic() - started, 3)
            budget, stopping = session.budget, session.dispatcher.stopping.is_set()
            if prepared.judge is not None and fatal is None and not stopping:
                results["judge"] = await ask_judge(
                    prepared.judge, prepared, split_by_answered(requests, rows)[1]
                )
            if budget is not None:
                results["cost"] = {"dollars": round(budget.cost, 6), "price": list(budget.price)}
            if "until" in manifest:
                results["until"] = manifest["until"]
            write_json(folder / run_folder.RESULTS_FILE, results)

    return Evaluation(session, manifest, (score, curve, results), fatal)


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
    sample per problem. `answered_by` counts the model names in replies; `alike` warns of short
    texts that may be failures of the server, and of samples that are the same text.
    """
    pairs = [(each, completions[each.key]) for each in requests if each.key in completions]
    samples = [
        Sample(number, text=row.text, sample=request.sample, finish=row.finish, error=row.error,
               problem=request.problem)
        for number, (request, row) in enumerate(pairs, start=1)
    ]  # fmt: skip
    answers = [row for _, row in pairs if not row.error]
    errors = Counter(row.cause for _, row in pairs if row.error)
    tokens = Counter(prompt_tokens=0, completion_tokens=0)
    for row in answers:
        tokens.update({kind: n for kind, n in row.usage._asdict().items() if n is not None})
    timed = [(row.latency, row.usage.completion_tokens) for row in answers
             if row.latency is not None]  # fmt: skip
    alike = AlikeTexts(name)
    alike.add(samples)
    warnings = list(alike.conclude())
    by_problem: defaultdict[str, list[str]] = defaultdict(list)
    for row in answers:
        by_problem[row.problem_id].append(row.text)
    several = [each for each in by_problem.values() if len(each) > 1]
    same = sum(len(set(each)) == 1 for each in several)
    if same >= max(LEAST_SAME, SAME * len(several)):
        warnings.append(
            f"the samples of {same} of {len(several)} problems are the same text: the temperature "
            "or the seed has no effect (`gradeschool doctor` tests a server), and pass@k and maj@k "
            "say nothing"
        )
    outcomes = None
    if known and all(row.key in known for row in answers):
        outcomes = [known[row.key] for row in answers]
    table = ScoredTable(Run(name, samples), scorers, outcomes)
    score, curve = score_run(table), []
    if requests and requests[-1].sample:
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
        "answered_by": dict(Counter(row.model for row in answers if row.model)),
        "deviations": dict(Counter(each for _, row in pairs for each in row.deviations)),
        "alike": warnings,
        "latency": quantiles([seconds for seconds, _ in timed]),
        "tokens_per_second": quantiles([n / seconds for seconds, n in timed if seconds and n]),
        **tokens,
    }
    return score, curve, fields


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """Return the median, the 90th and the 99th percentile, {} for no values."""
    ranked, shares = sorted(values), {}
    for share in (50, 90, 99) if ranked else ():
        shares[f"p{share}"] = round(ranked[share * (len(ranked) - 1) // 100], 3)
    return shares


def estimate_run(prepared: PreparedJob) -> dict[str, Any]:
    """Return the missing requests of a run and their cost; requests at most a model's name."""

    async def identity(model: Model) -> str:
        if model.name:
            return model.identity
        async with model:  # asks the server for its name
            return model.identity

    requests = prepared.plan.requests(asyncio.run(identity(prepared.model)))
    todo, pairs = split_by_answered(requests, run_folder.stored_completions(prepared.folder))
    fields = {
        "model": prepared.model.identity,
        "protocol": prepared.plan.protocol.name,
        "folder": str(prepared.folder),
        "samples": len(todo) + len(pairs),
        "stored": len(pairs),
        **estimate(todo, pairs, prepared.price),
    }
    if (judge := prepared.judge) is not None:
        marks = ScorerSet(prepared.plan.scorers).thinking_marks
        asked = judge_requests(asyncio.run(identity(judge)), pairs, marks)
        of_judge = estimate(asked, [], prepared.judge_price)
        fields["judge"] = {
            "model": judge.identity,
            "requests": len(asked),
            "most_requests": len(asked) + len(todo),
            "prompt_tokens": of_judge["prompt_tokens"],
            "cost": of_judge["cost"],
        }
    return fields


# --until


def interim_sizes(problems: int) -> list[int]:
    """Return the numbers of problems at the interim checks: FIRST_CHECK, doubled, and all."""
    doubled = takewhile(lambda size: size < problems, (FIRST_CHECK * 2**n for n in range(32)))
    return [*doubled, problems]


def interim_check(
    points: float, sizes: Sequence[int], size: int, outcomes: Iterable[tuple[str, int]]
) -> dict[str, Any]:
    """Return the interval at the interim check after `size` problems, as JSON values.

    points: the width to stop at. sizes: of all checks. outcomes: (problem id, outcome of the
    headline scorer). Each check takes an equal share of the 5 % of error, so that all intervals
    hold together with 95 % (Bonferroni; the simplest spending of alpha, Lan and DeMets 1983,
    Biometrika 70:659).
    """
    z = NormalDist().inv_cdf(1 - 0.025 / len(sizes))
    tallies = [(tally.correct, tally.judged) for tally in tally_by_problem(outcomes).values()]
    return {
        "points": points,
        "looks": list(sizes),
        "problems": size,
        "interval": list(clustered_wilson(tallies, z)),
        "level": round(1 - 0.05 / len(sizes), 6),
        "method": "Wilson, Bonferroni over the looks",
    }


def is_narrow(check: Mapping[str, Any]) -> bool:
    """Return whether the interval of an interim check is narrow enough to stop."""
    low, high = check["interval"]
    return bool((high - low) * 100 < check["points"])


# --judge: a model reads the completions that no rule reads. It says which answer a text gives, and
# does not know the gold; the comparison is ours. Its verdicts are a scorer of their own,
# `judge/MODEL`, and are never part of another's. Each reply is stored in the run folder, in
# judge-MODEL/completions.jsonl, and is not asked for again.


def judge_requests(identity: str, answered: Answered, marks: Marks) -> list[Request]:
    """Return the judge's request for each completion that no rule reads.

    identity: of the judge; its key has the question and the completion, which are in the prompt.
    marks: of thinking, besides the usual ones.
    """
    asked, protocol = [], get_protocol("gradeschool/judge")
    for request, row in answered:
        problem = request.problem
        reading = extract_final_answer(row.text, problem.question, marks)
        if reading is None or reading.confidence is Confidence.GUESSED:
            with_text = replace(problem, meta={**problem.meta, "completion": row.text})
            [prompt] = protocol.render([with_text], ())
            key = request_key(identity, prompt, protocol.decoding, row.sample)
            asked.append(Request(problem, prompt, protocol.decoding, key, row.sample))
    return asked


def outcome_of_reply(reply: str, problem: Problem) -> Outcome:
    """Return the outcome of a judge's reply; ERROR for one without the line that is asked for."""
    lines = VERDICT.findall(reply)
    if not lines:
        return Outcome.ERROR
    if lines[-1] == "NONE":
        return Outcome.NO_ANSWER
    right = same_answer(lines[-1].replace(",", ""), canonical_gold(problem.gold))
    return Outcome.CORRECT if right else Outcome.WRONG


async def ask_judge(model: Model, prepared: PreparedJob, answered: Answered) -> dict[str, Any]:
    """Ask the judge about the completions that no rule reads; return the counts for results.json.

    Stored replies are not requested again. A request that failed is an error, and is requested by
    the next command.
    """
    async with model:
        marks = ScorerSet(prepared.plan.scorers).thinking_marks
        asked = judge_requests(model.identity, answered, marks)
        stopped = {}
        name = re.sub(r"[^\w.-]+", "-", model.name)
        with run_folder.open_store(prepared.folder / f"judge-{name}") as store:
            rows = store.completions

            def record(request: Request, completion: Completion) -> None:
                store.append(completion, request.problem.question)

            try:
                most = prepared.job.connections or model.connections
                await Dispatcher(model, record, most).send_all(split_by_answered(asked, rows)[0])
            except FatalModelError as error:
                stopped = {"stopped": str(error)}
        failed, given = split_by_answered(asked, rows)
        outcomes = Counter(outcome_of_reply(row.text, each.problem) for each, row in given)
        outcomes[Outcome.ERROR] += len(failed)
        return {
            "scorer": f"judge/{model.name}",
            "model": model.identity,
            "of": len(answered),
            "asked": len(asked),
            "failed": len(failed),
            **{outcome.value: outcomes[outcome] for outcome in Outcome},
            **stopped,
        }
