"""Send requests to a model with the best concurrency, and retry failures.

Every request ends as a completion: the model's text, or the error in its place.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from gradeschool.completion import Completion
from gradeschool.errors import FatalModelError, ModelError, TransientError
from gradeschool.models.base import Model, Reply, Request

if TYPE_CHECKING:
    from gradeschool.runs.cost import Budget

# The first and the highest number of connections if the user sets none.
FIRST_LIMIT = 16
HIGHEST_LIMIT = 256
WORTHWHILE_GAIN = 1.1  # more connections are kept if answers arrive this much faster
SMALLEST_ROUND = 32  # minimum number of answers over which a rate is measured
# Total tries of a request, and by cause. A refusal for lack of capacity costs nothing, and passes;
# a reply that is not a completion was paid for.
TRIES = 6
# Failures inside a reply with status 200.
BAD_REPLIES = ("bad response", "server error", "aborted", "empty reply", "unknown ending")
TRIES_OF = {"http 429": 12, "timeout": 3, **dict.fromkeys(BAD_REPLIES, 3)}
# If a server was never reached, six tries for each of a thousand samples are pointless.
UNREACHED_TRIES = 3
FIRST_WAIT = 0.5
LONGEST_BACKOFF = 60.0
# Total retries of a run, except after a 429: this many, plus one for every two requests.
LEAST_RETRIES = 100
# The run stops after this many consecutive failed problems without an answer.
FAILING_PROBLEMS = 20
UNREACHED = "cannot connect"
OVERLOADED = ("http 429", "http 503", "http 529")
NO_SIGN_OF_LOAD = (*BAD_REPLIES, "stale reply", "connection lost", UNREACHED)

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
        self._settled = False  # since the last doubling
        self._rate = 0.0  # before it
        self._halved = float("-inf")
        self._answers, self._since = 0, clock()  # of the round

    def succeeded(self) -> None:
        """Count an answer; the limit may increase."""
        self._answers += 1
        if self._answers < max(self.limit, SMALLEST_ROUND if self._growing else 1):
            return
        rate = self._answers / max(self.clock() - self._since, 1e-9)
        self._answers, self._since = 0, self.clock()
        if not self._growing:
            self.limit = min(self.highest, self.limit + max(1, self.limit // 8))
        elif self._rate and not self._settled:
            self._settled = True  # these answered requests from before the doubling
        elif rate < self._rate * WORTHWHILE_GAIN:
            self.limit //= 2
            self.highest, self._growing = self.limit, False
        elif self.limit < self.highest:
            self.limit = min(self.highest, 2 * self.limit)
            self._rate, self._settled = rate, False
        else:
            self._growing = False

    def overloaded(self, sent: float) -> None:
        """Count a request, sent at this time of `clock`, that overloaded the server."""
        if sent > self._halved:
            self.limit = max(1, self.limit // 2)
            self._halved = self._since = self.clock()
            self._answers, self._growing = 0, False


class Dispatcher:
    """Sends requests to a model, as many at a time as its `ConcurrencyLimiter` allows; one per run.

    record: called once for each request, with its completion or its error. connections: the highest
    number in flight, None to adapt it. budget: asked before each request; if it cannot afford one
    beside those in flight, the request waits until one of them ends, and with none in flight the
    run stops. `stop()` lets requests in flight end. sent: requests in flight; waiting: those that
    wait for a retry; retries: all so far.
    """

    def __init__(
        self,
        model: Model,
        record: Record,
        connections: int | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.model, self.record, self.budget = model, record, budget
        self.limiter = ConcurrencyLimiter(connections)
        self.stopping = asyncio.Event()
        self.fatal: FatalModelError | None = None
        self.sent = self.waiting = self.retries = 0
        self._retries_left = 0
        self._reached = False  # whether the server answered at all
        self._failing: set[str] = set()  # problems that failed since the last answer
        self._pending: Iterator[Request] = iter(())  # one iterator, shared by all workers
        self._left = self._workers = 0

    def stop(self) -> None:
        """Send nothing more; requests in flight are still recorded, unless they cost nothing."""
        self.stopping.set()
        self.model.stop()

    async def send_all(self, requests: Sequence[Request]) -> None:
        """Send all requests; return when all results are recorded, or after `stop()`.

        Raises FatalModelError, and any error of `record` (StoreError).
        """
        self._retries_left = LEAST_RETRIES + len(requests) // 2
        self._pending, self._left = iter(requests), len(requests)
        try:
            async with asyncio.TaskGroup() as tasks:
                self._start_workers(tasks)
        except ExceptionGroup as group:
            raise group.exceptions[0] from None
        if self.fatal is not None:
            raise self.fatal

    def _start_workers(self, tasks: asyncio.TaskGroup) -> None:
        """Start workers until there are as many as the limiter allows, one a request at most."""
        new = min(self.limiter.limit - self._workers, self._left)
        for _ in range(0 if self.stopping.is_set() else new):
            self._workers += 1
            tasks.create_task(self._work(tasks))

    async def _work(self, tasks: asyncio.TaskGroup) -> None:
        """Send one request after another until there are no more, or too many workers."""
        while self._workers <= self.limiter.limit and not self.stopping.is_set():
            in_flight = self.sent + self.waiting
            if self.budget is not None and not self.budget.affordable(in_flight):
                if in_flight == 0:
                    self.stop()
                break  # a request in flight starts workers when it ends, with newer counts
            request = next(self._pending, None)
            if request is None:
                break
            self._left -= 1
            tries, is_done = 0, False
            while not is_done and not self.stopping.is_set():
                tries += 1
                self.sent += 1
                begun = self.limiter.clock()
                try:
                    reply = await self.model.complete(request)
                except ModelError as error:
                    self.sent -= 1
                    is_done = not await self._retry(error, tries, begun)
                    if is_done:
                        self._fail(request, error)
                    continue
                self.sent -= 1
                is_done = self._reached = True
                self._failing.clear()
                self.limiter.succeeded()
                seconds = self.limiter.clock() - begun
                self.record(request, completion_of(request, reply, self.model.name, seconds))
            if self._workers < self.limiter.limit:
                self._start_workers(tasks)
        self._workers -= 1

    async def _retry(self, error: ModelError, tries: int, begun: float) -> bool:
        """Wait and return True if a request that failed is to be sent again."""
        if not isinstance(error, TransientError):
            return False
        # Other errors than these (a 500, a timeout) may come from one request that never works.
        is_overload = error.cause in OVERLOADED or error.retry_after is not None
        if is_overload or (tries == 1 and error.cause not in NO_SIGN_OF_LOAD):
            self.limiter.overloaded(begun)
        self._reached |= error.cause != UNREACHED
        if tries >= (TRIES_OF.get(error.cause, TRIES) if self._reached else UNREACHED_TRIES):
            return False
        if error.cause != "http 429" and self._reached:
            self._retries_left -= 1
            if self._retries_left < 0:
                return False
        self.retries += 1
        if self.budget is not None:
            self.budget.spend(error.usage)
        self.waiting += 1
        with suppress(TimeoutError):
            seconds = wait_before(tries, error.retry_after)
            await asyncio.wait_for(self.stopping.wait(), timeout=seconds)
        self.waiting -= 1
        return True

    def _fail(self, request: Request, error: ModelError) -> None:
        """Record the error of a request, or stop the run if no request can succeed."""
        fatal = error if isinstance(error, FatalModelError) else None
        if error.cause == UNREACHED and not self._reached:
            fatal = FatalModelError(error.cause, str(error))
        if fatal is None:
            if isinstance(error, TransientError) or error.cause.startswith("http "):
                self._failing.add(request.problem.id)
            self.record(request, completion_of(request, error, self.model.name))
            if len(self._failing) < FAILING_PROBLEMS:
                return
            fatal = FatalModelError(
                error.cause,
                f"{len(self._failing)} problems failed one after the other, the last: {error}",
            )
        self.fatal = self.fatal or fatal
        self.stop()


def wait_before(tries: int, retry_after: float | None) -> float:
    """Return the seconds to wait after `tries` failures: as the server asks, else doubling.

    Both are randomised, so that requests that failed together are not retried together.
    """
    if retry_after is not None:
        return retry_after * random.uniform(1.0, 1.1)  # noqa: S311  (spreads load, guards nothing)
    longest = min(FIRST_WAIT * 2.0 ** (tries - 1), LONGEST_BACKOFF)
    return longest * random.uniform(0.5, 1.0)  # noqa: S311


def completion_of(
    request: Request, result: Reply | ModelError, run: str, seconds: float | None = None
) -> Completion:
    """Return the completion of a request: its reply, or an error with the tokens that it cost.

    seconds: from the request to its reply.
    """
    sample = request.key, request.problem.id, request.sample
    if isinstance(result, ModelError):
        error = f"{result.cause}: {result}"
        return Completion(*sample, "", usage=result.usage, run=run, error=error)
    return Completion(
        *sample, result.text, result.finish, result.usage, result.model, result.reasoning, run=run,
        deviations=result.deviations, requests=result.requests, logprob=result.logprob,
        latency=None if seconds is None else round(seconds, 3),
    )  # fmt: skip
