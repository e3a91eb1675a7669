"""When a request that failed is tried again, and when a run as a whole has no chance."""

from __future__ import annotations

import random

from gradeschool.errors import FatalModelError, ModelError, TransientError
from gradeschool.models.base import Request

TRIES = 6
# A refusal for lack of capacity costs nothing, and passes; a reply that is no completion was paid.
TRIES_OF = {"http 429": 12, "bad response": 3, "timeout": 3}
# A server that was never reached is not worth six tries for each of a thousand samples.
UNREACHED_TRIES = 3
FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0
# Retries of a run in all, those after a 429 apart: this many, and one for each two requests.
LEAST_BUDGET = 100
# So many problems that fail one after the other, none answered between them, are no accident.
FAILING_PROBLEMS = 20
UNREACHED = "cannot connect"
OVERLOADED = ("http 429", "http 503", "http 529")
SAYS_NOTHING_OF_LOAD = ("bad response", "connection lost", UNREACHED)


class Retries:
    """Decides about each failure of a run of so many requests."""

    def __init__(self, requests: int) -> None:
        self.budget = LEAST_BUDGET + requests // 2
        self._reached = False
        self._failing: set[str] = set()

    def answered(self) -> None:
        """Learn that a request was answered."""
        self._reached = True
        self._failing.clear()

    def again(self, error: TransientError, tries: int) -> bool:
        """Tell whether to try once more after `tries` failures."""
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
        """Return why the run should stop, now that a request has failed for good; else None."""
        if error.cause == UNREACHED and not self._reached:
            return FatalModelError(error.cause, f"{error}; is the server running?")
        if isinstance(error, TransientError) or error.cause.startswith("http "):
            self._failing.add(request.problem.id)
        if len(self._failing) < FAILING_PROBLEMS:
            return None
        return FatalModelError(
            error.cause,
            f"{len(self._failing)} problems failed one after the other, the last: {error}",
        )


def overloaded(error: TransientError) -> bool:
    """Tell whether an error says that there are too many requests.

    Others (a 500, a time-out) may come from one request that never works, time and again.
    """
    return error.cause in OVERLOADED or error.retry_after is not None


def wait_before(tries: int, retry_after: float | None) -> float:
    """Return the seconds to wait after `tries` failures: the server's wish, else doubling.

    Both with some chance in it, so that requests that failed together do not come back together.
    """
    if retry_after is not None:
        return retry_after * random.uniform(1.0, 1.1)  # noqa: S311  (spreads load, guards nothing)
    longest = min(FIRST_WAIT * 2.0 ** (tries - 1), LONGEST_WAIT)
    return longest * random.uniform(0.5, 1.0)  # noqa: S311
