"""`gradeschool.evaluate`: evaluate a named model or any Python function under a protocol."""

from __future__ import annotations

import asyncio
import inspect
import logging
import shutil
import tempfile
import weakref
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from gradeschool.errors import InputError, TransientError, UnknownNameError
from gradeschool.formats.samples import ReadOptions
from gradeschool.integrations.scores import Scores, score_samples
from gradeschool.models.base import Model, Reply, Request
from gradeschool.protocol import Protocol
from gradeschool.reports.progress import EvaluationDisplay
from gradeschool.runs.evaluate import evaluate as evaluate_job
from gradeschool.runs.job import DEFAULT_PROTOCOL, Job, prepare
from gradeschool.scorer import clip
from gradeschool.scoring.sources import load_runs
from gradeschool.scoring.table import ScorerChoice, scorer_choices

ModelFunction = Callable[[Any], str] | Callable[[Any], Awaitable[str]]


class CallableModel(Model):
    """A function as a model: it takes a text or chat messages and returns the completion's text.

    An async function is awaited; other functions are called in threads. OSError (such as timeouts
    and broken connections) is retried; any other exception ends the run, which can be resumed.
    """

    connections = 16

    def __init__(self, function: ModelFunction, name: str) -> None:
        self.function = function
        self.name = name
        self.identity = f"callable/{name}"

    async def complete(self, request: Request) -> Reply:
        """Call the function. Raises TransientError, and InputError if it returns no text."""
        prompt = request.prompt
        given = prompt.as_messages() if prompt.text is None else prompt.text
        try:
            if inspect.iscoroutinefunction(self.function):
                text = await self.function(given)
            else:  # an object with an async `__call__` returns what is to be awaited
                text = await asyncio.to_thread(self.function, given)
                if inspect.isawaitable(text):
                    text = await text
        except OSError as error:
            raise TransientError("connection lost", f"{type(error).__name__}: {error}") from error
        if not isinstance(text, str):
            raise InputError(
                f"the model returned a {type(text).__name__}: {clip(repr(text))}; return a str"
            )
        return Reply(text, model=self.name)


def evaluate(
    model: str | ModelFunction,
    protocol: str | Protocol = "",
    dataset: str = "",
    *,
    scorers: ScorerChoice | Sequence[ScorerChoice] = (),
    limit: int | None = None,
    samples: int = 1,
    name: str = "",
    output: str | Path | None = None,
    progress: bool = False,
    **options: Any,
) -> Scores:
    """Evaluate a model under a protocol, and return the scores by the protocol's scorers.

    model: a name as for `gradeschool eval -m` ("tiny", "http://localhost:8080/v1"), or a function,
    async or not. A function takes the messages of a chat protocol ({"role", "content"}; a final
    assistant message is to be continued) or the text of another protocol, and returns a text.
    protocol, dataset, limit, samples: as the options of that command; the protocol may be an
    object, such as one of `Protocol.with_changes`. scorers: in place of the protocol's, the
    headline first; names, or functions of your own (`scoring.own_scorer`). name: a function's name;
    together with the prompt it identifies stored completions. output: a run folder to keep, which
    is resumed where it stopped; by default the folder is deleted with the result. progress: show
    progress on stderr. options: the other fields of `runs.job.Job`, such as temperature, stop,
    seed, shots, random, connections. Works inside a running event loop, as in a notebook.

    Raises InputError for unusable arguments, before anything is sent; DataError if the dataset is
    not available; FatalModelError if no request can succeed; and any error of the function.
    """
    known = {field.name for field in fields(Job)} - {"model", "output"}
    for unknown in options.keys() - known:
        raise UnknownNameError("option of evaluate", unknown, known)
    settings: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in options.items()
    }
    job = Job("", protocol, dataset, limit, scorers=tuple(scorer_choices(scorers)),
              samples=samples, **settings)  # fmt: skip
    _check(job)
    function: CallableModel | None = None
    if callable(model):
        name = name or getattr(model, "__name__", type(model).__name__)
        function = CallableModel(model, name)
        # The default protocol, even if the function is called "tiny".
        usual, calculator = protocol or DEFAULT_PROTOCOL, job.calculator or False
        job = replace(job, model=name, protocol=usual, calculator=calculator)
    elif isinstance(model, str):
        job = replace(job, model=model)
    else:
        raise InputError(
            f"the model is a {type(model).__name__}; give its name, such as 'tiny', or a function"
        )

    def work() -> Scores:
        scratch = tempfile.mkdtemp(prefix="gradeschool-") if output is None else ""
        folder = Path(scratch) / "run" if output is None else Path(output)
        try:
            prepared = prepare(replace(job, output=folder), function)
            with EvaluationDisplay(quiet=not progress) as display:
                evaluation = asyncio.run(evaluate_job(prepared, display.show))
            for text in evaluation.cautions:
                logging.getLogger("gradeschool").warning(text)
            if evaluation.fatal is not None:
                raise evaluation.fatal
            if evaluation.interrupted:
                raise KeyboardInterrupt
            reading = ReadOptions(dataset=prepared.plan.dataset.name)
            (run,) = load_runs(folder, reading, lambda _: None)
            named = replace(run, name=name if function else run.name)
            scores = replace(score_samples(named, prepared.plan.scorers), folder=folder)
        except BaseException:
            if scratch:
                shutil.rmtree(scratch, ignore_errors=True)
            raise
        if scratch:
            weakref.finalize(scores, shutil.rmtree, scratch, ignore_errors=True)
        return scores

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result()


async def evaluate_async(
    model: str | ModelFunction, protocol: str | Protocol = "", dataset: str = "", **settings: Any
) -> Scores:
    """Evaluate as `evaluate` does, without blocking the event loop."""
    return await asyncio.to_thread(partial(evaluate, model, protocol, dataset, **settings))


def _check(job: Job) -> None:
    """Raise InputError for a setting whose type the command line would not pass."""
    for field in ("limit", "samples", "max_tokens", "connections"):
        value = getattr(job, field)
        if value is not None and (type(value) is not int or value < 1):
            raise InputError(f"{field} is {value!r}; give a whole number of at least 1")
    for field, kinds in (("protocol", (str, Protocol)), ("dataset", (str,))):
        if not isinstance(value := getattr(job, field), kinds):
            raise InputError(f"{field} is {value!r}; give a name")
