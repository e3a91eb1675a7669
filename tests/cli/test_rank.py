"""Check what `gradeschool rank` reports of published solutions, and what it refuses."""

from pathlib import Path

import pytest

from gradeschool.formats.samples import ReadOptions
from gradeschool.formats.verifier_scores import ScoreRow, append_scores
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture


@pytest.mark.official
def test_rank_reads_the_published_solutions(
    data: Path, gradeschool: Command, tmp_path: Path
) -> None:
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
    ended = gradeschool("verifier", "rank", f"{source}#6b_verification", "--verifier", scores,
                        "--baseline", f"{source}#6b_finetuning", "--json")  # fmt: skip
    assert ended.status == 0, ended.err
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
