"""`gradeschool reproduce`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING

import click

from gradeschool.cli.options import Verb, json_option, print_json, warn
from gradeschool.errors import InputError, require_packages
from gradeschool.machine import cores
from gradeschool.reports.printable import say

if TYPE_CHECKING:
    from gradeschool.verifier.reproduce.presets import Preset
    from gradeschool.verifier.reproduce.stages import StageResult


@click.command(cls=Verb)
@click.option("--preset", type=click.Choice(["laptop", "gpu", "tiny", "pretrained"]),
              default="laptop", show_default=True,
              help="laptop: about an hour of CPU. gpu: extrapolated, never run. tiny: train the "
                   "models that the package ships. pretrained: train --model by LoRA.")  # fmt: skip
@click.option("--model", metavar="FOLDER|FILE.gguf",
              help="Pretrained model for --preset pretrained.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False),
              help="Output folder; by default reproduce-PRESET.")  # fmt: skip
@click.option("--figure", "figures", multiple=True,
              type=click.Choice(["2", "3", "5", "5a", "5b", "5c", "6a", "6b", "7", "calculator",
                                 "n", "k", "compute", "grid"]),
              help="Make only this figure of the paper; or accuracy over up to 1,024 samples (n), "
                   "over samples of a labelled problem (k), over FLOPs (compute); or compare all "
                   "scores, before and after self-training (grid); may be repeated.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1),
              help="Stages to run at a time; by default one for each core.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Print the commands without running them.")
@json_option
def command(
    preset: str,
    model: str | None,
    output: Path | None,
    figures: tuple[str, ...],
    jobs: int | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Reproduce "Training Verifiers to Solve Math Word Problems" from scratch.

    Generates problems, trains generators, a baseline and verifiers on them, samples, ranks, and
    writes report.md with the paper's claims beside the results. Each stage is a gradeschool
    command; finished stages are skipped and interrupted ones resume. --figure makes one figure
    instead, for the first training seed (6a and 6b: for all), as figures/NAME.svg and .json.

    Example: gradeschool reproduce --preset laptop -o reproduction
    """
    from gradeschool.verifier.reproduce.ablations import merged, plan
    from gradeschool.verifier.reproduce.presets import PRESETS, stages_of

    chosen = _with_model(PRESETS[preset], model)
    if chosen.model and figures:
        raise InputError("--figure trains models from scratch; leave out --preset pretrained")
    plans = {name: plan(name, chosen) for name in figures}
    stages = merged(plans.values()) if plans else stages_of(chosen)
    if dry_run:
        lines = [join(["gradeschool", *stage.command])
                 + (f" > {stage.stdout}" if stage.stdout else "") for stage in stages]  # fmt: skip
        if as_json:
            print_json({"commands": lines})
        else:
            say("\n".join(lines))
        return
    from gradeschool.reports.progress import StagesDisplay
    from gradeschool.reports.reproduction import write_figure
    from gradeschool.verifier.reproduce.stages import run

    _require(chosen)
    root = output or Path(f"reproduce-{preset}")
    with StagesDisplay() as progress:
        ended = run(stages, root, jobs or cores(), progress)
    written = ["\n".join(write_figure(root, chosen, *figure)) for figure in plans.items()]
    report = None if plans else _report(root, chosen, ended)
    if as_json:
        seconds = sum(result.cpu_seconds for result in ended.values())
        print_json({"folder": str(root), "figures": list(plans),
                    "report": report and str(report), "cpu_seconds": seconds})  # fmt: skip
        return
    if written:
        say("\n\n".join(written))
    if report:
        say(report.read_text(encoding="utf-8"), end="")


def _with_model(preset: Preset, model: str | None) -> Preset:
    """Return the preset with its base model; raises InputError if the model is missing."""
    from gradeschool.verifier.base_model import identity_of

    if model is None:
        if preset.second:
            raise InputError(
                f"--preset {preset.name} needs --model: give a Hugging Face folder or a FILE.gguf"
            )
        return preset
    if not preset.second:
        raise InputError(
            f"--preset {preset.name} takes no --model; leave it out, or give --preset pretrained"
        )
    identity_of(model)
    return replace(preset, model=str(Path(model).resolve()))


def _require(preset: Preset) -> None:
    """Raise MissingExtraError for the packages of the last stages before the first one runs."""
    from gradeschool.verifier.base_model import needs_training_packages

    needs_training_packages()
    require_packages("drawing figures", "report", "matplotlib")
    if preset.gguf:
        require_packages("writing GGUF", "llama-cpp", "gguf")


def _report(root: Path, preset: Preset, ended: Mapping[str, StageResult]) -> Path:
    """Write the report and return its path."""
    from gradeschool.reports.reproduction import write_report
    from gradeschool.verifier.reproduce.findings import findings, read_seed

    results = {
        split: findings([read_seed(root, seed, split) for seed in preset.seeds])
        for split in preset.splits
    }
    path = write_report(root, preset, results, ended)
    warn(f"the report: {path}")
    return path
