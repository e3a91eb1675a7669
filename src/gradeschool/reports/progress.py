"""A run while it goes: a live display in a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from gradeschool.completion import Completion
from gradeschool.runs.cost import Budget
from gradeschool.runs.dispatch import InFlight
from gradeschool.runs.progress import RunProgress
from gradeschool.scoring.statistics import wilson
from gradeschool.verdict import Outcome

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

PLAIN_SECONDS = 10.0
REFRESH_A_SECOND = 4
RECENT_SECONDS = 30.0
BETWEEN = " · "


class Mark(NamedTuple):
    """How many answers and tokens there were at a time."""

    time: float
    ended: int
    tokens: int


class Tally:
    """Counts of a running evaluation."""

    def __init__(self) -> None:
        self.total = self.stored = self.ended = self.failed = self.retries = 0
        self.correct = self.judged = self.tokens = 0
        self.live = InFlight()
        self.purse: Budget | None = None
        self.started = time.monotonic()
        self._marks: deque[Mark] = deque()

    def begin(self, total: int, stored: int) -> None:
        """Start counting."""
        self.total, self.stored, self.started = total, stored, time.monotonic()
        self._marks.append(Mark(self.started, 0, 0))

    def count(self, completion: Completion, outcome: Outcome) -> None:
        """Count one sample that ended."""
        self.ended += 1
        self.failed += bool(completion.error)
        self.tokens += completion.usage.completion_tokens or 0
        if outcome is not Outcome.ERROR:
            self.judged += 1
            self.correct += outcome is Outcome.CORRECT

    def accuracy(self) -> str:
        """Return the accuracy of this session's answers with its interval, "" before the first."""
        if not self.judged:
            return ""
        low, high = wilson(self.correct, self.judged)
        share = 100 * self.correct / self.judged
        of = "accuracy of the new" if self.stored else "accuracy"
        return f"{of} {share:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"

    def speed(self) -> str:
        """Return answers and tokens a second, dollars, and the time left."""
        answers, tokens = self._rates()
        parts = [f"{answers:.1f}/s"] if self.ended else []
        if self.tokens:
            parts.append(f"{tokens:,.0f} tokens/s")
        if self.purse is not None:
            limit = "" if self.purse.limit is None else f" of ${self.purse.limit:,.2f}"
            parts.append(f"${self.purse.cost:,.4f}{limit}")
        left = self.total - self.stored - self.ended
        if answers and left > 0:
            parts.append(f"{_clock(left / answers)} left")
        return BETWEEN.join(parts)

    def _rates(self) -> tuple[float, float]:
        """Return answers and tokens a second over the last half minute."""
        now = time.monotonic()
        if not self._marks or now - self._marks[-1].time >= 1:
            self._marks.append(Mark(now, self.ended, self.tokens))
        while len(self._marks) > 1 and now - self._marks[1].time > RECENT_SECONDS:
            self._marks.popleft()
        first = self._marks[0]
        elapsed = max(now - first.time, 1e-9)
        return (self.ended - first.ended) / elapsed, (self.tokens - first.tokens) / elapsed

    def trouble(self) -> str:
        """Return what failed, what is tried again, and what is in flight."""
        parts = [f"{self.failed} failed"]
        if self.retries:
            now = f" ({self.live.waiting} waiting)" if self.live.waiting else ""
            tries = "1 retry" if self.retries == 1 else f"{self.retries} retries"
            parts.append(f"{tries}{now}")
        if self.live.sent:
            parts.append(f"{self.live.sent} of {self.live.limit} in flight")
        return BETWEEN.join(parts)

    def figures(self) -> str:
        """Return all of it in one line."""
        return BETWEEN.join(filter(None, [self.trouble(), self.accuracy(), self.speed()]))


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class Telling(RunProgress):
    """What both displays do alike: they keep a tally, and say a line where something happens."""

    def __init__(self) -> None:
        self.tally = Tally()

    def watch(self, live: InFlight, purse: Budget | None, died: str) -> None:
        """Get the run's counters."""
        self.tally.live, self.tally.purse = live, purse
        if died:
            self._say(
                f"the last session here ({died}) did not end in order; going on from what it stored"
            )

    def stopping(self) -> None:
        """Say what is waited for."""
        waiting = f"{self.tally.live.sent} in flight are waited for"
        self._say(f"stopping: {waiting}; once more stops at once")

    def note(self, text: str) -> None:
        """Say it."""
        self._say(text)

    def _say(self, line: str) -> None:
        raise NotImplementedError


class PlainProgress(Telling):
    """Writes a line to stderr at the start, every ten seconds, and at the end."""

    def __init__(self, quiet: bool = False) -> None:
        super().__init__()
        self.quiet = quiet
        self._told = time.monotonic()

    def __enter__(self) -> PlainProgress:
        """Nothing to set up."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Say how it stands at the end, if it began at all."""
        if self.tally.total:
            self._tell()

    def begin(self, total: int, stored: int, quarantined: int) -> None:
        """Learn the size of the run."""
        self.tally.begin(total, stored)
        if quarantined:
            self._say(f"{quarantined} unreadable rows moved to quarantine.jsonl")
        already = f", {stored} stored already" if stored else ""
        self._say(f"{total} samples{already}")

    def ended(self, completion: Completion, outcome: Outcome) -> None:
        """Learn of one sample."""
        self.tally.count(completion, outcome)
        if time.monotonic() - self._told > PLAIN_SECONDS:
            self._tell()

    def retry(self) -> None:
        """Learn of a retry."""
        self.tally.retries += 1

    def _tell(self) -> None:
        self._told = time.monotonic()
        done = self.tally.stored + self.tally.ended
        self._say(f"{done}/{self.tally.total} done{BETWEEN}{self.tally.figures()}")

    def _say(self, line: str) -> None:
        if not self.quiet:
            print(line, file=sys.stderr, flush=True)


class LiveProgress(Telling):
    """Draws a bar and two lines of figures on stderr, refreshed four times a second."""

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        super().__init__()
        self.console = console
        self._progress: Progress = Progress(
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[figures]}", markup=False),
            console=console,
            auto_refresh=False,
        )
        self._drawn = 0.0

    def __enter__(self) -> LiveProgress:
        """Start drawing."""
        self._progress.start()
        self._task = self._progress.add_task("", total=None, figures="starting")
        return self

    def __exit__(self, *exc: object) -> None:
        """Draw the last state and leave it standing; of a run that never began nothing is left."""
        self._progress.update(self._task, visible=self.tally.total > 0)
        self._draw()
        self._progress.stop()

    def begin(self, total: int, stored: int, quarantined: int) -> None:
        """Learn the size of the run."""
        self.tally.begin(total, stored)
        if quarantined:
            self._say(f"{quarantined} unreadable rows moved to quarantine.jsonl")
        self._progress.update(self._task, total=total)
        self._draw()

    def ended(self, completion: Completion, outcome: Outcome) -> None:
        """Learn of one sample."""
        self.tally.count(completion, outcome)
        self._draw_in_turn()

    def retry(self) -> None:
        """Learn of a retry."""
        self.tally.retries += 1
        self._draw_in_turn()

    def _say(self, line: str) -> None:
        self.console.print(line, markup=False, highlight=False)

    def _draw_in_turn(self) -> None:
        if time.monotonic() - self._drawn > 1 / REFRESH_A_SECOND:
            self._draw()

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        tally = self.tally
        lines = [tally.accuracy() or "starting", tally.speed(), tally.trouble()]
        text = "\n".join(filter(None, lines))
        self._progress.update(self._task, completed=tally.stored + tally.ended, figures=text)
        self._progress.refresh()
