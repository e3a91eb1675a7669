"""`gradeschool audit`: what it prints, and how it ends."""

import json
import re
from pathlib import Path

import pytest

from tests.support.command import Command, run_script
from tests.support.command import gradeschool as gradeschool  # a fixture

SHORT = ("--longest", "200")
ENDS_WITH = "tests.support.scorers:ends_with"


@pytest.mark.slow
def test_a_scorer_with_faults_ends_with_1_and_shows_the_smallest_example(
    gradeschool: Command,
) -> None:
    ended = gradeschool("audit", ENDS_WITH, *SHORT, columns=100)
    assert ended.status == 1
    assert ended.out.startswith(f"{ENDS_WITH}  f(completion, gold), the gold as text\n")
    assert "reads 15 of 15 formats" in ended.out
    assert re.search(r"\n suffix +([\d,]+) of \1 +'11' +1 ", ended.out)
    assert "false accept  wrong answers that pass" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 100
    assert ended.err == ""


@pytest.mark.slow
def test_a_scorer_as_json(gradeschool: Command) -> None:
    ended = gradeschool("audit", "--scorer", "openai/2021", *SHORT, "--json", "--seed", 5)
    assert ended.status == 1
    report = ended.json()
    assert report["scorer"] == "openai/2021"
    assert report["reads"] == ["#### N"]
    assert len(report["reads"]) + len(report["does_not_read"]) == 15
    assert report["seed"] == 5
    assert {finding["name"] for finding in report["findings"]} == set(report["counting"])
    period = next(
        finding for finding in report["findings"] if finding["name"] == "false-reject/period"
    )
    assert (period["completion"], period["gold"]) == ("#### 1.", "1")
    assert period["recipe"] == "'#### 1.'"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "neither a function nor a scorer is given; give MODULE:FUNCTION or --scorer NAME"),
        ((ENDS_WITH, "--scorer", "openai/2021"), "both a function and a scorer are given"),
        (("--scorer", "openai/2022"), "no scorer is called 'openai/2022'; did you mean"),
        ((ENDS_WITH, "--allow", "slwo"), "no class or kind of finding is called 'slwo'"),
        (("scorers",), "'scorers' does not name a function"),
    ],
)
def test_bad_input_is_a_message_and_status_2(
    gradeschool: Command, arguments: tuple[str, ...], message: str
) -> None:
    ended = gradeschool("audit", *arguments)
    assert ended.status == 2
    assert message in ended.err
    assert "Traceback" not in ended.err
    assert ended.out == ""


@pytest.mark.slow
def test_a_function_is_imported_from_the_working_folder_and_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_helpers.py").write_text("def ends(text, tail): return text.endswith(tail)\n")
    (tmp_path / "my_rewards.py").write_text(
        "from my_helpers import ends\ndef score(completion, gold): return ends(completion, gold)\n"
    )
    monkeypatch.chdir(tmp_path)
    for function in ("my_rewards:score", "my_rewards.py:score"):
        ended = run_script("audit", function, *SHORT, "--json")
        assert ended.status == 1, ended.err
        names = {finding["name"] for finding in json.loads(ended.out)["findings"]}
        assert "false-accept/suffix" in names
