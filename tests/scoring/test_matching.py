"""Ids that are shifted, permuted or of another dataset are noticed by what texts are about."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gradeschool.datasets.load import load_dataset
from gradeschool.errors import InputError
from gradeschool.formats.read import Naming, read_samples
from gradeschool.formats.samples import ReadOptions, Reference, Sample
from gradeschool.models.recorded import SAMPLE_FILE, RecordedModel
from gradeschool.problem import Problem
from gradeschool.scoring.matching import Matcher, id_base
from gradeschool.scoring.score import score_sources
from gradeschool.scoring.sources import open_sources
from gradeschool.scoring.table import ScorerSet, choose_scorers
from tests.support import numbered
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.real_rows import jsonl

SCORER = "gradeschool/reader"


def solutions(
    problems: Sequence[Problem], id_of: Callable[[int], object]
) -> list[dict[str, object]]:
    """Return rows with the problems' own solutions under ids of our choice."""
    return [
        {"id": id_of(index), "completion": problem.solution}
        for index, problem in enumerate(problems)
    ]


def accuracy(
    path: Path,
    dataset: str,
    note: Callable[[str], None] = lambda _: None,
    id_base: int | None = None,
) -> float:
    """Return the share of rows that are correct."""
    options = ReadOptions(dataset=dataset, id_base=id_base)
    sources = open_sources([str(path)], options, note)
    runs = score_sources(sources, ScorerSet(choose_scorers([SCORER])), lambda message: None)
    return sum(run.scorers[0].correct for run in runs) / sum(run.n for run in runs)


@pytest.mark.parametrize("form", ["{}", "{:04}", "sample-{}", "test/{:03}"])
def test_ids_from_1_are_corrected_and_said(tmp_path: Path, form: str) -> None:
    """The sample's own solutions with ids 1 to 48 are all correct, and a note says why."""
    rows = solutions(load_dataset("sample").problems, lambda index: form.format(index + 1))
    notes: list[str] = []
    assert accuracy(jsonl(tmp_path / "a.jsonl", rows), "sample", notes.append) == 1
    assert len(notes) == 1
    assert "are shifted by one: 100 % of 48 texts are about the problem one before" in notes[0]
    assert "--id-base 1" in notes[0]


def test_gsm8k_with_ids_from_1(tmp_path: Path, data: Path) -> None:
    """GSM8K's own solutions with ids 1 to 1319 are all correct; with --id-base 0 hardly any is."""
    rows = solutions(load_dataset("gsm8k").problems, lambda index: str(index + 1))
    path = jsonl(tmp_path / "a.jsonl", rows)
    assert accuracy(path, "gsm8k") == 1
    assert accuracy(path, "gsm8k", id_base=0) < 0.02


@pytest.mark.parametrize("shift", [2, 3, 7])
def test_another_shift_is_refused_with_the_option(tmp_path: Path, shift: int) -> None:
    """A shift that no one counts by is refused; the option that the message names repairs it."""
    rows = solutions(load_dataset("sample").problems, lambda index: index + shift)
    path = jsonl(tmp_path / "a.jsonl", rows)
    with pytest.raises(InputError, match=f"--id-base {shift}, or --id-base 0"):
        accuracy(path, "sample")
    assert accuracy(path, "sample", id_base=shift) == 1


def test_a_permutation_is_refused(tmp_path: Path) -> None:
    """Rows in another order are refused, with an example."""
    order = list(range(48))
    random.Random(4).shuffle(order)
    rows = solutions(load_dataset("sample").problems, lambda index: order[index])
    message = r"of 'sample'|names problem '\d+' and repeats \d+ % of problem '\d+'"
    with pytest.raises(InputError, match=message):
        accuracy(jsonl(tmp_path / "a.jsonl", rows), "sample")


