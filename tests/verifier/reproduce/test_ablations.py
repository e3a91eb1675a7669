"""The figures of the paper: their stages go together, and are commands that parse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click
import pytest

from gradeschool.cli import command as gradeschool_command
from gradeschool.reports.paper_figures import FIGURES
from gradeschool.verifier.reproduce.ablations import PLANS, merged, plan
from gradeschool.verifier.reproduce.presets import GPU, LAPTOP, Preset, stages_of
from gradeschool.verifier.reproduce.stages import Stage, digests
from tests.support.command import gradeschool as gradeschool  # a fixture

MICRO = replace(LAPTOP, name="micro", problems=40, labelled=60, tested=(24, 24), n=4)


@pytest.mark.parametrize("preset", [LAPTOP, GPU, MICRO], ids=lambda ablation: ablation.name)
def test_the_stages_of_all_figures_go_together_with_the_recipe(preset: Preset) -> None:
    plans = {name: plan(name, preset) for name in FIGURES}
    assert plans.keys() == PLANS.keys()
    by_name = {ablation.name: ablation for ablation in stages_of(preset)}
    for ablation in plans.values():
        assert digests(ablation.stages)
        for stage in ablation.stages:
            assert by_name.setdefault(stage.name, stage) == stage
    targets = [
        _target(ablation)
        for ablation in merged(plans.values())
        if ablation.stdout or "-o" in ablation.command
    ]
    assert len(set(targets)) == len(targets)


@pytest.mark.parametrize("name", FIGURES)
def test_the_stages_of_a_figure_are_commands_that_parse(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ablation = plan(name, MICRO)
    for stage in ablation.stages:
        _parse(gradeschool_command, list(stage.command))
        if target := _target(stage):  # later stages may ask that it exists
            Path(target).mkdir(parents=True)
    targets = {_target(stage) for stage in ablation.stages}
    for point in ablation.points:
        assert point.run in targets
        assert not point.scores or point.scores in targets
    if name == "3":
        assert "seed-0/generator-curves" in targets


def _target(stage: Stage) -> str:
    """Return what a stage makes."""
    if stage.stdout:
        return stage.stdout
    return stage.command[stage.command.index("-o") + 1] if "-o" in stage.command else ""


def _parse(command: click.Command, words: list[str]) -> None:
    """Parse a command line down to its last verb, without running it."""
    context = command.make_context("gradeschool", words)
    while isinstance(command, click.Group):
        facts = vars(context)  # click 8.1 has no underscore before the name
        first = facts["_protected_args" if "_protected_args" in facts else "protected_args"]
        name, resolved, rest = command.resolve_command(context, [*first, *context.args])
        assert resolved is not None, words
        command = resolved
        context = command.make_context(name, rest, parent=context)
