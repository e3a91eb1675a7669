"""Show the progress of a command on stderr: a bar with figures in a terminal, lines in a log."""

import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from gradeschool.printable import bounds, count, percent, say
from gradeschool.reports.terminal import TerminalConsole
from gradeschool.runs.evaluate import Session
from gradeschool.scoring.statistics import wilson

LOG_SECONDS, TERMINAL_SECONDS = 10.0, 0.25  # between two updates
BETWEEN = " · "


class ProgressDisplay:
    """Shows the progress of a command: a bar and figures in a terminal, regular lines in a log.

    A context manager. quiet: show nothing. console: a terminal to draw in; None uses stderr if it
    is a terminal.
    """

    def __init__(self, quiet: bool = False, console: Console | None = None) -> None:
        self.quiet = quiet
        self.console = console
        self._begun = self._updated = time.monotonic()
        if console is None and not quiet and sys.stderr.isatty():
            self.console = TerminalConsole(stderr=True)
        if self.console is not None:
            self._bar = Progress(
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("{task.fields[figures]}", markup=False),
                console=self.console,
                auto_refresh=False,
            )
            self._task = self._bar.add_task("", total=None, figures="starting")

    def __enter__(self) -> Self:
        """Start drawing."""
        if self.console is not None:
            self._bar.start()
        return self

    def __exit__(self, *exc: object) -> None:
        """Keep the last state on the screen; remove a bar that never began."""
        if self.console is not None:
            self._bar.update(self._task, visible=self._bar.tasks[0].total is not None)
            self._bar.refresh()
            self._bar.stop()

    def message(self, text: str, always: bool = False) -> None:
        """Show a line of text above the bar, or as a line of the log; `always`: also if quiet."""
        if self.console is not None:
            self.console.print(text)
        elif always or not self.quiet:
            say(text, err=True)

    def update(
        self, completed: int, total: int, figures: Callable[[], Sequence[str]], now: bool = False
    ) -> None:
        """Show `completed` of `total` and lines of figures, if an update is due or `now` is set."""
        seconds = LOG_SECONDS if self.console is None else TERMINAL_SECONDS
        is_due = now or time.monotonic() - self._updated > seconds
        if not is_due or (self.quiet and self.console is None):
            return
        self._updated = time.monotonic()
        lines = [line for line in figures() if line]
        if self.console is None:
            self.message(BETWEEN.join([f"{completed}/{total} done", *lines]))
            return
        self._bar.update(self._task, completed=completed, total=total, figures="\n".join(lines))
        self._bar.refresh()

    def time_left(self, done: int, remaining: int) -> str:
        """Return the time left at the speed so far, "" at the end or before the beginning."""
        if done <= 0 or remaining <= 0:
            return ""
        elapsed = time.monotonic() - self._begun
        return f"{timedelta(seconds=round(remaining * elapsed / done))} left"

    def scored(self, scored: int, total: int) -> None:
        """Show how many of all texts a verifier has scored, in any case at the end."""
        self.update(scored, total, lambda: ["scored"], now=scored == total)


class EvaluationDisplay(ProgressDisplay):
    """The progress of a run; `show` is called at its start, for each message and each sample."""

    session: Session | None = None

    def __exit__(self, *exc: object) -> None:
        """Show the final state, if the run began."""
        if (session := self.session) is not None:
            self.update(session.stored + session.ended, session.total, self.figures, now=True)
        super().__exit__(*exc)

    def show(self, session: Session, note: str) -> None:
        """Show the size of a run that begins, then a message or the counts if they are due."""
        is_first = self.session is None
        if is_first:
            self.session, self._begun = session, time.monotonic()
            if session.store.damaged:
                self.message(session.store.damaged, always=True)
            if self.console is None:
                stored = f", {session.stored} stored already" if session.stored else ""
                self.message(f"{session.total} samples{stored}")
                return
        if note:
            self.message(note)
        else:
            self.update(session.stored + session.ended, session.total, self.figures, now=is_first)

    def figures(self) -> list[str]:
        """Return three lines: trouble; accuracy of new samples; speed, cost and time left."""
        run = self.session
        assert run is not None  # noqa: S101  (for the type checker)
        trouble, sending = [f"{run.failed} failed"], run.dispatcher
        if sending.retries:
            waiting = f" ({sending.waiting} waiting)" if sending.waiting else ""
            trouble.append(f"{count(sending.retries, 'retry', 'retries')}{waiting}")
        if sending.in_flight:
            trouble.append(f"{sending.in_flight} of {sending.limiter.limit} in flight")
        accuracy = ""
        if run.judged:
            interval = bounds(wilson(run.correct, run.judged), 1, ", ")
            subject = "accuracy of new samples" if run.stored else "accuracy"
            accuracy = f"{subject} {percent(run.correct / run.judged, 1)} [{interval}]"
        elapsed, speed = max(time.monotonic() - self._begun, 1e-9), []
        if run.ended:
            speed.append(f"{run.ended / elapsed:.1f}/s")
        if run.tokens:
            speed.append(f"{run.tokens / elapsed:,.0f} tokens/s")
        if run.budget is not None:
            limit = "" if run.budget.limit is None else f" of ${run.budget.limit:,.2f}"
            speed.append(f"${run.budget.cost:,.4f}{limit}")
        if left := self.time_left(run.ended, run.total - run.stored - run.ended):
            speed.append(left)
        return [BETWEEN.join(trouble), accuracy, BETWEEN.join(speed)]
