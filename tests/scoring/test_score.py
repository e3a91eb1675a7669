"""Scoring files: the same figures in any format, number of processes and place."""

from __future__ import annotations

import os
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from gradeschool.errors import GradeschoolError, UnknownNameError
from gradeschool.formats.tables import read_rows
from gradeschool.formats.values import UNNUMBERED, ProblemReference, ReadOptions, Sample
from gradeschool.problem import Problem
from gradeschool.protocols.registry import all_scorers, get_scorer
from gradeschool.scorer import Answer, Outcome, Scorer, ScorerFailure
from gradeschool.scoring import score
from gradeschool.scoring.matching import Matcher
from gradeschool.scoring.score import RunScore, ScorerResult, score_run, score_sources
from gradeschool.scoring.sources import Numbering, Run, collect, load_runs, open_sources
from gradeschool.scoring.statistics import clustered_wilson, wilson
from gradeschool.scoring.table import ScoredTable, ScorerSet, choose_scorers
from tests.support.command import Command
from tests.support.files import jsonl
from tests.support.real_rows import NAMES, real_rows

PROBLEMS = [
    Problem.from_row(str(index), f"Question {index}?", f"So it is\n#### {index}")
    for index in range(20)
]
SCORERS = ScorerSet(choose_scorers(NAMES))


