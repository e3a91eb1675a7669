"""`gradeschool eval`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gradeschool.cli.options import (
    FiniteRange,
    Verb,
    dataset_option,
    json_option,
    print_json,
    stdout_console,
    warn,
)

if TYPE_CHECKING:
    from gradeschool.completion import Decoding
    from gradeschool.models.base import Model
    from gradeschool.models.transformers_model import Workers
    from gradeschool.protocol import Protocol
    from gradeschool.runs.cost import Estimate, Price
    from gradeschool.runs.evaluate import Evaluation, RequestOptions
    from gradeschool.runs.plan import RunPlan

Decorated = TypeVar("Decorated", bound=Callable[..., None])

PROTOCOL = "zero-shot/chat"
# The model of the package was trained only on questions and annotated solutions.
BUILT_IN, BUILT_IN_PROTOCOL = "tiny", "openai/2021"


def worker_options(command: Decorated) -> Decorated:
    """Add the options for the processes that run a local model."""
    command = click.option(
        "--processes", type=click.IntRange(min=1),
        help="Processes that run a transformers/ model; by default one, on Ray one for each GPU, "
             "or for each CPU without a GPU.",
    )(command)  # fmt: skip
    return click.option(
        "--engine", type=click.Choice(["local", "ray"]), default="local", show_default=True,
        help="Run a transformers/ model on this machine, or on a Ray cluster.",
    )(command)  # fmt: skip


def workers_of(engine: str, processes: int | None) -> Workers | None:
    """Return the processes that run a model, or None for this process."""
    from functools import partial

    if engine == "ray":
        from gradeschool.models.workers import on_ray

        return partial(on_ray, actors=processes)
    if processes is None or processes == 1:
        return None
    from gradeschool.models.workers import in_processes

    return partial(in_processes, processes=processes)


@click.command(cls=Verb)
@click.option("-m", "--model", required=True, metavar="PROVIDER/NAME",
              help="openai/NAME, http://HOST:PORT/v1[/NAME], transformers/FOLDER, vllm/FOLDER, "
                   "llama.cpp/FILE.gguf, recorded/FILE; or tiny, which comes with the "
                   "package.")  # fmt: skip
@click.option("-p", "--protocol",
              help="A name from `gradeschool protocols list`; by default zero-shot/chat, for tiny "
                   "openai/2021.")  # fmt: skip
@dataset_option
@click.option("-n", "--limit", type=click.IntRange(min=1), help="Use only the first N problems.")
@click.option("-k", "--samples", type=click.IntRange(min=1), default=1, show_default=True,
              help="Completions for each problem; several are voted on.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False),
              help="Run folder; by default runs/MODEL-PROTOCOL-DATASET.")  # fmt: skip
@click.option(
    "--temperature", type=FiniteRange(0, 2), help="Temperature; by default that of the protocol."
)
@click.option("--max-tokens", type=click.IntRange(min=1),
              help="Length limit; by default that of the protocol.")  # fmt: skip
@click.option("--seed", type=int, help="Seed of the first sample; sample i has seed + i.")
@click.option("--calculator/--no-calculator", default=None,
              help="Insert the results of annotations (<<48/2=24>>) while the model writes; "
                   "on by default for tiny.")  # fmt: skip
@click.option(
    "--connections",
    "--max-connections",
    type=click.IntRange(1, 4096),
    help="Requests in flight; by default 16, raised to up to 256 if that is faster.",
)
@click.option("--choices", type=click.IntRange(1, 128), default=1, show_default=True,
              help="Samples in one request, which pays for the prompt once.")  # fmt: skip
@click.option("--batch", is_flag=True, help="Use the Batch API: half the price, within a day.")
@click.option("--timeout", type=FiniteRange(min=0.1), default=600.0, show_default=True,
              help="Seconds to wait for one request.")  # fmt: skip
@click.option("--price", metavar="IN/OUT",
              help="Dollars per million tokens: 2.50/10, or a .json file of models.")  # fmt: skip
@click.option("--max-cost", type=FiniteRange(min=0), metavar="DOLLARS",
              help="Stop before the run costs more; it can be resumed. Needs --price.")  # fmt: skip
@click.option(
    "--dry-run", is_flag=True, help="Print the number of requests and the cost, and ask nothing."
)
@worker_options
@click.option("--quiet", is_flag=True, help="Show no progress.")
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

    Stores completions as they arrive. Running the same command again requests only what is missing,
    and with a larger -k or -n only what is new. Exit status 3: some samples failed, or --max-cost
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
        _print_estimate(plan, answering, folder, options, as_json)
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
    """Return the protocol's decoding with the settings of the command line.

    Raises InputError for several samples at temperature 0.
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
    """Raise InputError if options contradict each other."""
    from gradeschool.errors import InputError

    if max_cost is not None and price is None:
        raise InputError(f"--max-cost {max_cost} needs the price of tokens; give --price")
    if batch and (choices > 1 or max_cost is not None):
        raise InputError("--batch excludes --choices and --max-cost; leave one of them out")
    if calculator and (batch or choices > 1 or protocol.is_chat):
        cause = "--batch" if batch else "--choices" if choices > 1 else f"the chat {protocol.name}"
        raise InputError(
            f"the calculator cannot be used with {cause}; give --no-calculator, or a completion "
            "protocol"
        )


