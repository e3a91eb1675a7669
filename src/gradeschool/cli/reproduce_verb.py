"""`gradeschool reproduce`."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import join

import click

from gradeschool.cli.options import warn


@click.command()
@click.option("--preset", type=click.Choice(["laptop", "gpu"]), default="laptop", show_default=True,
              help="laptop: about 50 minutes of CPU. gpu: extrapolated, never run.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False),
              help="Folder of all that is made. By default reproduce-PRESET.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1),
              help="Stages at a time. By default as many as cores.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Print the commands and run nothing.")
def command(preset: str, output: Path | None, jobs: int | None, dry_run: bool) -> None:
    """Reproduce "Training Verifiers to Solve Math Word Problems" from nothing.

    Makes problems, trains generators, a baseline and verifiers on them, samples, ranks, and writes
    report.md with the paper's claims beside what was found. Each stage is a gradeschool command;
    one that is done is not done again, a killed one goes on.

    Example: gradeschool reproduce --preset laptop -o reproduction
    """
    from gradeschool.verifier.reproduce.presets import PRESETS, SPLITS, stages_of

    chosen = PRESETS[preset]
    stages = stages_of(chosen)
    if dry_run:
        for stage in stages:
            target = f" > {stage.stdout}" if stage.stdout else ""
            click.echo(f"{join(['gradeschool', *stage.command])}{target}")
        return
    from gradeschool.reports.reproduction import write_report
    from gradeschool.reports.stages_progress import stages_progress
    from gradeschool.verifier.base_model import needs_training_packages
    from gradeschool.verifier.reproduce.findings import findings, read_seed
    from gradeschool.verifier.reproduce.runner import run

    needs_training_packages()
    root = output or Path(f"reproduce-{preset}")
    with stages_progress() as progress:
        done = run(stages, root, jobs or os.cpu_count() or 1, progress)
    found = {
        split: findings([read_seed(root, chosen, seed, split) for seed in chosen.seeds])
        for split in SPLITS
    }
    path = write_report(root, chosen, found, done)
    warn(f"the report: {path}")
    click.echo(path.read_text(encoding="utf-8"), nl=False)
