"""`gradeschool eval`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from gradeschool.cli.options import (
    FiniteRange,
    dataset_option,
    json_option,
    print_json,
    stdout_console,
    warn,
)

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from gradeschool.completion import Decoding
    from gradeschool.models.base import Model
    from gradeschool.models.transformers_model import Workers
    from gradeschool.protocol import Protocol
    from gradeschool.reports.progress import LiveProgress, PlainProgress
    from gradeschool.runs.cost import Price
    from gradeschool.runs.evaluate import Evaluation, RequestOptions
    from gradeschool.runs.plan import RunPlan

Decorated = TypeVar("Decorated", bound=Callable[..., None])

PROTOCOL = "zero-shot/chat"
# The model of the package was trained on questions and annotated solutions alone.
BUILT_IN, BUILT_IN_PROTOCOL = "tiny", "openai/2021"


def worker_options(command: Decorated) -> Decorated:
    """Add the options that say which processes run a model of this machine."""
    command = click.option(
        "--processes", type=click.IntRange(min=1),
        help="Processes that run a transformers/ model: by default one here; on Ray one a GPU, "
             "else one a CPU.",
    )(command)  # fmt: skip
    return click.option(
        "--engine", type=click.Choice(["local", "ray"]), default="local", show_default=True,
        help="Run a transformers/ model here, or on a Ray cluster.",
    )(command)  # fmt: skip


def workers_of(engine: str, processes: int | None) -> Workers | None:
    """Return the processes that run a model; None for this one."""
    from functools import partial

    if engine == "ray":
        from gradeschool.models.workers import on_ray

        return partial(on_ray, actors=processes)
    if processes is None or processes == 1:
        return None
    from gradeschool.models.workers import in_processes

    return partial(in_processes, processes=processes)


@click.command()
@click.option("-m", "--model", required=True, metavar="PROVIDER/NAME",
              help="openai/NAME, http://HOST:PORT/v1[/NAME], transformers/FOLDER, vllm/FOLDER, "
                   "llama.cpp/FILE.gguf, recorded/FILE; or tiny, which comes with the "
                   "package.")  # fmt: skip
@click.option("-p", "--protocol",
              help="A name from `gradeschool protocols list`; by default zero-shot/chat, for tiny "
                   "openai/2021.")  # fmt: skip
@dataset_option
@click.option("-n", "--limit", type=click.IntRange(min=1), help="Only the first N problems.")
@click.option("-k", "--samples", type=click.IntRange(min=1), default=1, show_default=True,
              help="Completions a problem; several are voted on.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False),
              help="Run folder; by default runs/MODEL-PROTOCOL-DATASET.")  # fmt: skip
@click.option("--temperature", type=FiniteRange(0, 2), help="Instead of the protocol's.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="Instead of the protocol's.")
@click.option("--seed", type=int, help="Sample i is asked with seed + i.")
@click.option("--calculator/--no-calculator", default=None,
              help="Compute the results of <<48/2=...>> as they are written; tiny needs "
                   "it.")  # fmt: skip
@click.option("--connections", "--max-connections", type=click.IntRange(1, 4096),
              help="Requests at a time; by default 16, up to 256 where it helps.")  # fmt: skip
@click.option("--choices", type=click.IntRange(1, 128), default=1, show_default=True,
              help="Samples asked for in one request: the prompt is paid once for N.")  # fmt: skip
@click.option("--batch", is_flag=True, help="Use the Batch API: half the price, within a day.")
@click.option("--timeout", type=FiniteRange(min=0.1), default=600.0, show_default=True,
              help="Seconds that one request may take.")  # fmt: skip
@click.option("--price", metavar="IN/OUT",
              help="Dollars a million tokens: 2.50/10, or a .json of models.")  # fmt: skip
@click.option("--max-cost", type=FiniteRange(min=0), metavar="DOLLARS",
              help="Stop, resumable, before the run has cost more. Needs --price.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only say what would be asked, and what it costs.")
@worker_options
@click.option("--quiet", is_flag=True, help="No progress.")
@json_option
def command(
    model: str,
    protocol: str | None,
    dataset: str | None,
    limit: int | None,
    samples: int,
    output: Path | None,
    temperature: float | None,
    max_tokens: int | None,
    seed: int | None,
    calculator: bool | None,
    connections: int | None,
    choices: int,
    batch: bool,
    timeout: float,
    price: str | None,
    max_cost: float | None,
    dry_run: bool,
    engine: str,
    processes: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Ask a model, store its completions, score them.

    Completions are stored as they come; the same command again asks only for what is missing, and
    with a larger -k or -n only for what is new. Exit status 3: some samples failed, or --max-cost
    was reached.
    """
    from gradeschool.datasets.load import is_here, load_dataset
    from gradeschool.models.choose import choose_model
    from gradeschool.protocols.registry import get_protocol
    from gradeschool.runs.evaluate import RequestOptions, default_folder
    from gradeschool.runs.plan import make_plan

    built_in = model == BUILT_IN
    chosen = get_protocol(protocol or (BUILT_IN_PROTOCOL if built_in else PROTOCOL))
    calculating = built_in if calculator is None else calculator
    _check(chosen, calculating, batch, choices, max_cost, price)
    decoding = decoding_of(chosen, samples, temperature, max_tokens, seed)
    workers, name = workers_of(engine, processes), dataset or chosen.dataset
    if not is_here(name):  # raises what is wrong with the model or the price before it is fetched
        answering = choose_model(model, (), name, timeout, calculating, workers)
        _price(price, answering)
    plan = make_plan(chosen, load_dataset(name), decoding, limit, samples)
    answering = choose_model(model, plan.problems, plan.dataset.name, timeout, calculating, workers)
    cost = _price(price, answering)
    options = RequestOptions(connections, choices, batch, cost, max_cost)
    folder = output or default_folder(model, chosen.name, plan.dataset.name)
    if dry_run:
        from gradeschool.cli.dry_run import tell

        tell(plan, answering, folder, options, as_json)
    else:
        evaluation = run_plan(plan, answering, folder, options, quiet)
        _print(evaluation, plan.protocol, as_json)
        exit_as_ended(evaluation)