@pytest.fixture(scope="module")
def real(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two thousand real completions of several runs, with faults, repeats and further samples."""
    return jsonl(tmp_path_factory.mktemp("real") / "real.jsonl", real_rows(data))


def scores(path: Path, **options: Any) -> tuple[list[RunScore], list[str]]:
    notes: list[str] = []
    sources = open_sources([str(path)], ReadOptions(dataset="gsm8k"), notes.append)
    return score_sources(sources, SCORERS, notes.append, **options), notes


@pytest.mark.slow
def test_processes_give_the_same_scores(real: Path) -> None:
    here, notes = scores(real)
    assert scores(real, jobs=2) == (here, notes)
    assert (sum(run.faults for run in here), len(notes)) == (2, 5)


@pytest.mark.slow
def test_parquet_gives_the_same_scores(real: Path, tmp_path: Path) -> None:
    names = ("model", "index", "sample", "completion")
    cells = [{name: row.fields.get(name) for name in names} for row in read_rows(real)]
    for row in cells:
        row["completion"] = str(row["completion"]).replace("\ud800", "_")
    table = arrow.Table.from_pylist(cells)
    (tmp_path / "real").mkdir()
    parquet.write_table(table, tmp_path / "real.parquet", row_group_size=100)
    for index, start in enumerate(range(0, len(cells), 500)):
        parquet.write_table(table.slice(start, 500), tmp_path / "real" / f"{index}.parquet")
    for name in ("real.parquet", "real", "real/*.parquet"):
        assert scores(tmp_path / name)[0] == scores(real)[0], name


def test_a_run_in_memory_has_the_same_scores(real: Path) -> None:
    notes: list[str] = []
    runs = load_runs(real, ReadOptions(), notes.append)
    assert ([score_run(ScoredTable(run, SCORERS.scorers)) for run in runs], notes) == scores(real)


def die(*_: object) -> None:
    """End a process as the system does where memory is short."""
    os._exit(9)


@pytest.mark.slow
def test_a_process_that_dies_is_one_error(real: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score, "score_batch", die)
    with pytest.raises(GradeschoolError, match="one of the 2 scoring processes died"):
        scores(real, jobs=2)


def test_without_semaphores_jobs_1_is_told(real: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", refuse)
    with pytest.raises(GradeschoolError, match=r"cannot start 2 processes: .*; give --jobs 1"):
        scores(real, jobs=2)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_memory_does_not_grow_with_the_texts(data: Path, tmp_path: Path, ending: str) -> None:
    """Five times the rows take a few bytes more each, not their text (500 on average)."""

    def peak(count: int) -> int:
        rows = [
            {"index": i % 6, "sample": i // 6, "completion": f"{'x' * (i % 999)}\n#### 1"}
            for i in range(count)
        ]
        path = tmp_path / f"{count}.{ending}"
        if ending == "jsonl":
            jsonl(path, rows)
        else:
            parquet.write_table(arrow.Table.from_pylist(rows), path)
        tracemalloc.start()
        try:
            scores(path)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(3000)  # what is made once
    assert peak(15_000) - peak(3000) < 40 * 12_000


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(-3, 6) | st.sampled_from([1500, 1501, 10**12]), st.integers(1, 6)),
        max_size=60,
    )
)
def test_each_text_of_a_problem_gets_one_number(rows: list[tuple[int, int]]) -> None:
    """A row keeps its number unless another text has it; then it repeats one or comes last."""
    numbering = Numbering("f")
    texts: dict[int, int] = {}
    for row, (sample, text) in enumerate(rows, start=1):
        number = numbering.number(row, "r", "0", "1", sample, text)
        wanted = 0 if sample == UNNUMBERED else sample
        if texts.get(wanted, text) == text:
            assert number == (None if wanted in texts else wanted)
        else:
            assert number == (None if text in texts.values() else max(*texts, -1) + 1)
        if number is not None:
            texts[number] = text


def test_many_samples_of_a_problem_take_linear_time() -> None:
    numbering = Numbering("f")
    last = [numbering.number(n, "r", "0", "1", 0, n + 1) for n in range(100_000)][-1]
    assert last == 99_999
    assert numbering.number(0, "r", "0", "1", UNNUMBERED, 500) is None


MATCHER = Matcher(PROBLEMS, "numbers")


def recorded(row: int, index: int, text: str, sample: int = UNNUMBERED, run: str = "r") -> Sample:
    return Sample(row, run, text, ProblemReference(str(index)), sample)


def collected(*rows: Sample) -> tuple[list[Run], list[str]]:
    notes: list[str] = []
    return collect(map(MATCHER.match, rows), "numbers", "f.jsonl", notes.append), notes


def test_unusable_rows_are_counted_and_told() -> None:
    bad = Sample(2, "r", fault="is bad")
    [run], notes = collected(recorded(1, 0, "#### 0"), bad, recorded(3, 99, "#### 0"))
    assert run.faults == 2
    assert [(s.problem is None, s.row) for s in run.samples] == [(False, 1), (True, 2), (True, 3)]
    assert notes[0] == "row 2 of 'f.jsonl' is bad"
    assert notes[1].startswith("row 3 of 'f.jsonl' has the id '99'")


def test_samples_without_numbers_may_repeat_each_other() -> None:
    """Where most problems of a run have several rows these are samples, equal ones too."""
    rows = [recorded(row, row % 2, "same") for row in range(1, 9)]
    [run], notes = collected(*rows, recorded(9, 5, "same"))
    assert len(run.samples) == 9
    assert [sample.sample for sample in run.samples] == [0, 0, 1, 1, 2, 2, 3, 3, 0]
    assert notes == []


def test_a_thousand_faults_are_told_in_six_lines() -> None:
    """The first five of a kind, and how many more there are."""
    _, notes = collected(
        recorded(0, 0, "a"), *(Sample(row, "r", fault="is bad") for row in range(1, 1001))
    )
    assert len(notes) == 6
    assert notes[-1] == "... and 995 more rows of this kind (cannot be used)"


RIGHT, WRONG, SILENT, ERROR = Outcome.CORRECT, Outcome.WRONG, Outcome.NO_ANSWER, Outcome.ERROR


def scored(outcomes: Iterable[tuple[int, Outcome]]) -> ScorerResult:
    """Score samples (problem, outcome) with a scorer that reads the outcome from the text."""

    def read(text: str, reference: str) -> Answer | None:
        if text == Outcome.ERROR:
            raise ScorerFailure(text)
        return None if text == Outcome.NO_ANSWER else Answer(text, text, None, "")

    scorer = Scorer("test", "", "", lambda _: "", read, lambda value, _: value == Outcome.CORRECT)
    samples = [Sample(1, text=outcome, problem=PROBLEMS[index]) for index, outcome in outcomes]
    return score_run(ScoredTable(Run("r", samples), [scorer])).scorers[0]


@pytest.mark.parametrize(
    ("outcomes", "counts", "accuracy", "interval"),
    [
        pytest.param(
            [(0, RIGHT), (1, WRONG), (2, SILENT), (3, ERROR), (4, RIGHT)],
            (2, 1, 1, 1), 0.4, (wilson(2, 5).low, wilson(3, 5).high),
            id="errors give bounds, no answer is not right",
        ),
        pytest.param(
            [(index, outcome) for index in range(6) for outcome in (RIGHT, RIGHT, WRONG)],
            (12, 6, 0, 0), 2 / 3, clustered_wilson([(2, 3)] * 6), id="samples of a problem",
        ),
        pytest.param(
            [(0, RIGHT)] * 10 + [(1, WRONG)], (10, 1, 0, 0), 0.5,
            clustered_wilson([(10, 10), (0, 1)]), id="each problem counts once",
        ),
        pytest.param([(0, ERROR)], (0, 0, 0, 1), 0.0, (0.0, 1.0), id="errors alone"),
    ],
)  # fmt: skip
def test_figures_of_a_scorer(
    outcomes: list[tuple[int, Outcome]],
    counts: Sequence[int],
    accuracy: float,
    interval: tuple[float, float],
) -> None:
    result = scored(outcomes)
    assert (result.correct, result.wrong, result.no_answer, result.error) == counts
    assert result.accuracy == pytest.approx(accuracy)
    assert result.ci95 == pytest.approx(interval)


def test_an_unreadable_gold_and_a_failed_request_are_errors() -> None:
    def reference(problem: Problem) -> str:
        raise ScorerFailure("no")

    scorer = Scorer("test", "", "", reference, lambda *_: None, lambda *_: True)
    samples = [
        Sample(1, text="a", problem=PROBLEMS[0]),
        Sample(2, error="timeout", problem=PROBLEMS[0]),
    ]
    run = Run("r", samples)
    assert score_run(ScoredTable(run, [scorer])).scorers[0].error == 2
    assert score_run(ScoredTable(run, [get_scorer("openai/2021")])).scorers[0].error == 1


def test_a_failed_request_is_an_error_under_platinum_too() -> None:
    problem = PROBLEMS[0]
    revised = {problem.id: replace(problem, gold="1", solution="#### 1")}
    samples = [Sample(1, text="#### 1", problem=problem),
               Sample(2, sample=1, error="http 500", problem=problem)]  # fmt: skip
    scorers = ScorerSet([get_scorer("openai/2021")])
    counts = Counter(row.kind for row in score.score_batch(samples, scorers, revised))
    platinum = score.score_counts("run", counts, scorers.names).platinum
    assert platinum is not None
    result = platinum.scorers[0]
    assert (platinum.failed, result.correct, result.no_answer) == (1, 1, 0)


def test_uneven_samples_and_two_golds_are_said(gradeschool: Command, tmp_path: Path) -> None:
    """Each problem counts once, however many samples it has; the table says so."""
    golds = zip(("3 + 0?", "4 + 0?", "5 + 0?", "3 +  0?"), (3, 4, 5, 5), strict=True)
    rows: list[dict[str, Any]] = [
        {"question": f"What is {text}", "answer": f"#### {gold}"} for text, gold in golds
    ]
    problems = jsonl(tmp_path / "problems.jsonl", rows)
    rows = [
        {"index": index, "sample": row, "completion": f"#### {3 if index == 0 else 9}"}
        for row, index in enumerate([0] * 10 + [1])
    ]
    samples = jsonl(tmp_path / "samples.jsonl", rows)
    shown = gradeschool("score", samples, "-d", problems, "--scorer", "openai/2021")
    assert "1 to 10 samples per problem, each problem counts once" in shown.out
    assert "50.00 %" in shown.out
    assert "'What is 3 + 0?': '3' (problem 0) and '5' (problem 3)" in shown.err
    fields = gradeschool("score", samples, "-d", problems, "--json").json()["runs"][0]
    assert fields["samples_per_problem"] == [1, 10]
    assert fields["scorers"]["openai/2021"]["accuracy"] == 0.5


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_files_of_own_golds_and_equal_ids(gradeschool: Command, tmp_path: Path, jobs: int) -> None:
    for name, off in (("a", 0), ("b", 1)):
        rows = [{"response": f"#### {n * 7}", "gold": str(n * 7 + off)} for n in range(2000, 2012)]
        jsonl(tmp_path / f"{name}.jsonl", rows)
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    words = ("--scorer", "openai/2021", "--jobs", jobs, "--json")
    runs = gradeschool("score", *files, *words).json()["runs"]
    assert [run["scorers"]["openai/2021"]["correct"] for run in runs] == [12, 0]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_table_has_every_verdict(
    gradeschool: Command, real: Path, tmp_path: Path, ending: str
) -> None:
    table = tmp_path / f"t.{ending}"
    assert gradeschool("score", real, "--scorer", *NAMES, "-o", table).status == 3
    written = [row.fields for row in read_rows(table)]
    [source] = open_sources([str(real)], ReadOptions(), print)
    problems = {problem.id: problem for problem in source.dataset.problems}
    for row, verdicts in list(zip(read_rows(real), written, strict=True))[::97]:
        problem = problems[str(row.fields["index"])]
        assert (verdicts["problem"], verdicts["gold"]) == (problem.id, problem.gold)
        assert (verdicts["row"], verdicts["sample"]) == (row.number, row.fields["sample"])
        for name in NAMES:
            outcome = get_scorer(name).judge(row.fields["completion"], problem).outcome
            assert verdicts[name] == outcome.value
    faults = [row for row in written if row["problem"] is None]
    assert [row["row"] for row in faults] == [5, 901]
    assert all(row["error"] for row in faults)
    assert {row[name] for row in faults for name in NAMES} == {"error"}


@pytest.mark.parametrize(("ending", "run"), [("jsonl", "\ud800\n"), ("parquet", "\\ud800\n")])
def test_odd_names_are_written(gradeschool: Command, tmp_path: Path, ending: str, run: str) -> None:
    rows = [{"index": n, "completion": f"#### {n}", "run": "\ud800\n"} for n in range(9)]
    path, table = jsonl(tmp_path / "a.jsonl", rows), tmp_path / f"t.{ending}"
    gradeschool.done("score", path, "-d", "sample", "-o", table)
    assert next(row.fields["run"] for row in read_rows(table)) == run


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("t.csv", "'t.csv' must end in .jsonl or .parquet"),
        ("t", "'t' must end in"),
        ("none/t.jsonl", "No such file or directory"),
        ("there.jsonl", "exists; remove it, or give another -o"),
    ],
)
def test_bad_tables_are_told(gradeschool: Command, tmp_path: Path, name: str, message: str) -> None:
    path = jsonl(tmp_path / "a.jsonl", [{"index": 0, "completion": "#### 1"}])
    (tmp_path / "there.jsonl").write_text("mine")
    assert message in gradeschool.refused("score", path, "-d", "sample", "-o", tmp_path / name)
    assert (tmp_path / "there.jsonl").read_text() == "mine"
    assert not list(tmp_path.glob("t.*"))


def test_choosing_scorers() -> None:
    """By default all of the dataset that call no library; a name twice is one scorer."""
    usual = choose_scorers([])
    plain = [scorer for scorer in all_scorers().values() if not scorer.extra]
    assert usual == [scorer for scorer in plain if not scorer.dataset]
    german = {scorer.name for scorer in choose_scorers([], "mgsm:de")}
    assert german > {scorer.name for scorer in usual}
    assert "lm-eval/mgsm-native-cot-de/strict-match" in german
    assert "lm-eval/mgsm-native-cot-fr/strict-match" not in german
    every = set(choose_scorers(["multi-pattern", "all"]))
    assert set(usual) <= every <= set(all_scorers().values())
    assert [scorer.name for scorer in choose_scorers(["openai/2021"] * 2)] == ["openai/2021"]
    with pytest.raises(UnknownNameError, match="'openai/2022'; did you mean openai/2021"):
        choose_scorers(["openai/2022"])


@pytest.mark.slow
@pytest.mark.official
def test_published_flags_are_reproduced(gradeschool: Command, data: Path) -> None:
    """Three scorers agree with each of OpenAI's `is_correct` flags; others differ as is known."""
    same = ["openai/example-solutions", "lm-eval/gsm8k/flexible-extract"]
    same.append("inspect/match-numeric@>=0.3.261")
    others = ("openai/2021", "olmes/gsm8k-tulu", "opencompass/gsm8k")
    solutions = data / "gsm8k" / "example_model_solutions.jsonl"
    result = gradeschool("score", solutions, "--scorer", *same, *others, "--json").json()
    runs = {run["run"]: run for run in result["runs"]}
    correct = {name: run["scorers"][same[0]]["correct"] for name, run in runs.items()}
    assert correct == {
        "6b_finetuning": 286, "6b_verification": 515, "175b_finetuning": 458,
        "175b_verification": 742,
    }  # fmt: skip
    for run in runs.values():
        assert [run["flags"][name]["agree"] for name in same] == [1319] * 3
        assert run["scorers"]["openai/2021"]["no_answer"] == 1319
    olmes = sum(run["scorers"]["olmes/gsm8k-tulu"]["correct"] for run in runs.values())
    assert olmes == sum(correct.values()) + 8  # it loses signs
    commas = runs["175b_finetuning"]["scorers"]["opencompass/gsm8k"]
    assert commas["correct"] == 456  # it splits at commas
