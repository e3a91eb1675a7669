"""Check which completions are shown, and how their answers and causes are marked."""

import re
from pathlib import Path

from gradeschool import all_scorers
from gradeschool.models.recorded import SAMPLE_FILE
from tests.support.answers import SAMPLE, TWO, answers
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.files import jsonl


def test_explain_marks_what_each_scorer_read(gradeschool: Command, tmp_path: Path) -> None:
    """Counts by kind, then each completion with brackets around the spans, and the reasons."""
    result = gradeschool("explain", answers(tmp_path), "--scorer", *TWO, *SAMPLE)
    assert result.status == 0
    first, second, third, *_ = result.out.splitlines()
    assert first == f"{TWO[0]} and {TWO[1]} differ on 3 of 5 completions"
    assert second == "     1   33.3 %  no answer / correct  A right answer missed: format missing"
    assert third.startswith("     1   33.3 %  wrong / correct      ")
    assert "answers, problem 2, sample 2, row 3 ─" in result.out
    assert "#### [A:5] or rather [B:0]" in result.out
    assert "\n#### [A:[B:13.]]\n" in result.out
    assert "A openai/2021  wrong: the first '#### N': '13.' is not '13'" in result.out
    assert (
        "B lm-eval/gsm8k/flexible-extract  correct: the last number: '13' matches '13'"
        in result.out
    )
    assert "more; show them" not in result.out


def test_explain_cuts_a_long_completion_around_what_was_read(
    gradeschool: Command, tmp_path: Path
) -> None:
    """Both spans and the end are shown, however far apart they stand, and little else."""
    text = "x" * 5000 + " #### 7 " + "y" * 5000 + " so 13 " + "z" * 5000
    path = jsonl(tmp_path / "a.jsonl", [{"index": 29, "completion": text}])
    result = gradeschool("explain", path, "--scorer", *TWO, *SAMPLE)
    assert "#### [A:7]" in result.out
    assert "so [B:13]" in result.out
    assert len(result.out) < 3000
    assert result.out.count("…") == 5


def test_explain_of_all_scorers_has_no_long_line(gradeschool: Command) -> None:
    """Counts instead of forty outcomes in a row; a cause has the letter of the scorers it is of."""
    names = [name for name, scorer in all_scorers().items() if not scorer.extra]
    words = ("explain", f"{SAMPLE_FILE}#handwritten/chat", *SAMPLE, "--scorer", *names, "-n", "2")
    result = gradeschool(*words, columns=80)
    first, second, *rest = result.out.splitlines()
    assert re.fullmatch(r"\d+ scorers differ on \d+ of 48 completions", first)
    assert re.fullmatch(r" +\d+ +\d+\.\d %  +\d+ correct, +\d+ wrong(, +\d+ no answer)?", second)
    assert max(map(len, [first, second, *rest])) <= 80
    letters = [line[0] for line in rest if " scorers  no answer: nothing extracted" in line]
    assert f"→ {letters[0]} right answer missed: format missing" in result.out
