"""Check `gradeschool verifier bench` on critics and the built-in verifier."""

import json
from pathlib import Path
from typing import Any

import pytest

from gradeschool.completion import Completion, Finish
from gradeschool.errors import InputError
from gradeschool.formats.own_run import to_line
from gradeschool.verifier.step_bench import critic_predictions, load_solutions
from tests.support.command import Command
from tests.support.fixtures import skip_without
from tests.support.gguf_verifier import NEEDS
from tests.support.processbench_rows import own_rows as own_rows  # a fixture


def test_critics_are_measured_and_refused_in_words(
    own_rows: list[dict[str, Any]], tmp_path: Path, gradeschool: Command
) -> None:
    run, out = tmp_path / "critic", tmp_path / "out.jsonl"
    run.mkdir()
    (run / "run.json").write_text(json.dumps({"schema": 1, "dataset": {"name": "processbench"}}))
    bench = ["verifier", "bench", "processbench"]
    with pytest.raises(InputError, match="contains no critique"):
        critic_predictions(run, load_solutions("processbench", None))
    with pytest.raises(InputError, match="not a run on the dataset 'processbench'"):
        critic_predictions(tmp_path, load_solutions("processbench", None))
    stored = [Completion(f"k{fields['id']}", fields["id"], 0, f"\\boxed{{{fields['label']}}}",
                         Finish.STOP) for fields in own_rows]  # fmt: skip
    (run / "completions.jsonl").write_bytes(b"".join(to_line(each, "?") for each in stored))
    ended = gradeschool.done(*bench, "--critic", run, "-o", out, "--json")
    result = ended.json()
    assert (result["solutions"], result["problems"]) == (12, 12)
    assert result["scorers"][0]["f1"] == 1.0
    assert len(out.read_text().splitlines()) == 12
    for more, message in (
        (("--critic", run, "-o", out), "exists"),
        ((), "no scorer is given"),
        (("--critic", run, "--threshold", 1), "which critics do not give"),
    ):
        assert message in gradeschool.refused(*bench, *more)
    assert "100.00 %" in gradeschool(*bench, "--critic", run).out


@pytest.mark.slow
def test_the_built_in_verifier_is_measured(
    own_rows: list[dict[str, Any]], gradeschool: Command
) -> None:
    skip_without(NEEDS, "the built-in verifier")
    arguments = ["bench", "processbench", "--verifier", "tiny", "--json"]
    [verifier] = gradeschool("verifier", *arguments).json()["scorers"]
    assert verifier["name"].startswith("tiny-verifier@")
    assert len(verifier["thresholds"]) == 2 and 0 <= verifier["auc"] <= 1
    assert len(own_rows) == 12