@pytest.mark.official
def test_another_dataset_is_named(tmp_path: Path, data: Path) -> None:
    """Answers to the train split are refused under the test split's name."""
    train = solutions(load_dataset("gsm8k:train").problems[:300], int)
    with pytest.raises(InputError, match="give -d gsm8k:train"):
        accuracy(jsonl(tmp_path / "a.jsonl", train), "gsm8k")


def test_a_shift_that_begins_in_the_middle_is_refused(tmp_path: Path, data: Path) -> None:
    """A dropped row shifts the rows behind it: rows from all over a large file are looked at."""
    problems = load_dataset("gsm8k").problems
    rows = solutions(problems, lambda index: index if index < 700 else index + 1)
    rows = [{**row, "note": "x" * 4000} for row in rows]  # larger than the first batch
    with pytest.raises(InputError, match=r"shifted by one.* from .* is a row missing"):
        accuracy(jsonl(tmp_path / "a.jsonl", rows), "gsm8k")


def test_real_completions_are_let_alone(data: Path, tmp_path: Path) -> None:
    """No run of real models, weak and base models among them, is refused or corrected."""
    matcher = Matcher(load_dataset("gsm8k").problems, "gsm8k")
    runs: dict[str, list[Sample]] = {}
    for path in sorted((data / "completions").glob("*.jsonl")):
        for sample in read_samples(path):
            runs.setdefault(sample.run, []).append(sample)
    assert len(runs) > 5
    for run, samples in runs.items():
        assert id_base(samples[:64], matcher, run) == Naming()
        assert id_base(samples[-64:], matcher, run) == Naming()
    accuracy(SAMPLE_FILE, "sample", pytest.fail)


def test_answers_alone_show_a_shift_too(tmp_path: Path) -> None:
    """Texts that are a number and no more are compared with the golds."""
    problems = load_dataset("sample").problems
    rows = [
        {"index": index, "completion": problem.gold} for index, problem in enumerate(problems, 1)
    ]
    notes: list[str] = []
    assert accuracy(jsonl(tmp_path / "a.jsonl", rows), "sample", notes.append) == 1
    assert len(notes) == 1


def test_a_question_in_the_row_decides(tmp_path: Path) -> None:
    """With its question a row is matched by it, whatever the text is about."""
    problems = load_dataset("sample").problems
    rows = [
        {"question": problem.question, "completion": problems[index - 1].solution}
        for index, problem in enumerate(problems)
    ]
    assert accuracy(jsonl(tmp_path / "a.jsonl", rows), "sample") < 0.2


def test_the_command_says_what_it_did(tmp_path: Path, gradeschool: Command) -> None:
    """The note is on stderr; scores, and --id-base 0, are as asked."""
    rows = solutions(load_dataset("sample").problems, lambda index: index + 1)
    path = str(jsonl(tmp_path / "a.jsonl", rows))
    options = ["score", path, "-d", "sample", "--scorer", SCORER, "--json"]
    result = gradeschool(*options)
    assert result.status == 0
    assert result.json()["runs"][0]["scorers"][SCORER]["correct"] == 48
    assert "read with --id-base 1" in result.err
    literal = gradeschool(*options, "--id-base", "0")
    assert literal.json()["runs"][0]["scorers"][SCORER]["correct"] < 5


def test_recorded_completions_are_checked_too(tmp_path: Path) -> None:
    """A model that answers from a file, asked for some problems, is read as its ids are meant."""
    problems = load_dataset("sample").problems[:12]
    path = jsonl(tmp_path / "a.jsonl", solutions(problems, lambda index: index + 1))
    model = RecordedModel(str(path), problems, "sample")
    for problem in problems:
        assert model._answers[problem.id][0].text == problem.solution


