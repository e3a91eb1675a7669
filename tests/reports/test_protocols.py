"""Check how shots, chats and differences of scorers are shown."""

from pathlib import Path

import pytest
from rich.console import Console

from gradeschool import Problem, get_scorer
from gradeschool.formats.samples import Sample
from gradeschool.reports.protocols import print_moves
from gradeschool.scoring.compare import score_delta
from gradeschool.scoring.samples import Run
from gradeschool.scoring.table import scored_table
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture


def test_shots_are_said_to_be_drawn_anew(gradeschool: Command, data: Path) -> None:
    shown = gradeschool("protocols", "show", "lm-eval/gsm8k", "--problem", "1").out
    assert "5 of gsm8k:train, in the text before the question, drawn anew for each" in shown
    assert "rows of this problem 7462, 6610, 4769, 286, 5501" in shown
    fixed = gradeschool("protocols", "show", "inspect/gsm8k").out
    assert "10 of gsm8k:train, in the system message, the same for every problem" in fixed


def test_a_chat_is_shown_by_turns(gradeschool: Command, data: Path) -> None:
    shown = gradeschool("protocols", "show", "olmes/gsm8k-tulu", "-d", "sample").out
    assert shown.count("\n[user]\n") == 9
    assert "\n[assistant, to be continued]\nAnswer:\n" in shown
    assert "  answer begun  'Answer:'" in shown


def test_points_and_interval_of_a_move_are_of_one_quantity() -> None:
    """Of 40 problems, 30 have one sample that becomes right, 10 have 20 that do not change."""
    samples = []
    for row in range(40):
        problem = Problem.from_row(str(row), f"Q{row}?", "#### 18")
        text, count = ("The answer is 18", 1) if row < 30 else ("#### 7", 20)
        samples += [Sample(row, problem=problem, sample=k, text=text) for k in range(count)]
    scorers = [get_scorer("openai/2021"), get_scorer("gradeschool/reader")]
    moved = score_delta(scored_table(Run("run", samples), scorers))
    assert (moved.n, moved.before, moved.after) == (230, 0, 30)
    assert moved.points == pytest.approx(75.0)
    assert moved.interval.low < 0.75 < moved.interval.high
    console = Console(width=200, record=True)
    print_moves([moved], ("openai/2021", "gradeschool/reader"), console)
    assert "each problem counts once" in console.export_text()
