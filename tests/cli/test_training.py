"""Check the options that every training has, and which of them change the trained model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from gradeschool.cli.training import MOST_SEED, RunSettings, training_options

DEFAULTS = {"epochs": "7", "optimizer": "muon", "lr": "3e-4", "warmup": "11", "batch": "13"}


def command_into(given: dict[str, Any]) -> click.Command:
    """A command with the options of a training, which stores their values."""

    @click.command()
    @training_options(DEFAULTS, batch="Apples")
    def command(**options: Any) -> None:
        given.update(options)

    return command


def test_the_defaults_of_a_verb_are_shown_and_left_to_it() -> None:
    given: dict[str, Any] = {}
    shown = CliRunner().invoke(command_into(given), ["--help"], terminal_width=200).stdout
    assert all(f"[default: ({default})" in shown for default in DEFAULTS.values())
    assert "Apples in an update." in shown
    assert CliRunner().invoke(command_into(given), ["-o", "out"]).exit_code == 0
    assert {given[name] for name in DEFAULTS} == {None}
    assert (given["seed"], given["save_every"], given["dropout"]) == (0, 200, 0.0)


def test_settings_of_a_run_are_taken_out_of_those_of_a_training() -> None:
    given: dict[str, Any] = {}
    words = ["-o", "out", "--epochs", "0.5", "--save-every", "3", "--dry-run", "--log", "wandb"]
    assert CliRunner().invoke(command_into(given), words).exit_code == 0
    before = set(given)
    settings = RunSettings.pop_from(given)
    assert (settings.output, settings.save_every, settings.dry_run) == (Path("out"), 3, True)
    assert (settings.loggers, settings.quiet, settings.as_json) == (("wandb",), False, False)
    assert before - set(given) == set(RunSettings._fields)
    assert given["epochs"] == 0.5


@pytest.mark.parametrize(
    "words",
    [
        ("--lr", "0"),
        ("--lr", "nan"),
        ("--epochs", "inf"),
        ("--dropout", "1"),
        ("--weight-decay", "-1"),
        ("--batch", "0"),
        ("--lora", "0"),
        ("--seed", str(MOST_SEED + 1)),
    ],
)
def test_a_value_that_no_training_can_use_is_refused(words: tuple[str, ...]) -> None:
    given: dict[str, Any] = {}
    ended = CliRunner().invoke(command_into(given), ["-o", "out", *words])
    assert ended.exit_code == 2
    assert f"Invalid value for '{words[0]}'" in ended.output
    assert not given
