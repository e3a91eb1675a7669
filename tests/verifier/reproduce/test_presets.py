"""Presets of the recipe, and the stages that a figure adds."""

from __future__ import annotations

from gradeschool.verifier.reproduce.ablations import plan
from gradeschool.verifier.reproduce.presets import LAPTOP, PRESETS, control_scores, stages_of


def test_a_figure_needs_no_more_than_what_it_shows() -> None:
    names = [stage.name for stage in plan("2", LAPTOP).stages]
    assert not [name for name in names if "verifier" in name or "samples" in name]
    seeds = {name[-1] for name in (stage.name for stage in plan("6a", LAPTOP).stages)}
    assert {"0", "1", "2"} <= seeds
    assert len(plan("5", LAPTOP).stages) < len(stages_of(LAPTOP))


def test_verifiers_with_the_papers_head_are_compared_like_for_like() -> None:
    for name in ("5a", "5b", "7"):
        commands = {
            stage.name: " ".join(stage.command)
            for stage in plan(name, LAPTOP).stages if stage.name.startswith("head-")
        }  # fmt: skip
        assert len(commands) >= 6
        for head, command in commands.items():
            assert " -n " not in command  # all labels
            assert ("--language right" in command) == ("-joint" in head)  # no gold solution
            start = "--init seed-0/generator-dropout"
            assert (start in command) == ("dropout" in head)
        epochs = max(float(head.split("-")[-2]) for head in commands)
        assert LAPTOP.labelled * LAPTOP.k * epochs / 16 > 5000


def test_every_preset_scores_its_samples_under_the_control() -> None:
    for preset in PRESETS.values():
        first = preset.seeds[0]
        by_name = {stage.name: stage for stage in stages_of(preset)}
        stage = by_name[f"logprob-test-{first}"]
        assert stage.needs == (f"test-{first}", f"control-{first}")
        assert "--verifier" not in stage.command
        assert control_scores("test", first) in stage.command
