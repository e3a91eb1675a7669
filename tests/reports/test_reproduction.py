"""Check what the report of a reproduction says of its claims and figures."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gradeschool.reports.reproduction import write_report
from gradeschool.verifier.reproduce.findings import CONTROL_LOGPROB, SELECTION, Seed, findings
from gradeschool.verifier.reproduce.presets import LAPTOP
from gradeschool.verifier.reproduce.stages import StageResult
from gradeschool.verifier.selection import Option, RankedProblem, pick
from tests.support.recipe_seeds import PROBLEMS, seed


@pytest.mark.parametrize(
    ("good", "words"),
    [
        (True, "beat both the fully fine-tuned baseline"),
        (False, "No way to use the verifier beats"),
    ],
)
def test_the_report_says_whether_the_claim_holds(good: bool, words: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    preset = replace(LAPTOP, seeds=(0,))
    by_split = {"test": findings([seed(good, 15)])}
    path = write_report(tmp_path, preset, by_split, {"a": StageResult("", 1.0, 12.0)})
    text = path.read_text()
    assert words in text
    assert "The fair control" in text
    assert "| the baseline: the fully fine-tuned generator, greedy | 25.0 % |" in text
    assert (tmp_path / "figures" / "6a-test.svg").stat().st_size > 1000


def test_the_claim_holds_by_the_score_with_the_answers_share_alone(tmp_path: Path) -> None:
    """In 15 of 100 problems every other use of the verifier is wrong, as is the baseline."""
    pytest.importorskip("matplotlib")
    right = [Option("r", True, 0.9)] * 8
    shared = [*[Option("w", False, 0.05)] * 4, Option("x", False, 0.9), Option("r", True, 0.86),
              *[Option("r", True, 0.01)] * 2]  # fmt: skip
    cases = [
        RankedProblem(f"{number:02}", "all", shared if number < 15 else right, 8)
        for number in range(100)
    ]
    greedy = {name: {case.problem: (int(case.options == right), 1) for case in cases}
              for name in ("generator", "control")}  # fmt: skip
    picked = [pick(case, False, SELECTION, (1, 2, 4, 8)) for case in cases]
    results = findings([Seed(picked, greedy, False)])
    path = write_report(tmp_path, replace(LAPTOP, seeds=(0,)), {"test": results}, {})
    words = "**score + 0.2 x answer's share beat both the fully fine-tuned baseline"
    assert words in path.read_text()


def test_the_report_tells_what_the_figures_say_that_were_made(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    preset = replace(LAPTOP, seeds=(0,))
    by_split = {"test": findings([seed(True, 15)])}
    (tmp_path / "figures").mkdir()
    verdict = {
        "words": "one against two",
        "difference": 0.1,
        "ci95": [0.02, 0.18],
        "outcome": "holds",
    }
    figure = tmp_path / "figures/5a.json"
    figure.write_text(json.dumps({"verdicts": [verdict, {**verdict, "ci95": None}]}))
    (tmp_path / "figures/compute.json").write_text(json.dumps({"verdicts": []}))
    lines = write_report(tmp_path, preset, by_split, {}).read_text().splitlines()
    line = next(line for line in lines if line.startswith("| 5a |"))
    words = "one against two: +10.0 (+2.0 to +18.0), holds; one against two: +10.0, holds"
    assert line.endswith(f"| {words} (one training seed) |")
    assert "![Figure 5a](figures/5a.svg)" in lines
    bare = next(line for line in lines if line.startswith("| compute |"))
    words = "measured, with no finding to decide: see the figure below"
    assert bare.endswith(f"| {words} (one training seed) |")
    assert "![Figure compute](figures/compute.svg)" in lines
    other = next(line for line in lines if line.startswith("| 5b |"))
    assert "--figure 5b" in other


def test_the_report_compares_the_verifier_with_log_probability_under_the_control(
    tmp_path: Path,
) -> None:
    pytest.importorskip("matplotlib")
    measured = seed(True, 15)
    greedy = {
        **measured.greedy,
        CONTROL_LOGPROB: {str(number): (int(number < 45), 1) for number in range(PROBLEMS)},
    }
    results = findings([measured._replace(greedy=greedy)])
    best = next(strategy for strategy in results.strategies if strategy.name == "best")
    assert best.over[CONTROL_LOGPROB].difference == pytest.approx(1 - 45 / PROBLEMS)
    preset = replace(LAPTOP, seeds=(0,))
    path = write_report(tmp_path, preset, {"test": results}, {"a": StageResult("", 1.0, 12.0)})
    text = path.read_text()
    assert "needs no verifier and reaches 75.0 %" in text
    assert "best by mean logprob under the control, without a verifier | 75.0 %" in text
    assert "does not measure it" not in text
