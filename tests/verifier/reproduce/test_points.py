"""Tests how the points of a figure are measured, drawn and judged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from gradeschool.errors import DataError
from gradeschool.formats.samples import ReadOptions
from gradeschool.reports.reproduction import write_figure
from gradeschool.scoring.statistics import Interval, wilson
from gradeschool.verifier.candidates import candidates_of
from gradeschool.verifier.reproduce.plans import AblationPlan, Contrast, MeasuredPoint, PlannedPoint
from gradeschool.verifier.reproduce.points import measure, training_curves, verdicts
from gradeschool.verifier.reproduce.presets import LAPTOP
from gradeschool.verifier.scores import ScoreRow, append_scores

MICRO = replace(LAPTOP, name="micro", problems=40, labelled=60, tested=(24, 24), n=4)


def test_points_are_read_drawn_and_told(tmp_path: Path) -> None:
    """Ten problems: the greedy run has 3 right; of two completions the verifier picks 9."""
    _problems(tmp_path, 10)
    _answers(tmp_path / "greedy.jsonl", [(index, 0, index < 3) for index in range(10)])
    drawn = [(index, sample, sample == 1) for index in range(10) for sample in range(2)]
    _answers(tmp_path / "test.jsonl", drawn)
    sampled = candidates_of(
        str(tmp_path / "test.jsonl"),
        ReadOptions(dataset=str(tmp_path / "problems/test.jsonl")),
        lambda _: None,
    )[0]
    rows = [
        ScoreRow(candidate.key, "mine", float(candidate.right) if number else 0.0, 5)
        for number, ablation in enumerate(sampled.answered)
        for candidate in ablation.candidates
    ]
    append_scores(tmp_path / "scores.jsonl", rows)
    points = (
        PlannedPoint(0, "joint", 1, "test.jsonl", "scores.jsonl"),
        PlannedPoint(0, "verification only", 1, "greedy.jsonl"),
    )
    contrast = Contrast("one against the other", (0, "joint", 1), (0, "verification only", 1))
    ablation = AblationPlan([], points, (contrast,))
    best, greedy = measure(tmp_path, ablation)
    assert best.share == pytest.approx(0.9)  # equal scores: the first, which is wrong
    assert greedy.share == pytest.approx(0.3)
    assert greedy.ci95 == pytest.approx(wilson(3, 10))
    report = "\n".join(write_figure(tmp_path, MICRO, "5b", ablation))
    assert "| joint | 1 | 90.0 |" in report
    assert "- one against the other: +60.0 (" in report
    fields = json.loads((tmp_path / "figures/5b.json").read_text())
    assert [point["share"] for point in fields["points"]] == pytest.approx([0.9, 0.3])
    assert fields["verdicts"][0]["outcome"] == "holds"
    assert "<svg" in (tmp_path / "figures/5b.svg").read_text()


def test_the_curves_of_a_training_are_figure_3(tmp_path: Path) -> None:
    path = tmp_path / "curves.jsonl"
    shares = [(0.1, 0.5), (0.4, 0.9), (0.8, 0.3)]
    rows = [
        {"epoch": epoch, "problems": 100, "test@1": single, "test@k": many, "k": 4}
        for epoch, (single, many) in enumerate(shares, 1)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    read = partial(training_curves, "curves.jsonl")
    ablation = AblationPlan([], read=read, titles=("test@1", "test@4"))
    report = "\n".join(write_figure(tmp_path, MICRO, "3", ablation))
    assert "test@1: rises from 1 to 3: +70.0, holds" in report
    assert "test@4: falls from 2 to 3: +60.0, holds" in report
    path.write_text(json.dumps({"epoch": 1, "problems": 9, "test@1": 0.1}) + "\n")
    with pytest.raises(DataError, match="without 'test@k'"):
        measure(tmp_path, ablation)


@pytest.mark.parametrize(
    ("shares", "rise", "fall"),
    [
        ((0.2, 0.8, 0.4), "holds", "holds"),
        ((0.2, 0.8, 0.79), "holds", "not decided"),
        ((0.8, 0.5, 0.2), "does not hold", "holds"),
        ((0.2, 0.5, 0.8), "holds", "does not hold"),
    ],
)
def test_a_curve_rises_and_falls_where_its_intervals_lie_apart(
    shares: tuple[float, ...], rise: str, fall: str
) -> None:
    points = [
        MeasuredPoint(0, "best by verifier", n, share, Interval(share - 0.05, share + 0.05))
        for n, share in zip((1, 8, 32), shares, strict=True)
    ]
    results = verdicts("6a", AblationPlan([], titles=("test",)), points)
    assert [result.outcome for result in results] == [rise, fall]


def _problems(root: Path, count: int) -> None:
    (root / "problems").mkdir()
    rows = (
        {"question": f"What is {index} + 1?", "answer": f"#### {index + 1}"}
        for index in range(count)
    )
    _write(root / "problems/test.jsonl", rows)


def _answers(path: Path, rows: Iterable[tuple[int, int, bool]]) -> None:
    rows_written = (
        {
            "index": index,
            "sample": sample,
            "completion": f"It is\n#### {index + 1 if right else 99}",
        }
        for index, sample, right in rows
    )
    _write(path, rows_written)


def _write(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
