"""How many requests are in flight: more while that helps, half as many when the server protests."""

from __future__ import annotations

import time
from collections.abc import Callable

START = 16
MOST = 256
WORTH_IT = 1.1  # more connections are kept where they make answers come this much faster
SMALLEST_ROUND = 32  # answers that a rate is measured over, at least


class Pace:
    """The number of requests that may be in flight, `limit`, and until when to send none.

    most: a number that the user gave: begun with, and never passed. None starts with 16 and
    doubles up to 256 while a doubling makes answers come faster. A 429, a 5xx or a time-out halves
    the limit, once for all requests that were in flight together; it then grows back by an eighth
    for each round of answers. `quiet_until` is the time that the server asked to be left alone.
    """

    def __init__(
        self, most: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.limit = START if most is None else most
        self.most = MOST if most is None else most
        self.quiet_until = 0.0
        self.clock = clock
        self._growing = most is None
        self._settled = False
        self._rate = 0.0
        self._halved = float("-inf")
        self._begin()

    def answered(self) -> None:
        """Learn of an answer; the limit may grow."""
        self._answers += 1
        if self._answers < max(self._round, SMALLEST_ROUND if self._growing else 1):
            return
        if self._growing:
            self._try_more()
        else:
            self.limit = min(self.most, self.limit + max(1, self.limit // 8))
        self._begin()

    def trouble(self, sent: float, retry_after: float | None = None) -> None:
        """Learn that the request sent at that time was one too many."""
        now = self.clock()
        if retry_after is not None:
            self.quiet_until = max(self.quiet_until, now + retry_after)
        if sent <= self._halved:
            return
        self.limit = max(1, self.limit // 2)
        self._halved, self._growing = now, False
        self._begin()

    def _begin(self) -> None:
        self._answers, self._round, self._since = 0, self.limit, self.clock()

    def _try_more(self) -> None:
        """Double the limit, or take the last doubling back and stay there."""
        if self._rate and not self._settled:  # answers to requests from before the doubling
            self._settled = True
            return
        rate = self._answers / max(self.clock() - self._since, 1e-9)
        if rate < self._rate * WORTH_IT:
            self.limit //= 2
            self.most = self.limit
        elif self.limit < self.most:
            self.limit = min(self.most, 2 * self.limit)
            self._rate, self._settled = rate, False
            return
        self._growing = False
