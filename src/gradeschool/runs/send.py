"""Send requests to a model with the best concurrency, retry failures, and stay within a budget.

Every request ends as a completion: the model's text, or the error in its place.
"""

import asyncio
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Completion, Prompt, Usage
from gradeschool.errors import FatalModelError, InputError, ModelError, TransientError
from gradeschool.models.base import Model, Reply, Request
from gradeschool.models.openai_api import BUSY_STATUSES

# The first and the highest number of connections if the user sets none.
FIRST_LIMIT = 16
HIGHEST_LIMIT = 256
WORTHWHILE_GAIN = 1.1  # more connections are kept if answers arrive this much faster
SMALLEST_ROUND = 32  # minimum number of answers over which a rate is measured
# Total tries of a request, and by cause. A 429 costs nothing and is temporary, so it gets more
# tries; a malformed reply was paid for, so it gets fewer.
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
OVERLOADED = {f"http {status}" for status in BUSY_STATUSES}
NO_SIGN_OF_LOAD = (*BAD_REPLIES, "stale reply", "connection lost", UNREACHED)

LARGEST_PRICE = 1e9  # dollars per million tokens
CHARACTERS_A_TOKEN = 4  # approximately, in English text; used until a server has counted
TOKENS_A_MESSAGE = 4
TYPICAL_ANSWER = 300  # tokens, if there is neither a limit nor an earlier answer

Record = Callable[[Request, Completion], None]
Answered = Sequence[tuple[Request, Completion]]


