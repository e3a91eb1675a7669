"""`--log`: a run in Weights & Biases or MLflow.

A logger gets the parameters of a run once, counts by number of samples during the run, and the
scores at the end. Secrets are masked before a logger gets anything. Loggers work in their own
thread, so a slow one does not delay requests; a failing one is reported once and left out, and the
run continues.
"""

from __future__ import annotations

import hashlib
import os
import queue
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from gradeschool.answers.regions import is_truncated
from gradeschool.errors import InputError, require_packages
from gradeschool.formats.own_run import manifest_of, results_of
from gradeschool.masking import masked, masked_values, register_secret, shown_address
from gradeschool.reports.measured import changed_settings
from gradeschool.runs.evaluate import EndedSample, RunProgress
from gradeschool.scoring.statistics import wilson

PROJECT = "gradeschool"  # unless the library's own variable names another
CLOSE_SECONDS, STOP_SECONDS = 60.0, 5.0  # to wait for the loggers: normally, after an error
SECRETS = ("WANDB_API_KEY", "MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN")
MOST_STEPS = 200  # maximum number of steps of an evaluation
UNLOGGED = ("schema", "created", "updated", "command", "status", "processes")
NO_METRIC_NAME = re.compile(r"[^\w. /:-]")  # characters that MLflow does not allow in names

Scalar = str | int | float | bool
Show = Callable[[str], None]


class LoggedRun(NamedTuple):
    """The facts about a run that a logger gets; the id is the same when the run is resumed."""

    name: str
    id: str
    parameters: Mapping[str, Scalar]


class Logger(NamedTuple):
    """One logging library, open for one run.

    place: the address or folder where the run can be viewed. log: logs values at a number of
    samples; its last argument is True for the results. close: ends the session; its argument is
    False for an interrupted or failed one.
    """

    place: str
    log: Callable[[int, Mapping[str, float], bool], None]
    close: Callable[[bool], None]


def open_wandb(run: LoggedRun) -> Logger:
    """Log to Weights & Biases; WANDB_PROJECT, WANDB_MODE, WANDB_DIR and others apply.

    Console, command line, machine and code are not recorded: they may contain secrets.
    """
    import wandb

    settings = wandb.Settings(
        silent=True, console="off", save_code=False, disable_git=True, x_disable_meta=True,
        x_disable_stats=True, disable_job_creation=True,
    )  # fmt: skip
    session = wandb.init(
        project=os.environ.get("WANDB_PROJECT") or PROJECT,
        id=run.id, name=run.name, resume="allow", settings=settings,
    )  # fmt: skip
    session.config.update(dict(run.parameters), allow_val_change=True)
    # wandb's own steps must increase, but a resumed run may repeat a count.
    session.define_metric("*", step_metric="samples")

    def log(step: int, values: Mapping[str, float], last: bool) -> None:
        if last:
            session.summary.update(dict(values))
        else:
            session.log({"samples": step, **values})

    offline = session.settings.mode == "offline"
    place = session.settings.sync_dir if offline else str(session.url)
    return Logger(place, log, lambda finished: session.finish(exit_code=0 if finished else 1))


def open_mlflow(run: LoggedRun) -> Logger:
    """Log to MLflow; MLFLOW_TRACKING_URI and MLFLOW_EXPERIMENT_NAME apply."""
    from mlflow import MlflowClient
    from mlflow.entities import Metric

    client = MlflowClient()
    name = os.environ.get("MLFLOW_EXPERIMENT_NAME") or PROJECT
    experiment = client.get_experiment_by_name(name)
    number = experiment.experiment_id if experiment else client.create_experiment(name)
    earlier = client.search_runs([number], f"tags.`gradeschool.id` = '{run.id}'", max_results=1)
    entry = earlier[0] if earlier else client.create_run(
        number, run_name=run.name, tags={"gradeschool.id": run.id}
    )  # fmt: skip
    id = entry.info.run_id
    client.update_run(id, status="RUNNING")
    for key, value in run.parameters.items():
        if key not in entry.data.params:  # MLflow's parameters cannot be changed
            client.log_param(id, NO_METRIC_NAME.sub("_", key), value)

    def log(step: int, values: Mapping[str, float], last: bool) -> None:
        now = time.time_ns() // 1_000_000
        named = ((NO_METRIC_NAME.sub("_", name), value) for name, value in values.items())
        client.log_batch(id, metrics=[Metric(name, value, now, step) for name, value in named])

    return Logger(
        f"{shown_address(client.tracking_uri)}, experiment {name}, run {id}",
        log,
        lambda finished: client.set_terminated(id, "FINISHED" if finished else "KILLED"),
    )


# By the name of the package, which is that of the extra too.
LOGGERS: Mapping[str, Callable[[LoggedRun], Logger]] = {"wandb": open_wandb, "mlflow": open_mlflow}


def check_loggers(names: Sequence[str]) -> None:
    """Raise MissingExtraError for a logger without its package, InputError for a missing key.

    The loggers' secrets are masked from then on.
    """
    for name in SECRETS if names else ():
        register_secret(os.environ.get(name, ""))
    shown_address(os.environ.get("MLFLOW_TRACKING_URI", ""))  # registers its password
    for name in names:
        require_packages(f"--log {name}", name, name)
    if "wandb" in names:
        import wandb

        try:
            settings = wandb.setup().settings
            ready = settings.mode not in ("online", "shared") or wandb.login(prompt=False)
        except (ValueError, wandb.errors.Error) as error:
            raise InputError(f"--log wandb cannot begin: {_words(error)}; correct it") from error
        if not ready:
            raise InputError(
                "--log wandb has no API key; run `wandb login`, or set WANDB_MODE=offline"
            )