@pytest.mark.parametrize(
    ("reference", "base", "expected"),
    [
        (Reference(position=5), 1, Reference(position=4)),
        (Reference(id="0005"), 1, Reference(id="4")),
        (Reference(id="gsm8k-test-10"), 1, Reference(id="gsm8k-test-9")),
        (Reference(id="q7"), 1, Reference(id="q7")),
        (Reference(id="x-0"), 1, Reference(id="x-0")),
        (Reference(question="How?"), 1, Reference(question="How?")),
        (Reference(position=5), 0, Reference(position=5)),
        (Reference(position=5), -1, Reference(position=6)),
    ],
)
def test_numbers_are_lowered_by_the_base(
    reference: Reference, base: int, expected: Reference
) -> None:
    """The position, or the number at the end of the id, counts from `base`."""
    assert reference.counted_from(base) == expected


def test_rows_with_golds_of_problems_that_nobody_has_are_let_alone() -> None:
    """A file that carries its problems names none of the dataset's, whatever its numbers are."""
    problems = load_dataset("sample").problems
    rows = [
        Sample(row, "r", problem.solution, Reference(id=str(row + 100), gold=problem.gold))
        for row, problem in enumerate(problems)
    ]
    matcher = Matcher((), "sample")
    assert not any(matcher.names(row.reference) for row in rows)
    assert id_base(rows, matcher, "rows.jsonl") == Naming()


@pytest.mark.parametrize("first_is_part", [True, False])
def test_a_prompt_asks_the_whole_question_not_a_part_of_it(first_is_part: bool) -> None:
    """Of two problems, the question of one begins with, or ends in, that of the other."""
    start = "Tom has 5 apples and buys 3 more apples at the market today."
    end = "How many apples does Tom then have in all his five baskets?"
    part = start if first_is_part else end
    problems = [Problem("part", part, "8", ""), Problem("whole", f"{start} {end}", "6", "")]
    for order in (problems, problems[::-1]):
        matcher = Matcher(order, "two")
        for problem in order:
            place = matcher.asked_in(f"Question: {problem.question}\nAnswer: ")
            assert place is not None and place.problem.id == problem.id
            assert place.rest.strip() == "Answer:"


@pytest.mark.parametrize(
    ("name", "reference", "message"),
    [
        ("gsm8k", Reference(id="gsm8k-1-2"), "has the id 'gsm8k-1-2' with several numbers"),
        ("gsm8k", Reference(id="1_2"), "has the id '1_2' with several numbers"),
        ("gsm8k", Reference(id="gsm8k-train-1"), "give its dataset: -d gsm8k:train"),
        ("gsm8k:train", Reference(id="gsm8k/test/1"), "give its dataset: -d gsm8k"),
        ("gsm8k", Reference(position=0, id="gsm8k-1"), "the index 0 and the id 'gsm8k-1', which"),
    ],
)
def test_ids_that_may_mean_another_problem_are_refused(
    name: str, reference: Reference, message: str
) -> None:
    matcher = Matcher([Problem(str(i), "?", "#### 1", "1") for i in range(3)], name)
    with pytest.raises(InputError, match=message):
        matcher.find(reference)


@pytest.mark.parametrize(
    "reference",
    [
        Reference(id="gsm8k-test-1"),
        Reference(id="gsm8k_test_0001"),
        Reference(id="v2/gsm8k/1"),
        Reference(position=1, id="gsm8k-1"),
        Reference(position=1, id="57"),  # of the row
        Reference(position=1, id="request-57"),
    ],
)
def test_an_id_with_one_number_names_the_row(reference: Reference) -> None:
    problems = [Problem(str(i), "?", "#### 1", "1") for i in range(3)]
    assert Matcher(problems, "gsm8k").find(reference) is problems[1]


def test_a_problem_that_a_file_brings_is_built_once_however_many_samples_it_has() -> None:
    matcher = Matcher([], "rows")

    def problem_of(id: str, gold: str) -> Problem | None:
        sample = Sample(1, "run", f"#### {gold}", Reference(id=id, gold=gold))
        return matcher.match(sample).problem

    first = problem_of("a", "5")
    assert first is not None
    assert first.gold == "5"
    assert problem_of("a", "5") is first
    other = problem_of("a", "6")
    assert other is not None
    assert other.gold == "6"