def run_plan(
    plan: RunPlan, model: Model, folder: Path, options: RequestOptions, quiet: bool
) -> Evaluation:
    """Run a plan with a progress display; exits with 130 at a second Ctrl-C."""
    import asyncio

    from gradeschool import __version__
    from gradeschool.reports.progress import EvaluationDisplay
    from gradeschool.runs.evaluate import evaluate

    if getattr(model, "shows_its_key", False):
        warn(f"the API key goes to {model.identity} unencrypted; use https:// for another machine")
    with EvaluationDisplay(quiet) as progress:
        work = evaluate(
            plan, model, folder, options=options, progress=progress, version=__version__
        )
        try:
            return asyncio.run(work)
        except (KeyboardInterrupt, asyncio.CancelledError):
            warn(f"stopped at once; completions stay in {folder}")
            sys.exit(130)


def exit_as_ended(evaluation: Evaluation) -> None:
    """Warn and exit with 2, 130 or 3 if the run is not complete."""
    if evaluation.fatal is not None:
        warn(f"the run stopped: {evaluation.fatal}; the same command resumes it")
        sys.exit(2)
    if evaluation.interrupted:
        missing = evaluation.requested - evaluation.answered
        warn(f"interrupted with {missing} samples left; the same command requests them")
        sys.exit(130)
    if evaluation.over_budget:
        missing = evaluation.requested - evaluation.answered - evaluation.failed
        warn(f"{missing} samples were not requested, because of --max-cost; "
             "the same command with a larger one resumes the run")  # fmt: skip
        sys.exit(3)
    if evaluation.failed:
        warn(
            f"{evaluation.failed} samples failed (results.json counts the causes); "
            "the same command requests them again"
        )
        sys.exit(3)


def _print(evaluation: Evaluation, protocol: Protocol, as_json: bool) -> None:
    """Print the score and the run folder."""
    if as_json:
        curve = [point.as_json() for point in evaluation.curve]
        fields = {"folder": str(evaluation.folder), "runs": [evaluation.score.as_json()]}
        print_json({**fields, "at_k": curve, "cost": evaluation.cost})
        return
    from gradeschool.reports.terminal import curve_table, quoted, score_table

    console = stdout_console()
    score_table([evaluation.score], console)
    if evaluation.curve:
        curve_table(evaluation.curve, f"maj@k and pass@k by {protocol.scorers[0]}", console)
        click.echo()
    cost = "" if evaluation.cost is None else f" (${evaluation.cost:,.4f})"
    click.echo(f"{evaluation.answered} of {evaluation.requested} samples in "
               f"{evaluation.folder}{cost}; to apply every scorer:\n"
               f"  gradeschool score {quoted(str(evaluation.folder))}")  # fmt: skip


def _print_estimate(
    plan: RunPlan, model: Model, folder: Path, options: RequestOptions, as_json: bool
) -> None:
    """Print the requests that are missing and their cost; asks at most for the model's name."""
    import asyncio

    from gradeschool.formats.own_run import COMPLETIONS_FILE, read_completions
    from gradeschool.runs.cost import estimate
    from gradeschool.runs.plan import missing

    rows = read_completions(folder / COMPLETIONS_FILE)
    stored = {row.key: row for _, row in rows if row is not None and not row.error}
    requests = plan.requests(asyncio.run(_identity(model)))
    todo = missing(requests, set(stored))
    pairs = [(request, stored[request.key]) for request in requests if request.key in stored]
    cost = estimate(todo, pairs, options.choices)
    fields = _cost_fields(cost, options)
    if as_json:
        stored_now = len(requests) - len(todo)
        print_json({"model": model.identity, "folder": str(folder), "samples": len(requests),
                    "stored": stored_now, **fields})  # fmt: skip
        return
    click.echo(f"model    {model.identity}\nprotocol {plan.protocol.name}\nfolder   {folder}")
    click.echo(f"samples  {len(requests):,}, {len(requests) - len(todo):,} of them stored")
    click.echo(f"missing  {cost.requests:,} requests for {cost.samples:,} samples")
    source = "from the completions so far" if cost.measured else "estimated from characters"
    click.echo(f"tokens   about {cost.prompt_tokens:,} of prompts and {cost.completion_tokens:,} "
               f"of completions, {source}{_at_most(cost)}")  # fmt: skip
    if options.price is None:
        click.echo("cost     unknown; give --price IN/OUT")
        return
    most = fields["most_cost"]
    at_most = "" if most is None else f", at most ${most:,.2f}"
    click.echo(f"cost     about ${fields['cost']:,.2f}{at_most}")


async def _identity(model: Model) -> str:
    if model.name:
        return model.identity
    async with model:
        return model.identity


def _cost_fields(cost: Estimate, options: RequestOptions) -> dict[str, Any]:
    return {
        "requests": cost.requests,
        "missing": cost.samples,
        "prompt_tokens": cost.prompt_tokens,
        "completion_tokens": cost.completion_tokens,
        "most_completion_tokens": cost.most_completion_tokens,
        "cost": None if options.price is None else cost.cost(options.price),
        "most_cost": None if options.price is None else cost.most_cost(options.price),
    }


def _at_most(cost: Estimate) -> str:
    if cost.most_completion_tokens is None:
        return "; completions have no limit"
    return f"; at most {cost.most_completion_tokens:,} of completions"
