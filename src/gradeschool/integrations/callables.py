"""`gradeschool.evaluate`: evaluate any Python function under a named protocol."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from gradeschool.completion import Prompt
from gradeschool.datasets.load import load_dataset
from gradeschool.errors import InputError, TransientError
from gradeschool.integrations.scores import Scores, scores_of
from gradeschool.models.base import Reply, Request
from gradeschool.protocols.registry import get_protocol
from gradeschool.runs.evaluate import RequestOptions
from gradeschool.runs.evaluate import evaluate as run_evaluation
from gradeschool.runs.plan import make_plan
from gradeschool.runs.progress import RunProgress
from gradeschool.scorer import clip
from gradeschool.scoring.sources import load_runs

FunctionInput = str | list[dict[str, str]]
PROTOCOL = "zero-shot/chat"
CONNECTIONS = 16


class CallableModel:
    """A function as a model: it takes a text or chat messages and returns the completion's text.

    It is called in threads. OSError (such as time-outs and broken connections) is retried; any
    other exception ends the run, which can be resumed.
    """

    def __init__(self, function: Callable[[Any], str], name: str) -> None:
        self.function = function
        self.name = name
        self.identity = f"callable/{name}"

    async def __aenter__(self) -> CallableModel:
        """Nothing to open."""
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Nothing to close."""

    async def answer(self, request: Request) -> Reply:
        """Call the function. Raises TransientError, and InputError where it returns no text."""
        try:
            text = await asyncio.to_thread(self.function, function_input(request.prompt))
        except OSError as error:
            raise TransientError("connection", f"{type(error).__name__}: {error}") from error
        if not isinstance(text, str):
            raise InputError(
                f"the model returned a {type(text).__name__}: {clip(repr(text))}; return a str"
            )
        return Reply(text, model=self.name)


def evaluate(
    model: Callable[[Any], str],
    protocol: str = PROTOCOL,
    dataset: str = "gsm8k",
    *,
    limit: int | None = None,
    name: str = "",
    output: str | Path | None = None,
    connections: int = CONNECTIONS,
) -> Scores:
    """Evaluate a function under a protocol, and return the scores by the protocol's scorers.

    model: takes a chat protocol's messages ({"role", "content"}; a last one of the assistant is to
    be continued), another protocol's text. dataset: a name or file, as `-d` takes it. name: what
    the model is called; with the prompt it identifies what is stored. output: a run folder that is
    kept, and goes on where it stopped. Raises InputError and DataError; what the function raises.
    """
    chosen, problems = get_protocol(protocol), load_dataset(dataset)
    called = name or getattr(model, "__name__", type(model).__name__)
    plan = make_plan(chosen, problems, chosen.decoding, limit, 1)
    with tempfile.TemporaryDirectory(prefix="gradeschool-") as scratch:
        folder = Path(output) if output is not None else Path(scratch) / "run"
        options = RequestOptions(connections=connections)
        _finish(
            run_evaluation(
                plan,
                CallableModel(model, called),
                folder,
                options=options,
                progress=RunProgress(),
                version=_version(),
            )
        )
        (run,) = load_runs(folder, dataset, lambda _: None)
    # Answers are stored as they come; problems are shown in their order.
    order = {problem.id: index for index, problem in enumerate(problems.problems)}
    samples = sorted(
        run.samples, key=lambda sample: order[sample.problem.id] if sample.problem else len(order)
    )
    return scores_of(replace(run, name=called, samples=samples), chosen.scorers)


def function_input(prompt: Prompt) -> FunctionInput:
    """Return the input of a function: the text, or the messages with the prefix as the last."""
    if prompt.text is not None:
        return prompt.text
    messages = [message._asdict() for message in prompt.messages]
    if prompt.prefix is not None:
        messages.append({"role": "assistant", "content": prompt.prefix})
    return messages


def _finish(work: Coroutine[Any, Any, object]) -> None:
    """Run to the end, in a thread of its own where a loop is running already, as in notebooks."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()


def _version() -> str:
    from gradeschool import __version__

    return __version__
