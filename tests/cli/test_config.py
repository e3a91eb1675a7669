"""Check that options are read from a TOML file and written to one."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.support.command import Command
from tests.support.command import folder as folder  # a fixture
from tests.support.command import gradeschool as gradeschool  # a fixture

CHAT, COT = "recorded/sample#handwritten/chat", "recorded/sample#handwritten/cot"
SAMPLE = ("-d", "sample", "--quiet")


def test_a_saved_configuration_repeats_the_run(gradeschool: Command) -> None:
    words = ("-m", CHAT, "-m", COT, *SAMPLE, "-n", 20, "--temperature", 0, "--json")
    first = gradeschool("eval", *words, "--save-config", "run.toml")
    assert tomllib.loads(Path("run.toml").read_text()) == {
        "model": [CHAT, COT],
        "dataset": "sample",
        "limit": 20,
        "temperature": 0.0,
    }
    assert gradeschool("eval", "--config", "run.toml", "--quiet", "--json") == first
    fewer = gradeschool("eval", "--config", "run.toml", "-n", 5, "--dry-run", "--json").json()
    assert [run["samples"] for run in fewer["runs"]] == [5, 5]


def test_a_configuration_may_name_an_option_by_any_of_its_names(
    gradeschool: Command, folder: Path
) -> None:
    for name in ("connections", "max-connections", "max_connections"):
        (folder / "run.toml").write_text(f'model = "{CHAT}"\ndataset = "sample"\n{name} = 4\n')
        assert gradeschool("eval", "--config", "run.toml", "--dry-run").status == 0


WRONG_CONFIGURATIONS = {
    'model = "tiny"\nmax-token = 3': "no option in 'run.toml' is called 'max-token'; did you mean",
    'model = "tiny"\nlimit = "many"': "'many' is not a valid integer",
    'model = "tiny"\nlimit = 0': "0 is not in the range",
    'model = "tiny"\nlimit = true': "limit in 'run.toml' is True; give a text or a number",
    'model = "tiny"\nbatch = "yes"': "batch in 'run.toml' is 'yes'; give true or false",
    'model = "tiny"\ndataset = ["a", "b"]': "dataset in 'run.toml' is ['a', 'b']",
    "model = ": "'run.toml' is not a TOML file",
    "": "--model",
}


@pytest.mark.parametrize("text", WRONG_CONFIGURATIONS)
def test_a_configuration_is_checked_like_options(
    gradeschool: Command, folder: Path, text: str
) -> None:
    Path("run.toml").write_text(text)
    result = gradeschool("eval", "--config", "run.toml")
    assert (result.status, result.out) == (2, "")
    assert WRONG_CONFIGURATIONS[text] in " ".join(result.err.split())
    assert [path.name for path in folder.iterdir()] == ["run.toml"]


def test_a_configuration_replaces_nothing(gradeschool: Command) -> None:
    Path("run.toml").write_text("mine")
    result = gradeschool("eval", "-m", CHAT, *SAMPLE, "--save-config", "run.toml")
    assert result.status == 2
    assert Path("run.toml").read_text() == "mine"
    assert not Path("runs").exists()
    assert "cannot read 'absent.toml'" in gradeschool("eval", "--config", "absent.toml").err


def test_a_configuration_keeps_every_character(gradeschool: Command) -> None:
    name = 'a "b" \\ \t\x7f é.jsonl'
    Path(name).write_text(json.dumps({"question": "1 + 1?", "answer": "2"}) + "\n")
    gradeschool("eval", "-m", CHAT, "-d", name, "--dry-run", "--save-config", "run.toml")
    assert tomllib.loads(Path("run.toml").read_text())["dataset"] == name
