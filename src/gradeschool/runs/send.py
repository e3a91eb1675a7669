"""Send requests to a model with the best concurrency, and retry failures.

Every request ends as a completion: the model's text, or the error in its place.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from gradeschool.completion import Completion, Finish, Usage
from gradeschool.errors import FatalModelError, ModelError, TransientError
from gradeschool.models.base import Model, Reply, Request
from gradeschool.runs.plan import groups

# The first and the highest number of connections if the user sets none.
FIRST_LIMIT = 16
HIGHEST_LIMIT = 256
WORTHWHILE_GAIN = 1.1  # more connections are kept if answers arrive this much faster
SMALLEST_ROUND = 32  # minimum number of answers over which a rate is measured
# Total tries of a request, and by cause. A refusal for lack of capacity costs nothing, and passes;
# a reply that is not a completion was paid for.
TRIES = 6
# Failures inside a reply with status 200.
NO_ANSWER = ("bad response", "server error", "aborted", "empty reply", "unknown ending")
TRIES_OF = {"http 429": 12, "timeout": 3, **dict.fromkeys(NO_ANSWER, 3)}
# If a server was never reached, six tries for each of a thousand samples are pointless.
UNREACHED_TRIES = 3
FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0
# Total retries of a run, except after a 429: this many, plus one for every two requests.
LEAST_RETRIES = 100
# The run stops after this many consecutive failed problems without an answer.
FAILING_PROBLEMS = 20
UNREACHED = "cannot connect"
OVERLOADED = ("http 429", "http 503", "http 529")
NO_SIGN_OF_LOAD = (*NO_ANSWER, "stale reply", "connection lost", UNREACHED)

Record = Callable[[Request, Completion], None]


class ConcurrencyLimiter:
    """The number of requests that may be in flight, `limit`.

    highest: the user's number; the limit starts there and never exceeds it. None starts with 16 and
    doubles up to 256 while doubling makes answers arrive faster. A 429, a 5xx or a timeout halves
    the limit, once for all requests in flight at that time; it then grows by an eighth for each
    round of answers. A server's `Retry-After` delays only the request that got it, which still
    counts as in flight, so that one very long wait does not stop a run.
    """

    def __init__(
        self, highest: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.limit = FIRST_LIMIT if highest is None else highest
        self.highest = HIGHEST_LIMIT if highest is None else highest
        self.clock = clock
        self._growing = highest is None
        self._settled = False
        self._rate = 0.0
        self._halved = float("-inf")
        self._begin_round()

    def succeeded(self) -> None:
        """Count an answer; the limit may increase."""
        if self.limit == self.highest and not self._growing:
            return
        self._answers += 1
        if self._answers < max(self._round, SMALLEST_ROUND if self._growing else 1):
            return
        if self._growing:
            self._try_more()
        else:
            self.limit = min(self.highest, self.limit + max(1, self.limit // 8))
        self._begin_round()

    def overloaded(self, sent: float) -> None:
        """Count a request, sent at this time of `clock`, that overloaded the server."""
        if sent <= self._halved:
            return
        self.limit = max(1, self.limit // 2)
        self._halved, self._growing = self.clock(), False
        self._begin_round()

    def _begin_round(self) -> None:
        self._answers, self._round, self._since = 0, self.limit, self.clock()

    def _try_more(self) -> None:
        """Double the limit, or undo the last doubling and keep that limit."""
        if self._rate and not self._settled:  # answers to requests from before the doubling
            self._settled = True
            return
        rate = self._answers / max(self.clock() - self._since, 1e-9)
        if rate < self._rate * WORTHWHILE_GAIN:
            self.limit //= 2
            self.highest = self.limit
        elif self.limit < self.highest:
            self.limit = min(self.highest, 2 * self.limit)
            self._rate, self._settled = rate, False
            return
        self._growing = False


class RetryPolicy:
    """Decides which failures in a run are retried, and which end the run."""

    def __init__(self, requests: int) -> None:
        self.budget = LEAST_RETRIES + requests // 2
        self._reached = False
        self._failing: set[str] = set()

    def succeeded(self) -> None:
        """Count a request that was answered."""
        self._reached = True
        self._failing.clear()

    def again(self, error: TransientError, tries: int) -> bool:
        """Return whether to try once more after `tries` failures."""
        self._reached |= error.cause != UNREACHED
        if error.cause == UNREACHED and not self._reached:
            return tries < UNREACHED_TRIES
        if tries >= TRIES_OF.get(error.cause, TRIES):
            return False
        if error.cause == "http 429":
            return True
        self.budget -= 1
        return self.budget >= 0

    def fatal(self, request: Request, error: ModelError) -> FatalModelError | None:
        """Return why the run should stop after a request finally failed, else None."""
        if error.cause == UNREACHED and not self._reached:
            return FatalModelError(error.cause, f"{error} (is the server running?)")
        if isinstance(error, TransientError) or error.cause.startswith("http "):
            self._failing.add(request.problem.id)
        if len(self._failing) < FAILING_PROBLEMS:
            return None
        return FatalModelError(
            error.cause,
            f"{len(self._failing)} problems failed one after the other, the last: {error}",
        )


@dataclass(slots=True)
class InFlight:
    """The state of a run: requests in flight, requests waiting for a retry, the limit."""

    sent: int = 0
    waiting: int = 0
    limit: int = 0


class Dispatcher:
    """Sends requests to a model with the concurrency that `limiter` allows; one per run.

    record: called once for each request, with its completion or its error. retrying: called before
    each retry, with the tokens of the failed reply. run: the name under which completions are
    stored. affordable: called before each request with the number in flight; if it returns False,
    the request waits until one of them ends, and with none in flight the run stops. `stop()` lets
    requests in flight end.
    """

    def __init__(
        self,
        model: Model,
        limiter: ConcurrencyLimiter,
        record: Record,
        retrying: Callable[[Usage], None],
        run: str,
        affordable: Callable[[int], bool] | None = None,
    ) -> None:
        self.model = model
        self.limiter = limiter
        self.record = record
        self.retrying = retrying
        self.run = run
        self.affordable = affordable
        self.stopping = asyncio.Event()
        self.fatal: FatalModelError | None = None
        self.in_flight = InFlight(limit=limiter.limit)
        self._retries = RetryPolicy(0)
        self._workers = 0

    def stop(self) -> None:
        """Send nothing more; requests in flight are still recorded, unless they cost nothing."""
        self.stopping.set()
        if give_up := getattr(self.model, "stop", None):
            give_up()

    async def send_all(self, requests: Sequence[Request], choices: int = 1) -> None:
        """Send all requests; return when all results are recorded, or after `stop()`.

        choices: number of samples of a problem per request, if they differ only in their number.
        Raises FatalModelError, and any error of `record` (StoreError).
        """
        self._retries = RetryPolicy(len(requests))
        pending = iter(groups(requests, choices))
        try:
            async with asyncio.TaskGroup() as tasks:
                self._start_workers(tasks, pending, len(requests))
        except ExceptionGroup as group:
            raise group.exceptions[0] from None
        if self.fatal is not None:
            raise self.fatal

    def _start_workers(
        self, tasks: asyncio.TaskGroup, pending: Iterator[Request], most: int
    ) -> None:
        """Start workers until there are as many as the limiter allows."""
        self.in_flight.limit = self.limiter.limit
        while self._workers < min(self.limiter.limit, most) and not self.stopping.is_set():
            self._workers += 1
            tasks.create_task(self._work(tasks, pending, most))

    async def _work(self, tasks: asyncio.TaskGroup, pending: Iterator[Request], most: int) -> None:
        """Send one group after another until there are no more groups, or too many workers."""
        while self._workers <= self.limiter.limit and not self.stopping.is_set():
            in_flight = self.in_flight.sent + self.in_flight.waiting
            if self.affordable is not None and not self.affordable(in_flight):
                if in_flight == 0:
                    self.stop()
                break  # a request in flight starts workers when it ends, with newer counts
            request = next(pending, None)  # one iterator, shared by all workers
            if request is None:
                break
            while request.keys and (completions := await self._complete(request)):
                for place, completion in enumerate(completions):
                    self.record(request.part(place, place + 1), completion)
                request = request.part(len(completions))
            if self._workers < self.limiter.limit:
                self._start_workers(tasks, pending, most)
        self._workers -= 1

    async def _complete(self, request: Request) -> list[Completion]:
        """Return the completions of the first samples of a request; [] if the run is stopped."""
        tries = 0
        while True:
            if self.stopping.is_set():
                return []
            tries += 1
            sent, begun = self.limiter.clock(), time.monotonic()
            try:
                self.in_flight.sent += 1
                try:
                    replies = await self.model.complete(request)
                finally:
                    self.in_flight.sent -= 1
            except TransientError as error:
                if is_overload(error) or (tries == 1 and error.cause not in NO_SIGN_OF_LOAD):
                    self.limiter.overloaded(sent)
                if not self._retries.again(error, tries):
                    return self._failed(request, error)
                self.retrying(error.usage)
                await self._pause(wait_before(tries, error.retry_after))
            except FatalModelError as error:
                self._give_up(error)
            except ModelError as error:
                return self._failed(request, error)
            else:
                self._retries.succeeded()
                self.limiter.succeeded()
                seconds = time.monotonic() - begun
                return [
                    completed(request.part(place, place + 1), reply, self.run, seconds)
                    for place, reply in enumerate(replies)
                ]

    def _failed(self, request: Request, error: ModelError) -> list[Completion]:
        """Return the error as the completion of each sample; [] if it ends the run."""
        fatal = self._retries.fatal(request, error)
        if fatal is not None:
            self._give_up(fatal)
            if fatal.cause == UNREACHED:
                return []  # no server was ever reached: the samples did not fail
        samples = 1 if error.is_of_choice else len(request.keys)
        first, *others = (
            failed(request.part(place, place + 1), error, self.run) for place in range(samples)
        )
        return [replace(first, usage=error.usage), *others]

    def _give_up(self, error: FatalModelError) -> None:
        self.fatal = self.fatal or error
        self.stop()

    async def _pause(self, seconds: float) -> None:
        """Wait before a retry, or until the run is stopped."""
        self.in_flight.waiting += 1
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stopping.wait(), timeout=seconds)
        self.in_flight.waiting -= 1


def is_overload(error: TransientError) -> bool:
    """Return whether an error means that the server has too many requests.

    Other errors (a 500, a timeout) may come repeatedly from one request that never works.
    """
    return error.cause in OVERLOADED or error.retry_after is not None


def wait_before(tries: int, retry_after: float | None) -> float:
    """Return the seconds to wait after `tries` failures: as the server asks, else doubling.

    Both are randomised, so that requests that failed together are not retried together.
    """
    if retry_after is not None:
        return retry_after * random.uniform(1.0, 1.1)  # noqa: S311  (spreads load, guards nothing)
    longest = min(FIRST_WAIT * 2.0 ** (tries - 1), LONGEST_WAIT)
    return longest * random.uniform(0.5, 1.0)  # noqa: S311


def completed(request: Request, reply: Reply, run: str, seconds: float | None = None) -> Completion:
    """Return the completion in a reply, which took this long."""
    return Completion(
        key=request.key,
        problem_id=request.problem.id,
        sample=request.sample,
        text=reply.text,
        finish=reply.finish,
        usage=reply.usage,
        model=reply.model,
        reasoning=reply.reasoning,
        run=run,
        deviations=reply.deviations,
        requests=reply.requests,
        logprob=reply.logprob,
        latency=None if seconds is None else round(seconds, 3),
    )


def failed(request: Request, error: ModelError, run: str) -> Completion:
    """Return the completion for a request without an answer."""
    return Completion(
        key=request.key,
        problem_id=request.problem.id,
        sample=request.sample,
        text="",
        finish=Finish.UNKNOWN,
        error=f"{error.cause}: {error}",
        run=run,
    )
