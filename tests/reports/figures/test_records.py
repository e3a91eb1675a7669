"""Check how often two scorers of a run agree."""

from __future__ import annotations

from pathlib import Path

from gradeschool import get_scorer
from gradeschool.formats.samples import ReadOptions
from gradeschool.reports.figures.records import agreement
from gradeschool.reports.page.gather import gather
from gradeschool.reports.page.verdicts import judge_run
from gradeschool.scoring.table import ScorerSet
from tests.support.report_page import rows


def test_agreement_is_the_share_of_completions_with_the_same_outcome(tmp_path: Path) -> None:
    """Of three right answers, two are marked by "####", which one of the scorers needs."""
    problems = rows(tmp_path / "p.jsonl", [
        {"question": f"{index}?", "answer": f"#### {index}"} for index in range(4)])  # fmt: skip
    texts = ["#### 0", "#### 1", "It is 2", "#### 9"]
    samples = rows(tmp_path / "s.jsonl", [
        {"index": index, "completion": text} for index, text in enumerate(texts)])  # fmt: skip
    [run] = gather([str(samples)], ReadOptions(dataset=str(problems)), lambda message: None)
    names = ("openai/2021", "lm-eval/gsm8k/flexible-extract")
    result = agreement(judge_run(run, ScorerSet([get_scorer(name) for name in names])))
    assert dict(zip(result.names, result.shares, strict=True)) == {
        names[1]: (1.0, 0.75), names[0]: (0.75, 1.0),
    }  # fmt: skip


def test_failed_samples_are_no_agreement(tmp_path: Path) -> None:
    """Two texts of which one is read alike, and eight errors: the scorers agree on one half."""
    problems = rows(tmp_path / "p.jsonl", [
        {"question": f"{index}?", "answer": f"#### {index}"} for index in range(10)])  # fmt: skip
    failed: list[dict[str, object]] = [
        {"index": index, "completion": None, "error": "boom"} for index in range(2, 10)
    ]
    texts: list[dict[str, object]] = [
        {"index": 0, "completion": "#### 0"}, {"index": 1, "completion": "It is 1"},
    ]  # fmt: skip
    samples = rows(tmp_path / "s.jsonl", [*texts, *failed])
    [run] = gather([str(samples)], ReadOptions(dataset=str(problems)), lambda message: None)
    names = ("openai/2021", "lm-eval/gsm8k/flexible-extract")
    result = agreement(judge_run(run, ScorerSet([get_scorer(name) for name in names])))
    assert result.shares == ((1.0, 0.5), (0.5, 1.0))