def _words(error: BaseException) -> str:
    return " ".join(masked(str(error)).split())[:200] or type(error).__name__


class EvaluationLog(RunProgress):
    """The log of an evaluation: its settings, the counts during the run, the score.

    A context manager; the loggers work in a thread of their own, and are opened by the first
    sample, when run.json is written. names: keys of `LOGGERS`. folder: the run folder. show: called
    with where each run can be viewed. warn: called with each logger failure.
    """

    def __init__(self, names: Sequence[str], folder: Path, show: Show, warn: Show) -> None:
        super().__init__()
        self._names, self._folder = tuple(dict.fromkeys(names)), folder
        self._show, self._warn = show, warn
        self._loggers: dict[str, Logger] = {}
        self._calls: queue.SimpleQueue[Callable[[Logger], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._whole = False
        self._truncated = 0
        self._errors: Counter[str] = Counter()

    def count(self, sample: EndedSample) -> None:
        """Count a sample; log the counts of this session at most MOST_STEPS times."""
        super().count(sample)
        completion, step = sample.completion, self.stored + self.ended
        if completion.error:
            self._errors[completion.cause] += 1
        else:
            self._truncated += is_truncated(completion.text, completion.finish)
        if step % -(-self.total // MOST_STEPS) and step != self.total:
            return
        values: dict[str, float] = {
            "answered": self.ended - self.failed,
            "correct": self.correct,
            "failed": self.failed,
            "truncated": self._truncated,
            "retries": self.in_flight.retries,
            "completion_tokens": self.tokens,
            **{f"errors/{cause}": count for cause, count in self._errors.items()},
        }
        if self.judged:
            low, high = wilson(self.correct, self.judged)
            share = self.correct / self.judged
            values |= {"accuracy": share, "accuracy_low": low, "accuracy_high": high}
        self._log(values, last=False)

    def finish(self, whole: bool) -> None:
        """Log the numbers of results.json; whole: every sample is answered."""
        fields, scores = results_of(self._folder), {}
        for name, score in fields["scorers"].items():
            low, high = score["ci95"] or (None, None)
            scores[name] = {**score, "low": low, "high": high}
        self._whole = whole
        figures = flat({**fields, "scorers": None, **scores}, "/")
        self._log({f"final/{name}": value for name, value in figures.items()
                   if isinstance(value, int | float)}, last=True)  # fmt: skip

    def _log(self, values: Mapping[str, float], last: bool) -> None:
        step, shown = self.stored + self.ended, masked_values(values)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="loggers", daemon=True)
            self._thread.start()
        self._calls.put(lambda logger: logger.log(step, shown, last))

    def _work(self) -> None:
        """Open the loggers, then call each for everything in the queue; leave out what fails."""
        fields, place = manifest_of(self._folder), self._folder.resolve()
        # The same for a resumed run.
        id = hashlib.sha256(f"{fields.get('created')} {place}".encode()).hexdigest()[:16]
        described = {key: value for key, value in fields.items() if key not in UNLOGGED}
        parameters = masked_values(flat({**described, "changed": changed_settings(fields)}))
        run = LoggedRun(masked(place.name), id, parameters)
        for name in self._names:
            with self._leaving_out(name):
                self._loggers[name] = logger = LOGGERS[name](run)
                self._show(f"{name} log: {masked(logger.place)}")
        while (call := self._calls.get()) is not None:
            for name, logger in list(self._loggers.items()):
                with self._leaving_out(name):
                    call(logger)

    @contextmanager
    def _leaving_out(self, name: str) -> Iterator[None]:
        """Report a failure of a logger, which never ends a run, and leave the logger out."""
        try:
            yield
        except (Exception, SystemExit) as error:  # noqa: BLE001
            self._warn(f"--log {name} failed and is left out: {_words(error)}")
            if name in self._loggers:
                with suppress(Exception):
                    self._loggers.pop(name).close(False)

    def __enter__(self) -> Self:
        """Return the log."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *exc: object) -> None:
        """Close the loggers, waiting CLOSE_SECONDS at most, or STOP_SECONDS after an error."""
        if self._thread is None:
            return
        whole, stdout = self._whole, sys.stdout
        seconds = CLOSE_SECONDS if kind is None else STOP_SECONDS
        self._calls.put(lambda logger: logger.close(whole))
        self._calls.put(None)
        self._thread.join(seconds)
        if self._thread.is_alive():
            sys.stdout = stdout
            names = ", ".join(self._loggers)
            self._warn(f"--log {names} did not finish within {seconds:g} s; the run is whole")


def flat(fields: Mapping[str, Any], joint: str = ".") -> dict[str, Scalar]:
    """Return nested fields as "name.inner", lists as text; None and empty values are left out."""
    values: dict[str, Scalar] = {}
    for name, value in fields.items():
        if isinstance(value, Mapping):
            values |= {f"{name}{joint}{key}": inner for key, inner in flat(value, joint).items()}
        elif isinstance(value, list | tuple):
            values |= {name: ", ".join(map(str, value))} if value else {}
        elif value is not None:
            values[name] = value if isinstance(value, bool | int | float) else str(value)
    return values