def decoding_of(
    protocol: Protocol,
    samples: int,
    temperature: float | None,
    max_tokens: int | None,
    seed: int | None,
) -> Decoding:
    """Return the protocol's decoding with what the command line sets instead.

    Raises InputError where it would make several samples all the same.
    """
    from gradeschool.runs.plan import check_samples

    usual = protocol.decoding
    decoding = replace(
        usual,
        temperature=usual.temperature if temperature is None else temperature,
        max_tokens=max_tokens or usual.max_tokens,
        seed=seed,
    )
    check_samples(decoding, samples)
    return decoding


def _price(price: str | None, model: Model) -> Price | None:
    from gradeschool.runs.cost import parse_price

    return parse_price(price, model.name) if price else None


def _check(
    protocol: Protocol,
    calculator: bool,
    batch: bool,
    choices: int,
    max_cost: float | None,
    price: str | None,
) -> None:
    """Raise InputError where options contradict each other."""
    from gradeschool.errors import InputError

    if max_cost is not None and price is None:
        raise InputError(f"--max-cost {max_cost} needs to know what tokens cost; give --price")
    if batch and (choices > 1 or max_cost is not None):
        raise InputError("--batch takes neither --choices nor --max-cost; leave one of them out")
    if calculator and (batch or choices > 1 or protocol.is_chat):
        what = "--batch" if batch else "--choices" if choices > 1 else f"a chat, {protocol.name}"
        raise InputError(
            f"the calculator needs a completion that it can go on with, not {what}; give "
            "--no-calculator, or a completion protocol"
        )


def run_plan(
    plan: RunPlan, model: Model, folder: Path, options: RequestOptions, quiet: bool
) -> Evaluation:
    """Run a plan with a progress display; exits with 130 at a second Ctrl-C."""
    import asyncio

    from gradeschool import __version__
    from gradeschool.runs.evaluate import evaluate

    if getattr(model, "shows_its_key", False):
        warn(f"the API key goes to {model.identity} unencrypted; use https:// if it is not yours")
    with _progress(quiet) as progress:
        work = evaluate(
            plan, model, folder, options=options, progress=progress, version=__version__
        )
        try:
            return asyncio.run(work)
        except (KeyboardInterrupt, asyncio.CancelledError):
            warn(f"stopped at once; what is stored stays in {folder}")
            sys.exit(130)


def _progress(quiet: bool) -> AbstractContextManager[LiveProgress | PlainProgress]:
    from gradeschool.reports.progress import LiveProgress, PlainProgress

    if quiet or not sys.stderr.isatty():
        return PlainProgress(quiet)
    from rich.console import Console

    return LiveProgress(Console(stderr=True))


def exit_as_ended(evaluation: Evaluation) -> None:
    """Exit with 2, 130 or 3, and a warning, where the run is not complete."""
    if evaluation.fatal is not None:
        warn(f"the run stopped: {evaluation.fatal}; the same command goes on from here")
        sys.exit(2)
    if evaluation.interrupted:
        missing = evaluation.requested - evaluation.answered
        warn(f"interrupted with {missing} samples left; the same command asks for what is missing")
        sys.exit(130)
    if evaluation.over_budget:
        left = evaluation.requested - evaluation.answered - evaluation.failed
        warn(f"{left} samples are not asked: more would cost more than --max-cost; "
             "the same command with a larger one goes on from here")  # fmt: skip
        sys.exit(3)
    if evaluation.failed:
        warn(
            f"{evaluation.failed} samples failed (results.json counts the causes); "
            "the same command asks for them again"
        )
        sys.exit(3)


def _print(evaluation: Evaluation, protocol: Protocol, as_json: bool) -> None:
    """Print the score and where it is stored."""
    if as_json:
        curve = [at.as_json() for at in evaluation.curve]
        fields = {"folder": str(evaluation.folder), "runs": [evaluation.score.as_json()]}
        print_json({**fields, "at_k": curve, "cost": evaluation.cost})
        return
    from gradeschool.reports.curves import curve_table
    from gradeschool.reports.terminal import quoted, score_table

    console = stdout_console()
    score_table([evaluation.score], console)
    if evaluation.curve:
        curve_table(evaluation.curve, f"maj@k and pass@k by {protocol.scorers[0]}", console)
        click.echo()
    cost = "" if evaluation.cost is None else f" (${evaluation.cost:,.4f})"
    click.echo(f"{evaluation.answered} of {evaluation.requested} samples in "
               f"{evaluation.folder}{cost}; every other scorer on them:\n"
               f"  gradeschool score {quoted(str(evaluation.folder))}")  # fmt: skip
