"""Figures for papers: what they show, that they come out the same, and what is refused."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradeschool.errors import InputError, MissingExtraError, UnknownNameError
from gradeschool.reports.figures import curves
from gradeschool.reports.figures.paper import FIGURES, paper_figure
from gradeschool.reports.figures.records import DOUBLING, Figure, Panel, Point, ScorerRow, Series
from gradeschool.reports.figures.run_figures import draw_scorers
from gradeschool.reports.page.verdicts import Share
from gradeschool.scoring.statistics import wilson
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.report_page import rows

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def series(name: str, *shares: float, baseline: bool = False) -> Series:
    points = (
        Point(2**step, share, wilson(1319 * share, 1319)) for step, share in enumerate(shares)
    )
    return Series(name, tuple(points), baseline)


def share(correct: int, n: int = 100) -> Share:
    return Share(correct, n, correct / n, wilson(correct, n), n)


def texts_of(draw: Callable[[Any], None]) -> list[str]:
    """Every text that a figure would show."""
    canvas = importlib.import_module("matplotlib.figure").Figure(layout="constrained")
    draw(canvas)
    canvas.draw_without_rendering()
    text = importlib.import_module("matplotlib.text").Text
    return [item.get_text() for item in canvas.findobj(text) if item.get_text()]


@pytest.mark.parametrize("ending", curves.ENDINGS)
def test_the_same_records_give_the_same_bytes(tmp_path: Path, ending: str) -> None:
    figure = paper_figure("6a", [[series("best of k", 0.2, 0.3, 0.35, 0.33)]])
    bodies = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}{ending}"
        assert curves.draw(figure, path) == path.stat().st_size > 2000
        bodies.append(path.read_bytes())
    assert bodies[0] == bodies[1]
    assert not re.search(rb"CreationDate|dc:date|20[2-9]\d-\d\d-\d\d", bodies[0])


def test_fonts_are_embedded_as_truetype_and_outlines(tmp_path: Path) -> None:
    figure = Figure("x", (Panel((series("a", 0.1, 0.2),), "k", scale=DOUBLING),))
    curves.draw(figure, tmp_path / "x.pdf")
    curves.draw(figure, tmp_path / "x.svg")
    assert b"/Type3" not in (tmp_path / "x.pdf").read_bytes()
    assert b"<text" not in (tmp_path / "x.svg").read_bytes()


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_of_the_paper_is_drawn(tmp_path: Path, name: str) -> None:
    panels = [[series("fine-tuning", 0.1, 0.2, 0.3, baseline=True),
               series("verification", 0.1, 0.25, 0.4)]] * len(FIGURES[name].frames)  # fmt: skip
    figure = paper_figure(name, panels)
    assert figure.name == f"figure-{name}"
    assert curves.draw(figure, tmp_path / "x.svg") > 5000


def test_panels_with_other_series_have_names_of_their_own(tmp_path: Path) -> None:
    panels = [[series("3B", 0.1, 0.2), series("6B", 0.2, 0.3)],
              [series("500", 0.1, 0.2), series("7473", 0.2, 0.3)]]  # fmt: skip
    assert curves.draw(paper_figure("2", panels), tmp_path / "x.png") > 5000


def test_a_figure_with_other_panels_than_the_paper_has(tmp_path: Path) -> None:
    panel = [series("a", 0.1, 0.2)]
    with pytest.raises(InputError, match="has 2 panels, series are given for 1"):
        paper_figure("5", [panel])
    titled = paper_figure("5", [panel], titles=["1M"], x="Problems")
    assert [(panel.title, panel.x) for panel in titled.panels] == [("1M", "Problems")]
    with pytest.raises(UnknownNameError, match="5c"):
        paper_figure("5d", [panel])
    with pytest.raises(InputError, match="needs series"):
        paper_figure("6a", [[]])


def test_edges_of_the_scale_and_single_points_are_drawn(tmp_path: Path) -> None:
    for shares in ((0.0, 0.0), (1.0, 1.0), (0.5,), (0.0, 1.0)):
        figure = Figure("x", (Panel((series("a", *shares),), "k", level=(0.5, "a $ sign")),))
        assert curves.draw(figure, tmp_path / "x.png") > 2000
    bare = Series("bare", (Point(0.25, 0.5), Point(17.5, 0.6)))
    assert curves.draw(Figure("x", (Panel((bare,), "k"),)), tmp_path / "x.png") > 2000


def test_nine_series_and_two_baselines_all_look_different() -> None:
    levels = [series(name, 0.3, baseline=True) for name in "xy"]
    panel = Panel((*(series(str(number), 0.1, 0.2) for number in range(9)), *levels), "k")
    looks = [tuple(sorted(look.items())) for _, look in curves._looks(panel)]
    assert len(set(looks)) == 11


def test_scorers_show_their_accuracies_and_how_many_agree() -> None:
    rows = [ScorerRow("a", 2, share(93), True), ScorerRow("b$x$", 0, share(88), False)]
    texts = texts_of(lambda canvas: draw_scorers(rows, canvas))
    assert {"93.0", "88.0", "a (+2)", r"b\$x\$"} <= set(texts)


@pytest.mark.parametrize(
    ("name", "error"), [("x.jpg", "may end in .svg"), ("no/x.png", "cannot write")]
)
def test_what_cannot_be_written_is_said(tmp_path: Path, name: str, error: str) -> None:
    with pytest.raises(InputError, match=error):
        curves.save_figure(lambda canvas: None, tmp_path / name, 1, 1)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_message_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"gradeschool\[report\]"):
        curves.save_figure(lambda canvas: None, tmp_path / "x.png", 1, 1)


def test_the_figures_of_a_run_with_several_samples(gradeschool: Command, tmp_path: Path) -> None:
    problems = rows(tmp_path / "p.jsonl", [{
        "question": f"{'word ' * (25 + index % 50)}{index}?",
        "answer": f"<<1+1=2>>{'<<1+1=2>>' * (index % 3)}\n#### {index}"}
        for index in range(60)])  # fmt: skip
    samples = rows(tmp_path / "s.jsonl", [{
        "index": index, "sample": k, "run": "a $b$ \x1b[31m/../c",
        "completion": f"{'#### ' if k else ''}{index + (k + index) % 3}{'' if k else ' of 9'}"}
        for index in range(60) for k in range(4)])  # fmt: skip
    result = gradeschool(
        "report", samples, "-d", problems, "--figures", tmp_path / "f", "--format", "svg"
    )
    assert result.status == 0, result.err
    assert sorted(path.name for path in (tmp_path / "f").iterdir()) == [
        f"{name}.svg" for name in ("agreement", "causes", "curves", "lengths", "scorers", "slices")
    ]
    again = gradeschool("report", samples, samples, "-d", problems, "--figures", tmp_path / "f")
    assert "18 files" in again.out
    two = rows(tmp_path / "two.jsonl", [{
        "index": index, "run": name, "completion": f"#### {index}"}
        for index in range(60) for name in ("x/../y", "z")])  # fmt: skip
    figures = ("--figures", tmp_path / "g", "--format", "png")
    result = gradeschool("report", two, "-d", problems, *figures, "-o", tmp_path / "page.md")
    assert result.status == 0, result.err
    names = sorted(path.name for path in (tmp_path / "g").iterdir())
    assert "1-x_.._y-scorers.png" in names
    assert {"2-z-lengths.png", "runs.png"} <= set(names)
    assert (tmp_path / "page.md").is_file()


def test_what_report_refuses(gradeschool: Command, tmp_path: Path) -> None:
    nothing = gradeschool("report", tmp_path / "x.jsonl")
    assert (nothing.status, "there is nothing to write" in nothing.err) == (2, True)
    (tmp_path / "file").touch()
    samples = rows(tmp_path / "s.jsonl", [{"index": 0, "completion": "5"}])
    taken = gradeschool("report", samples, "-d", "sample", "--figures", tmp_path / "file" / "f")
    assert (taken.status, "cannot use the folder" in taken.err) == (2, True)


def test_nothing_imports_matplotlib_before_a_figure_is_drawn() -> None:
    code = (
        "import sys, gradeschool.cli.report_verb, gradeschool.reports.figures.curves;"
        "import gradeschool.reports.figures.run_figures; assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_run_of_errors_has_no_figure_of_accuracies(gradeschool: Command, tmp_path: Path) -> None:
    """Nor a dot among other runs; the command says so."""
    failed: list[dict[str, object]] = [
        {"index": index, "completion": None, "error": "boom"} for index in range(5)
    ]
    answers = rows(tmp_path / "failed.jsonl", failed)
    good = rows(tmp_path / "good.jsonl", [{"index": 0, "completion": "#### 600"}])
    for files, names in (((answers,), {"causes.svg"}), ((answers, answers), {"causes.svg"}),
                         ((good, answers), {"runs.svg", "1-good-scorers.svg"})):  # fmt: skip
        folder = tmp_path / f"figures-{len(names)}-{len(files)}"
        result = gradeschool("report", *files, "-d", "sample", "--figures", folder, "--format",
                             "svg")  # fmt: skip
        assert result.status == 0, result.err
        assert names <= {path.name for path in folder.iterdir()}
        assert "failed-slices" not in "".join(path.name for path in folder.iterdir())
        assert "failed has no figure of accuracies: no completion could be judged" in result.out