class ConcurrencyLimiter:
    """The number of requests that may be in flight, `limit`.

    highest: the user's number; the limit starts there and never exceeds it. None starts with 16 and
    doubles up to 256 while doubling makes answers arrive faster. A 429, 503, 529 or
    `Retry-After` halves the limit at any try, another 5xx or a timeout at the first, once for all
    requests in flight at that time; it then grows by an eighth for each round of answers. A
    server's `Retry-After` delays only the request that got it, which still counts as in flight, so
    that one very long wait does not stop a run.
    """

    def __init__(self, highest: int | None = None) -> None:
        self.limit = FIRST_LIMIT if highest is None else highest
        self.highest = HIGHEST_LIMIT if highest is None else highest
        self._growing = highest is None
        self._settled = False  # requests sent before the last doubling are answered
        self._rate = 0.0  # answers a second before the last doubling
        self._halved = float("-inf")
        self._answers, self._since = 0, time.monotonic()  # of this round, and its start

    def succeeded(self) -> None:
        """Count an answer; the limit may increase."""
        self._answers += 1
        if self._answers < max(self.limit, SMALLEST_ROUND if self._growing else 1):
            return
        rate = self._answers / max(time.monotonic() - self._since, 1e-9)
        self._answers, self._since = 0, time.monotonic()
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

    def overloaded(self, sent_at: float) -> None:
        """Count a request, sent at this time (time.monotonic), that overloaded the server."""
        if sent_at > self._halved:
            self.limit = max(1, self.limit // 2)
            self._halved = self._since = time.monotonic()
            self._answers, self._growing = 0, False


class Price(NamedTuple):
    """Dollars per million tokens of prompts and of completions."""

    prompt: float
    completion: float

    def of(self, usage: Usage) -> float:
        """Return the dollars for these tokens; tokens without a count are free."""
        prompt = (usage.prompt_tokens or 0) * self.prompt
        return (prompt + (usage.completion_tokens or 0) * self.completion) / 1_000_000


def parse_price(text: str, model: str) -> Price:
    """Return the price from `--price`: "IN/OUT", or a JSON file of models and their prices.

    The file has the form {"gpt-4.1-mini": [0.40, 1.60], ...}. Raises InputError.
    """
    try:
        pair: Any = text.split("/")
        if text.endswith(".json"):
            pair = json.loads(Path(text).read_bytes())[model]
        prompt, completion = map(float, pair)
        if not (0 <= prompt <= LARGEST_PRICE and 0 <= completion <= LARGEST_PRICE):
            raise ValueError
        return Price(prompt, completion)
    except OSError as error:
        raise InputError(f"cannot read the prices in {text!r}: {error}") from error
    except (LookupError, TypeError, ValueError, RecursionError):
        raise InputError(
            f"the price {text!r} of {model!r} is not two numbers from 0 on; give IN/OUT in "
            "dollars per million tokens, as in 2.50/10, or a JSON file of {NAME: [IN, OUT]}"
        ) from None


def estimated_tokens(prompt: Prompt) -> int:
    """Return the approximate number of tokens of a prompt, from its characters."""
    if prompt.text is not None:
        return len(prompt.text) // CHARACTERS_A_TOKEN + 1
    texts = [message.content for message in prompt.messages] + [prompt.prefix or ""]
    return sum(len(text) // CHARACTERS_A_TOKEN + TOKENS_A_MESSAGE for text in texts)


def split_by_answered(
    requests: Sequence[Request], rows: Mapping[str, Completion]
) -> tuple[list[Request], Answered]:
    """Return the requests without an answer among the rows, and the others with their row."""
    todo, answered = [], []
    for request in requests:
        row = rows.get(request.key)
        if row is None or row.error:
            todo.append(request)
        else:
            answered.append((request, row))
    return todo, answered


def estimate(
    todo: Sequence[Request], answered: Answered, price: Price | None = None
) -> dict[str, Any]:
    """Return the estimated size of the requests in `todo`, from the lengths of the answered ones.

    missing: requests. prompt_tokens: from characters, or from the server's counts for earlier
    prompts. completion_tokens, cost (dollars): likely. most_completion_tokens, most_cost: if every
    answer reaches its limit, None without a limit. measured: whether earlier answers were counted.
    """
    guessed = counted = 0
    written = []
    for request, row in answered:
        if row.usage.prompt_tokens is not None:
            guessed += estimated_tokens(request.prompt)
            counted += row.usage.prompt_tokens
        if row.usage.completion_tokens is not None:
            written.append(row.usage.completion_tokens)
    factor = counted / guessed if guessed else 1.0
    prompts = round(factor * sum(estimated_tokens(request.prompt) for request in todo))
    limits = [request.decoding.max_tokens for request in todo]
    likely = sum(min(limit or TYPICAL_ANSWER, TYPICAL_ANSWER) for limit in limits)
    if written:
        likely = round(len(todo) * sum(written) / len(written))
    most = None if None in limits else sum(limit or 0 for limit in limits)
    return {
        "missing": len(todo),
        "prompt_tokens": prompts,
        "completion_tokens": likely,
        "most_completion_tokens": most,
        "measured": bool(written),
        "cost": None if price is None else price.of(Usage(prompts, likely)),
        "most_cost": None if price is None or most is None else price.of(Usage(prompts, most)),
    }


class Budget:
    """The cost of a run so far, and its limit.

    limit: dollars at which to stop, None for no limit. requests: of the whole run. stored: the
    completions of earlier sessions by key. `stopped`: whether a request was refused.
    """

    def __init__(
        self,
        price: Price,
        limit: float | None,
        requests: Sequence[Request],
        stored: Mapping[str, Completion],
    ) -> None:
        self.price, self.limit, self.stopped = price, limit, False
        self.cost = sum(price.of(row.usage) for row in stored.values())
        self._expected = estimate(requests, [], price)["cost"] / max(1, len(requests))
        self._answers = sum(not row.error for row in stored.values())

    def add(self, completion: Completion) -> None:
        """Count a completion, or a failed sample with the tokens of its last reply."""
        self.cost += self.price.of(completion.usage)
        self._answers += not completion.error

    def affordable(self, in_flight: int) -> bool:
        """Return whether the budget allows one more request beside those in flight.

        Before the first answer, whose length shows the cost, only one request may be sent.
        """
        if self.limit is None:
            return True
        each = self.cost / self._answers if self._answers else self._expected
        fits = self.cost + each * (in_flight + 1) <= self.limit
        is_first = not self._answers and in_flight == 0 and self.cost < self.limit
        self.stopped |= not fits and not is_first and in_flight == 0
        return fits or is_first


class Dispatcher:
    """Sends requests to one model, as many at a time as its `ConcurrencyLimiter` allows.

    record: called once for each request, with its completion or its error. connections: the highest
    number in flight, None to adapt it. budget: asked before each request. A request that it cannot
    afford waits until another one ends; if none is in flight, the run stops. `stop()` lets requests
    in flight end. in_flight: their number. waiting: of those that wait for a retry. retries: all so
    far.
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
        self.in_flight = self.waiting = self.retries = 0
        self._retries_left = self._unfinished = 0
        self._ended = asyncio.Event()  # a request, or the run
        self._reached = False  # whether the server answered at all
        self._failing: set[str] = set()  # problems that failed since the last answer

    def stop(self) -> None:
        """Send nothing more; requests in flight are still recorded, unless they cost nothing."""
        self.stopping.set()
        self._ended.set()
        self.model.stop()

    async def send_all(self, requests: Sequence[Request]) -> None:
        """Send all requests; return when all results are recorded, or after `stop()`.

        Raises FatalModelError, and any error of `record` (StoreError).
        """
        self._retries_left = LEAST_RETRIES + len(requests) // 2
        self._unfinished = 0
        try:
            async with asyncio.TaskGroup() as tasks:
                for request in requests:
                    while not self.stopping.is_set():
                        if self._unfinished < self.limiter.limit:
                            if self.budget is None or self.budget.affordable(self._unfinished):
                                self._unfinished += 1
                                tasks.create_task(self._send(request))
                                break
                            if self._unfinished == 0:
                                self.stop()
                                break
                        self._ended.clear()
                        await self._ended.wait()
        except ExceptionGroup as group:
            raise group.exceptions[0] from None
        if self.fatal is not None:
            raise self.fatal

    async def _send(self, request: Request) -> None:
        """Send a request until it is answered or has failed, and record the result."""
        tries, is_done = 0, False
        while not is_done and not self.stopping.is_set():
            tries += 1
            self.in_flight += 1
            sent_at = time.monotonic()
            try:
                reply = await self.model.complete(request)
            except ModelError as error:
                self.in_flight -= 1
                is_done = not await self._retry(error, tries, sent_at)
                if is_done:
                    self._fail(request, error)
                continue
            self.in_flight -= 1
            is_done = self._reached = True
            self._failing.clear()
            self.limiter.succeeded()
            seconds = time.monotonic() - sent_at
            self.record(request, completion_of(request, reply, self.model.name, seconds))
        self._unfinished -= 1
        self._ended.set()

    async def _retry(self, error: ModelError, tries: int, sent_at: float) -> bool:
        """Wait and return True if a request that failed is to be sent again."""
        if not isinstance(error, TransientError):
            return False
        # Other errors than these (a 500, a timeout) may come from one request that never works.
        is_overload = error.cause in OVERLOADED or error.retry_after is not None
        if is_overload or (tries == 1 and error.cause not in NO_SIGN_OF_LOAD):
            self.limiter.overloaded(sent_at)
        self._reached |= error.cause != UNREACHED
        if tries >= (TRIES_OF.get(error.cause, TRIES) if self._reached else UNREACHED_TRIES):
            return False
        if error.cause != "http 429" and self._reached:
            self._retries_left -= 1
            if self._retries_left < 0:
                return False
        self.retries += 1
        if self.budget is not None:
            self.budget.cost += self.budget.price.of(error.usage)
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
    request: Request, result: Reply | ModelError, model_name: str, seconds: float | None = None
) -> Completion:
    """Return the completion of a request: its reply, or an error with the tokens that it cost.

    seconds: from the request to its reply.
    """
    sample = request.key, request.problem.id, request.sample
    if isinstance(result, ModelError):
        error = f"{result.cause}: {result}"
        return Completion(*sample, "", usage=result.usage, run=model_name, error=error)
    return Completion(
        *sample, result.text, result.finish, result.usage, result.model, result.reasoning,
        run=model_name, deviations=result.deviations, requests=result.requests,
        latency=None if seconds is None else round(seconds, 3),
    )  # fmt: skip