NUMBERS = Matcher(numbered.PROBLEMS, "numbers")


def test_an_index_with_another_question_is_no_problem_of_this_dataset() -> None:
    matcher = Matcher(load_dataset("sample").problems, "sample")
    other_question = "How many sheets of paper does a class of thirty use in four weeks of school?"
    with pytest.raises(InputError, match="asks another question"):
        matcher.find(Reference(position=0, question=other_question))
    problem = matcher.problems[0]
    for question in (problem.question[:50], f"Question: {problem.question}\nAnswer:", "A farmer"):
        assert matcher.find(Reference(position=0, question=question)) is problem


@pytest.mark.parametrize(
    ("reference", "index"),
    [
        (Reference(position=0), 0),
        (Reference(position=19), 19),
        (Reference(id="12"), 12),
        (Reference(id="0001"), 1),
        (Reference(id="gsm8k-12"), 12),
        (Reference(id="gsm8k/test/00012"), 12),
        (Reference(question="Question 7?"), 7),
        (Reference(question=" Question \n 7?"), 7),
        (Reference(position=7, question="Question 7?"), 7),
        (Reference(position=7, question="worded in another way"), 7),
        (Reference(id="0007", question="Question 7?"), 7),
        (Reference(id="abc", question="Question 7?"), 7),
        # A log that carries its answers numbers its documents in its own way.
        (Reference(position=3, question="Question 7?", answer="#### 7"), 7),
        (Reference(position=300, question="Question 7?", answer="7"), 7),
    ],
)
def test_the_problem_that_is_meant(reference: Reference, index: int) -> None:
    """Index, ids with and without zeros or a prefix, and the question find a problem."""
    assert NUMBERS.find(reference) is numbered.PROBLEMS[index]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (Reference(position=20), "has the index 20, but 'numbers' has rows 0 to 19"),
        (Reference(position=-1), "has the index -1, but 'numbers' has rows 0 to 19"),
        (Reference(position=20, question="Question 7?"), "has the index 20"),
        (Reference(id="0020"), "has the id '0020', which is not in 'numbers' (rows 0 to 19)"),
        (Reference(id="gsm8k12"), "has the id 'gsm8k12', which is not in"),
        (Reference(id="9" * 10**6), "has the id '99999"),
        (Reference(id=""), "has the id ''"),
        (Reference(question="Another?"), "has a question that is not in 'numbers': 'Another?'"),
        (Reference(id="0007", question="Another?"), "has a question that is not in 'numbers'"),
        (
            Reference(position=7, question="Question 8?"),
            "names problem '7', but its question is that of '8'",
        ),
        (
            Reference(id="7", question="Question 8?"),
            "names problem '7', but its question is that of '8'",
        ),
    ],
)
def test_a_problem_that_is_not_there(reference: Reference, message: str) -> None:
    """Nothing is guessed: the message shows the value and what the dataset holds."""
    with pytest.raises(InputError) as caught:
        NUMBERS.find(reference)
    assert str(caught.value).startswith(message)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("answer", ["70", "so\n#### 70"])
def test_a_log_of_another_dataset_brings_its_own_problem(answer: str) -> None:
    """A question that we do not hold is scored by the answer that the log carries."""
    problem = NUMBERS.find(Reference(position=3, question="AIME 1?", answer=answer))
    assert (problem.question, problem.gold) == ("AIME 1?", "70")
    again = NUMBERS.find(Reference(position=9, question="AIME 1?", answer=answer))
    other = NUMBERS.find(Reference(position=3, question="AIME 2? \ud800", answer=answer))
    assert problem.id == again.id != other.id


def test_a_log_without_an_answer_is_told() -> None:
    """An empty answer is no gold."""
    with pytest.raises(InputError, match="has no '#### N'"):
        NUMBERS.find(Reference(question="AIME 1?", answer=" "))
