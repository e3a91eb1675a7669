"""Check the tables and the JSON of a ranking."""

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from gradeschool.formats.own_run import ScoreRow, append_scores
from gradeschool.formats.values import ReadOptions
from gradeschool.reports.verifiers import print_ranking
from gradeschool.verifier.rank import Option, RankedProblem, rank
from tests.support.command import Command

PROBLEMS = 12


def ranking() -> dict[str, Any]:
    """Of four completions the last is right; the verifier knows it in half of the problems."""
    cases = []
    for number in range(PROBLEMS):
        is_known = number % 2 == 0
        options = [
            Option(str(index if index == 3 else 0), index == 3, (index == 3) == is_known, -index)
            for index in range(4)
        ]
        cases.append(RankedProblem(str(number), options, 4))
    return rank(cases, has_logprob=True, voters=3)


def row_of(text: str, name: str) -> list[str]:
    """The cells of the first row with this name."""
    line = next(line for line in text.splitlines() if line.strip().startswith(name))
    return line.replace(" %", "").split()


def test_a_ranking_is_shown_by_strategy_and_completions() -> None:
    console = Console(width=240, record=True)
    print_ranking(ranking(), {"greedy\x07": {"0": (1, 4), "1": (1, 4)}}, console)
    text = console.export_text()
    assert text.startswith("AUC within problems 0.50; to equal the majority vote")
    assert f"{PROBLEMS} problems, {4 * PROBLEMS} completions (up to 4 a problem)" in text
    assert "\x1b" not in text and "\x07" not in text
    assert row_of(text, "baseline greedy\\x07")[2] == "25.00"
    best = row_of(text, "N ")[2:].index("best")
    assert row_of(text, "4 ")[2:][best] == "50.0"


# Published solutions


@pytest.mark.official
def test_rank_reads_published_solutions(data: Path, gradeschool: Command, tmp_path: Path) -> None:
    """6B verification has 515 of 1,319 right, 6B fine-tuning 286 (shared specification)."""
    from gradeschool.scoring.candidates import read_candidates

    source = data / "completions" / "openai_example.jsonl"
    by_run = {
        candidate.run: candidate
        for candidate in read_candidates(str(source), ReadOptions(), lambda _: None)
    }
    picks, baseline = by_run["6b_verification"], by_run["6b_finetuning"]
    scores = tmp_path / "scores.jsonl"
    append_scores(
        scores,
        [
            ScoreRow(candidate.key, "published", 0.5)
            for problem in picks.answered
            for candidate in problem.candidates
        ],
    )
    ended = gradeschool.done("verifier", "rank", f"{source}#6b_verification", "--verifier", scores,
                        "--baseline", f"{source}#6b_finetuning", "--json")  # fmt: skip
    report = ended.json()
    right = sum(candidate.right for problem in picks.answered for candidate in problem.candidates)
    before = sum(
        candidate.right for problem in baseline.answered for candidate in problem.candidates
    )
    assert (right, before) == (515, 286)
    assert report["strategies"]["best"]["accuracy"] == pytest.approx(515 / 1319)
    over = report["strategies"]["best"]["over"]["6b_finetuning"]
    assert over["difference"] == pytest.approx((515 - 286) / 1319)
    assert over["ci95"][0] > 0.14
