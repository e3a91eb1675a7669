"""Check the verdicts of a page, and the rates and shares that are counted from them."""

import json
import re
from pathlib import Path

import pytest

from gradeschool.answers.extractor import extract_final_answer
from gradeschool.answers.shared import BATCH
from gradeschool.formats.samples import ReadOptions
from gradeschool.models.recorded import SAMPLE_FILE
from gradeschool.reports.page.gather import gather
from gradeschool.reports.page.verdicts import judge_run
from gradeschool.scoring.sources import choose_scorers
from gradeschool.scoring.table import ScorerSet
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.report_page import report, written


@pytest.mark.parametrize("ending", ["html", "md"])
def test_a_report_and_the_terminal_count_the_same_guesses(
    gradeschool: Command, tmp_path: Path, ending: str
) -> None:
    """The page and the Markdown say of the reader what `score --causes` counts, in points too."""
    words = (SAMPLE_FILE, "-d", "sample", "--scorer", "gradeschool/reader", "--causes", "--json")
    for run in gradeschool("score", *words).json()["runs"]:
        score = run["scorers"]["gradeschool/reader"]
        guesses, correct = score["correct_by_guess"], score["correct"]
        points = f"{100 * guesses / (correct / score['accuracy']):.2f} points"
        sentence = f"{guesses} of {correct} correct verdicts rest on a guess ({points}), where"
        file = tmp_path / f"{run['run'].replace('/', '-')}.{ending}"
        source = (f"{SAMPLE_FILE}#{run['run']}", "-d", "sample", "--scorer")
        assert sentence in report(gradeschool, file, *source, "gradeschool/reader")
        assert "on a guess" not in report(gradeschool, file, *source, "openai/2021", "--force")


@pytest.mark.official
def test_platinum_labels_beside_the_official_ones(
    gradeschool: Command, data: Path, tmp_path: Path
) -> None:
    """Counted anew here: removed problems out, revised golds compared, by the same scorer."""
    from gradeschool import get_scorer, load_gsm8k
    from gradeschool.datasets.platinum import platinum_problems
    from gradeschool.scoring.sources import load_runs

    solutions = data / "gsm8k" / "example_model_solutions.jsonl"
    page = report(
        gradeschool, tmp_path / "page.html", f"{solutions}#6b_verification", "--scorer",
        "openai/example-solutions", "--scorer", "openai/2021",
    )  # fmt: skip
    kept = {problem.id: problem for problem in platinum_problems(load_gsm8k("test"))}
    (run,) = [
        run
        for run in load_runs(solutions, ReadOptions(), lambda _: None)
        if run.name == "6b_verification"
    ]
    scorer = get_scorer("openai/example-solutions")
    right = sum(
        scorer.judge(sample.text, kept[sample.problem.id]).correct
        for sample in run.samples
        if sample.problem is not None and sample.problem.id in kept
    )
    assert f"<strong>{100 * right / len(kept):.2f} %</strong>" in page
    assert "39.04" in page


def test_the_answer_of_a_completion_is_extracted_once(tmp_path: Path) -> None:
    """The outcomes of all scorers and the causes of the first share what the extractor reads."""
    path = tmp_path / "answers.jsonl"
    rows = [
        {"question": f"What is {n} + {n}?", "gold": f"{2 * n}", "completion": f"It is {2 * n}."}
        for n in range(3 * BATCH)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    [run] = gather([str(path)], ReadOptions(), lambda message: None)
    scorers = ScorerSet(choose_scorers(["gradeschool/reader", "openai/2021"]))
    extract_final_answer.cache_clear()  # type: ignore[attr-defined]
    judge_run(run, scorers)
    assert extract_final_answer.cache_info().misses == len(rows)  # type: ignore[attr-defined]


def figures_of(page: str, title: str) -> list[list[str]]:
    """Return the cells of a table below "Where it is right", as text."""
    table = page.partition(f"<figcaption>{title}<")[2].partition("</table>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", table.partition("<tbody>")[2])
    return [
        [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)]
        for row in rows
    ]


def test_errors_are_no_accuracy_of_0_and_count_no_problem(
    gradeschool: Command, tmp_path: Path
) -> None:
    """Golds 600 (right), 13 and 5 (no completion)."""
    failed = [{"index": index, "error": "http 500"} for index in (29, 1)]
    answers = written(tmp_path / "a.jsonl", {"index": 0, "completion": "#### 600"}, *failed)
    page = report(gradeschool, tmp_path / "page.html", answers, "-d", "sample")
    assert "1 of 1</span> correct over 1 problem, read by" in page
    shown = figures_of(page, "Size of the answer")
    assert ["100 to 999", "", "100.0", "1"] in shown
    assert [row[2:] for row in shown if row[0] != "100 to 999"] == [["–", "0"]]
    sizes = page.partition("<figcaption>Size of the answer<")[2].partition("</figure>")[0]
    assert sizes.count("<circle") == 1
    both = report(gradeschool, tmp_path / "both.html", answers,
                  written(tmp_path / "b.jsonl", *failed), "-d", "sample")  # fmt: skip
    table = both.partition('class="rows runs"')[2].partition("</table>")[0]
    assert table.count("<circle") == 1
    assert ">Errors<" in table


def rates_of_page(page: str) -> dict[str, str]:
    """Return the rates below the headline, as "number share"."""
    rates = page.partition('<dl class="rates">')[2].partition("</dl>")[0]
    pairs = re.findall(r"<dt>(.*?)</dt><dd>(.*?)<small>(.*?)</small>", rates)
    return {name: f"{number} {share}" for name, number, share in pairs}


def test_rates_are_of_the_texts_and_errors_of_all_samples(
    gradeschool: Command, tmp_path: Path
) -> None:
    """One truncated text, one failed sample, two rows of unknown problems."""
    answers = written(
        tmp_path / "a.jsonl",
        {"index": 0, "completion": "It is", "finish_reason": "length"},
        {"index": 1, "error": "http 500"},
        *({"index": index, "completion": "1"} for index in (99998, 99999)),
    )
    path = tmp_path / "page.html"
    assert gradeschool("report", answers, "-d", "sample", "-o", path).status == 3
    page = path.read_text()
    assert rates_of_page(page) == {
        "truncated": "1 100.0 %",
        "empty": "0 0.0 %",
        "ran on into a next question": "0 0.0 %",
        "the scorer found no answer": "1 100.0 %",
        "errors, not counted as wrong": "3 75.0 %",
    }
    assert "<dd>1 truncated, 0 empty, 0 ran on, of 1</dd>" in page


def test_an_empty_truncated_completion_is_counted_once(
    gradeschool: Command, tmp_path: Path
) -> None:
    cut = {"completion": "", "finish_reason": "length"}
    runs = [
        written(tmp_path / "a.jsonl", {"index": 0, **cut}, {"index": 1, "completion": "#### 5"}),
        written(tmp_path / "b.jsonl", {"index": 0, **cut}, {"index": 1, **cut}),
    ]
    page = report(gradeschool, tmp_path / "page.html", *runs, "-d", "sample")
    table = page.partition('class="rows runs"')[2].partition("</table>")[0]
    place = re.findall(r"<th[^>]*>(.*?)</th>", table).index("Cut or empty")
    rows = [row.split("<td")[place] for row in table.partition("<tbody>")[2].split("<tr")[1:]]
    assert [re.sub(r".*>(\d+)</td>", r"\1", row) for row in rows] == ["1", "2"]
