"""`--config`: options from a TOML file."""

from pathlib import Path

import pytest

from tests.support.command import Command
from tests.support.command import folder as folder  # a fixture

CHAT, COT = "recorded/sample#handwritten/chat", "recorded/sample#handwritten/cot"


def test_a_configuration_gives_options_by_name(gradeschool: Command) -> None:
    Path("run.toml").write_text(
        f'model = ["{CHAT}", "{COT}"]\ndataset = "sample"\nlimit = 20\nmax_tokens = 9\n'
    )
    for words, numbers in (((), [20, 20]), (("-n", 5), [5, 5])):
        read = gradeschool("eval", "--config", "run.toml", *words, "--dry-run", "--json").json()
        assert [run["samples"] for run in read["runs"]] == numbers
        assert {run["most_completion_tokens"] for run in read["runs"]} == {9 * numbers[0]}
    assert "cannot read 'absent.toml'" in gradeschool("eval", "--config", "absent.toml").err


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
