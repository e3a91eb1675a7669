"""`gradeschool sample`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradeschool.cli.options import FiniteRange, dataset_option, json_option, print_json, warn
from gradeschool.cli.training import MOST_SEED
from gradeschool.errors import InputError

if TYPE_CHECKING:
    from gradeschool.runs.plan import Plan
    from gradeschool.verifier.sample_work import Write
    from gradeschool.verifier.sampling import Here, Told

HERE = "transformers/"
TEMPERATURE = 0.7  # the paper's


@click.command()
@click.option("-m", "--model", "models", multiple=True, required=True, metavar="PROVIDER/NAME",
              help="transformers/FOLDER, or an endpoint as `gradeschool eval` takes it; several "
                   "endpoints of one model share the work.")  # fmt: skip
@dataset_option
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), required=True,
              metavar="RUN", help="Run folder.")  # fmt: skip
@click.option("-k", "--samples", type=click.IntRange(min=1), default=100, show_default=True,
              help="Completions a problem.")  # fmt: skip
@click.option("-n", "--limit", type=click.IntRange(min=1), help="Only the first N problems.")
@click.option("-p", "--protocol", default="openai/2021", show_default=True,
              help="A name from `gradeschool protocols list`.")  # fmt: skip
@click.option("--temperature", type=FiniteRange(0, 2), default=TEMPERATURE, show_default=True)
@click.option("--max-tokens", type=click.IntRange(min=1), help="By default the protocol's, 400.")
@click.option("--calculator/--no-calculator", default=True, show_default=True,
              help="Write the results of annotations, <<3*4=12>>, for the model.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0, MOST_SEED),
              help="Other samples of the same problems.")  # fmt: skip
@click.option("--engine", type=click.Choice(["local", "ray"]), default="local", show_default=True,
              help="Where a transformers/ model samples: here, or on a Ray cluster.")  # fmt: skip
@click.option("--processes", type=click.IntRange(min=1),
              help="By default one here; on Ray one a GPU, else one a CPU.")  # fmt: skip
@click.option("--connections", type=click.IntRange(1, 4096), help="Requests at a time.")
@click.option("--timeout", type=FiniteRange(min=0.1), default=600.0, show_default=True,
              help="Seconds that one request may take.")  # fmt: skip
@click.option("--quiet", is_flag=True, help="No progress.")
@json_option
def command(
    models: tuple[str, ...],
    dataset: str | None,
    output: Path,
    samples: int,
    limit: int | None,
    protocol: str,
    temperature: float,
    max_tokens: int | None,
    calculator: bool,
    seed: int | None,
    engine: str,
    processes: int | None,
    connections: int | None,
    timeout: float,
    quiet: bool,
    as_json: bool,
) -> None:
    """Sample many completions a problem, and label them by their final answer.

    The completions go into a run folder, which every verb that takes one reads; labels.jsonl beside
    them says which are right. The same command asks for what is missing; a larger -k adds samples.

    Example: gradeschool sample -m transformers/models/generator -d gsm8k:train -k 100 -o
    runs/samples
    """
    from gradeschool.datasets.load import is_here, load_dataset
    from gradeschool.models.choose import choose_model
    from gradeschool.protocols.registry import get_protocol
    from gradeschool.runs.plan import check_samples, make_plan

    chosen = get_protocol(protocol)
    decoding = replace(
        chosen.decoding,
        temperature=temperature,
        max_tokens=max_tokens or chosen.decoding.max_tokens,
        seed=seed,
    )
    check_samples(decoding, samples)
    name = dataset or chosen.dataset
    local = any(spec.startswith(HERE) for spec in models)
    if local:
        write, model = _writer(engine, processes), _local_model(models, calculator)
    elif engine == "ray":
        raise InputError(f"--engine ray runs transformers/FOLDER, not {models[0]!r}")
    elif calculator and chosen.is_chat:
        raise InputError(
            f"the calculator needs a completion that it can go on with, which the chat of "
            f"{chosen.name} is not; give --no-calculator or another protocol"
        )
    elif not is_here(name):  # raises what is wrong with a model before the dataset is fetched
        for spec in models:
            choose_model(spec, (), name, timeout, calculator)
    plan = make_plan(chosen, load_dataset(name), decoding, limit, samples)
    if local:
        status = _here(plan, model, output, write, quiet)
    else:
        status = _asked(plan, models, output, calculator, connections, timeout, quiet)
    _labels(output, as_json)
    sys.exit(status)


def _writer(engine: str, processes: int | None) -> Write:
    from functools import partial

    from gradeschool.verifier.base_model import needs_training_packages

    needs_training_packages()
    if engine == "ray":
        from gradeschool.verifier.sample_cluster import on_ray

        return partial(on_ray, actors=processes)
    from gradeschool.verifier.sample_processes import in_processes

    return partial(in_processes, processes=processes or 1)


def _local_model(models: tuple[str, ...], calculator: bool) -> Here:
    from gradeschool.verifier.sampling import here

    if len(models) > 1:
        raise InputError("one model on this machine at a time; --processes share the work")
    return here(models[0].removeprefix(HERE), calculator)


def _here(plan: Plan, model: Here, output: Path, write: Write, quiet: bool) -> int:
    from gradeschool import __version__
    from gradeschool.verifier.sampling import sample_here

    tell = None if quiet else _progress()
    ended = sample_here(plan, model, output, write=write, version=__version__, tell=tell)
    if ended.stopped:
        warn(f"interrupted at {ended.stored} of {ended.of}; the same command asks for the rest")
        return 130
    if ended.failed:
        warn(f"{ended.failed} samples failed: their prompts do not fit into the model's context")
        return 3
    return 0


def _asked(
    plan: Plan,
    models: tuple[str, ...],
    output: Path,
    calculator: bool,
    connections: int | None,
    timeout: float,
    quiet: bool,
) -> int:
    import asyncio

    from gradeschool import __version__
    from gradeschool.models.choose import choose_model
    from gradeschool.models.spread import SpreadModel
    from gradeschool.reports.progress import PlainProgress
    from gradeschool.runs.evaluate import Asking, evaluate

    asked = [
        choose_model(spec, plan.problems, plan.dataset.name, timeout, calculator)
        for spec in dict.fromkeys(models)
    ]
    model = asked[0] if len(asked) == 1 else SpreadModel(asked, warn)
    asking = Asking(connections)
    observer = PlainProgress(quiet)
    work = evaluate(plan, model, output, asking=asking, observer=observer, version=__version__)
    try:
        ended = asyncio.run(work)
    except (KeyboardInterrupt, asyncio.CancelledError):
        warn(f"stopped at once; what is stored stays in {output}")
        return 130
    if ended.fatal is not None:
        raise ended.fatal
    left = ended.requested - ended.answered
    if ended.interrupted:
        warn(f"interrupted with {left} samples left; the same command asks for them")
        return 130
    if ended.failed:
        warn(f"{ended.failed} samples failed; the same command asks for them again")
        return 3
    return 0


def _progress() -> Callable[[Told], None]:
    """Return who tells on stderr, at most once in two seconds, how far a sampling is."""
    began = last = time.monotonic()

    def tell(told: Told) -> None:
        nonlocal last
        now = time.monotonic()
        if told.done < told.of and now - last < 2:
            return
        last = now
        rate = told.tokens / max(now - began, 1e-9)
        end = "\r" if sys.stderr.isatty() and told.done < told.of else "\n"
        text = f"{told.done:,} of {told.of:,} samples, {rate:,.0f} tokens/s"
        click.echo(f"{text:<60}{end}", err=True, nl=False)

    return tell


def _labels(output: Path, as_json: bool) -> None:
    """Write the labels beside the samples, and say how many are right."""
    from gradeschool.verifier.candidates import candidates_of
    from gradeschool.verifier.labelled import LABELS_FILE, count_labels, in_words, write_labels

    [held] = candidates_of(str(output), None, warn)
    write_labels(held)
    labels = count_labels(held.answered)
    if as_json:
        fields = {"scorer": held.scorer, "failed": held.failed, **labels.as_json()}
        print_json({"folder": str(output), **fields})
        return
    click.echo(f"{in_words(labels)}\nlabelled by {held.scorer} in {output / LABELS_FILE}")
