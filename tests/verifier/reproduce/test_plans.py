"""Tests the stages that a figure adds for its models, runs and verifiers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gradeschool.verifier.reproduce.plans import OTHER_SIZE, TEST, StageBuilder, parameters
from gradeschool.verifier.reproduce.presets import LAPTOP, PRESETS, stages_of
from gradeschool.verifier.reproduce.stages import Stage, digests

MICRO = replace(LAPTOP, name="micro", problems=40, labelled=60, tested=(24, 24), n=4)


@pytest.fixture
def builder() -> StageBuilder:
    return StageBuilder(MICRO, 3, {stage.name: stage for stage in stages_of(replace(
        MICRO, seeds=(3,)
    ))})  # fmt: skip


def option(stage: Stage, name: str) -> str:
    """The value of an option."""
    return stage.command[stage.command.index(name) + 1]


def test_a_model_as_in_the_recipe_is_the_recipes_own(builder: StageBuilder) -> None:
    before = dict(builder.stages)
    assert builder.generator() == "generator"
    assert builder.generator(MICRO.size, MICRO.problems) == "generator"
    assert builder.control(MICRO.labelled) == "control"
    assert builder.stages == before


def test_a_model_with_other_settings_has_a_name_of_its_own(builder: StageBuilder) -> None:
    name = builder.generator("0.05M", 10, dropout=0.2)
    stage = builder.stages[f"{name}-3"]
    assert name == "generator-0.05M-of-10-dropout"
    assert option(stage, "-m") == "new:0.05M"
    assert (option(stage, "-n"), option(stage, "--dropout")) == ("10", "0.2")
    assert (option(stage, "-o"), option(stage, "--seed")) == (f"seed-3/{name}", "3")


def test_only_what_is_wanted_is_needed_with_all_before_it(builder: StageBuilder) -> None:
    builder.generator("0.05M")
    run = builder.greedy(builder.generator(problems=10), calculator=False)
    assert run == "seed-3/test-generator-of-10-alone"
    needed = builder.needed()
    assert {stage.name for stage in needed} == {
        "problems-train", "problems-test", "generator-of-10-3", "test-generator-of-10-alone-3",
    }  # fmt: skip
    assert digests(needed)
    assert "--no-calculator" in needed[-1].command


def test_options_of_a_verifier_replace_those_of_the_preset(builder: StageBuilder) -> None:
    name = builder.verifier("mine", ("--lr", "5e-5", "--epochs", "2"), init="control")
    stage = builder.stages[f"{name}-3"]
    assert stage.command.count("--lr") == 1
    assert (option(stage, "--lr"), option(stage, "--epochs")) == ("5e-5", "2")
    usual = dict(zip(MICRO.verifier[::2], MICRO.verifier[1::2], strict=True))
    assert option(stage, "--level") == usual["--level"]
    assert option(stage, "--init") == "seed-3/control"
    assert stage.needs == ("samples-3", "control-3")


def test_a_head_without_dropout_starts_as_the_generator(builder: StageBuilder) -> None:
    run, path = builder.head("token", 3)
    assert (run, path) == ("seed-3/test", "seed-3/scores-head-token-joint-3.jsonl")
    plain = builder.stages["head-token-joint-3-3"]
    assert "--init" not in plain.command
    assert option(plain, "--language") == "right"
    builder.head("token", 3, "verification", dropout=0.2)
    dropped = builder.stages["head-token-verification-dropout-3-3"]
    assert option(dropped, "--init") == "seed-3/generator-dropout"
    assert "--language" not in dropped.command
    scores = builder.stages["scores-head-token-joint-3-3"]
    assert (option(scores, "-o"), option(scores, "-d")) == (path, TEST)


def test_a_control_of_fewer_labels_learns_from_the_first_of_them(builder: StageBuilder) -> None:
    assert builder.control(20) == "control-20"
    fewer = builder.stages["problems-labelled-20"]
    whole = builder.stages["problems-labelled"]
    assert fewer.command == tuple(
        "20" if before == "-n" else word
        for before, word in zip(("", *whole.command), whole.command, strict=False)
    )
    assert fewer.stdout == "problems/labelled-20.jsonl"
    assert builder.stages["right-20-3"].needs == (
        "samples-3", "problems-labelled-20", "problems-train",
    )  # fmt: skip


def test_the_smaller_size_comes_first(builder: StageBuilder) -> None:
    assert builder.sizes == ("0.05M", "0.2M")
    assert builder.problems() == (10, 20, 40)
    assert parameters("0.05M") == pytest.approx(50_000)
    assert {preset.size for preset in PRESETS.values() if preset.size} <= set(OTHER_SIZE)
