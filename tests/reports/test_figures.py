"""Figures for papers: what they show, that they come out the same, and what is refused."""

import importlib
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gradeschool.reports.figures import (
    Dot,
    Panel,
    draw_accuracies,
    draw_curves,
    tick_label,
)
from gradeschool.scoring.score import ScorerResult
from gradeschool.scoring.statistics import Interval, wilson
from tests.support.command import Command
from tests.support.files import jsonl

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def dots(*shares: float) -> list[Dot]:
    return [Dot(2**step, share, wilson(1319 * share, 1319)) for step, share in enumerate(shares)]


def texts_of(draw: Callable[[Any], object]) -> list[str]:
    """Every text that a figure would show."""
    canvas = importlib.import_module("matplotlib.figure").Figure(layout="constrained")
    draw(canvas)
    canvas.draw_without_rendering()
    text = importlib.import_module("matplotlib.text").Text
    return [item.get_text() for item in canvas.findobj(text) if item.get_text()]


@pytest.mark.parametrize(
    "ending", [".svg", *(pytest.param(name, marks=pytest.mark.slow) for name in (".pdf", ".png"))]
)
def test_the_same_records_give_the_same_bytes(tmp_path: Path, ending: str) -> None:
    panel = Panel({"best of k": dots(0.2, 0.3, 0.35, 0.33)}, "completions")
    bodies = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}{ending}"
        assert draw_curves([panel], path) == path.stat().st_size > 2000
        bodies.append(path.read_bytes())
    assert bodies[0] == bodies[1]
    assert not re.search(rb"CreationDate|dc:date|20[2-9]\d-\d\d-\d\d|/Type3|<text", bodies[0])


def test_figures_of_a_run_show_their_numbers() -> None:
    results = [ScorerResult("s", n, 100 - n, 0, 0, n / 100, wilson(n, 100)) for n in (93, 88)]
    accuracies = [("a (+2)", results[0], True), ("b$x$", results[1], False)]
    texts = texts_of(lambda canvas: draw_accuracies(accuracies, canvas))
    assert {"93.0", "88.0", "a (+2)", r"b\$x\$"} <= set(texts)
    failing = [("c", replace(results[0], accuracy_bounds=Interval(0.25, 0.75)), False)]
    assert "25.0–75.0" in texts_of(lambda canvas: draw_accuracies(failing, canvas))


@pytest.mark.parametrize(
    ("x", "label"), [(0.25, "0.25"), (1000, "1,000"), (7473, "7,473"), (24000, "24k"), (3e6, "3M")]
)
def test_ticks_are_plain_numbers(x: float, label: str) -> None:
    assert tick_label(x) == label


@pytest.mark.slow
def test_figures_of_runs_are_written(gradeschool: Command, tmp_path: Path) -> None:
    problems = jsonl(tmp_path / "p.jsonl", [{
        "question": f"{'word ' * (25 + index % 50)}{index}?",
        "answer": str(index)}
        for index in range(60)])  # fmt: skip
    samples = jsonl(tmp_path / "s.jsonl", [{
        "index": index, "sample": k, "run": "a $b$ \x1b[31m/../c",
        "completion": f"{'#### ' if k else ''}{index + (k + index) % 3}{'' if k else ' of 9'}"}
        for index in range(60) for k in range(4)])  # fmt: skip
    two: list[dict[str, object]] = [
        {"index": 0, "run": "x/../y", "completion": "#### 0"},
        *({"index": index, "run": "failed", "error": "boom"} for index in range(5)),
    ]
    for file, names in (
        (samples, {"curves", "scorers"}),
        (jsonl(tmp_path / "two.jsonl", two), {"1-x_.._y-scorers", "runs"}),
    ):
        folder = tmp_path / file.stem
        gradeschool.done("report", file, "-d", problems, "--figures", folder)
        assert {path.name for path in folder.iterdir()} == {
            f"{name}.{form}" for name in names for form in ("svg", "pdf", "png")
        }
