"""Scoring: which problem a row means, what counts once, totals, one text."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gradeschool import Outcome, Problem, Verdict, all_scorers, get_scorer, judge
from gradeschool.datasets.load import load_dataset
from gradeschool.errors import InputError, MissingExtraError, UnknownNameError
from gradeschool.formats.samples import ReadOptions, Reference, Sample, faulty
from gradeschool.scorer import Scorer, ScorerFailure
from gradeschool.scoring.matching import Matcher
from gradeschool.scoring.samples import Run, collect
from gradeschool.scoring.score import ScorerResult, score_table
from gradeschool.scoring.sources import choose_scorers, common_dataset, load_runs
from gradeschool.scoring.statistics import clustered_wilson, wilson
from gradeschool.scoring.table import scored_table
from gradeschool.verdict import Answer
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.numbered import PROBLEMS

MATCHER = Matcher(PROBLEMS, "numbers")
READER = get_scorer("openai/2021")


# Matching


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
    assert MATCHER.find(reference) is PROBLEMS[index]


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
        MATCHER.find(reference)
    assert str(caught.value).startswith(message)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("answer", ["70", "so\n#### 70"])
def test_a_log_of_another_dataset_brings_its_own_problem(answer: str) -> None:
    """A question that we do not hold is scored by the answer that the log carries."""
    problem = MATCHER.find(Reference(position=3, question="AIME 1?", answer=answer))
    assert (problem.question, problem.gold) == ("AIME 1?", "70")
    again = MATCHER.find(Reference(position=9, question="AIME 1?", answer=answer))
    other = MATCHER.find(Reference(position=3, question="AIME 2? \ud800", answer=answer))
    assert problem.id == again.id != other.id


def test_a_log_without_an_answer_is_told() -> None:
    """An empty answer is no gold."""
    with pytest.raises(InputError, match="has no '#### N'"):
        MATCHER.find(Reference(question="AIME 1?", answer=" "))


# Collecting


def recorded(row: int, index: int, text: str, sample: int = -1, run: str = "r") -> Sample:
    return Sample(row, run, text, Reference(position=index), sample)


def collected(*rows: Sample) -> tuple[list[Run], list[str]]:
    notes: list[str] = []
    return collect(rows, MATCHER, "f.jsonl", notes.append), notes


def test_faults_are_errors_with_their_row() -> None:
    """A row that cannot be used is counted, told, and never a wrong answer."""
    [run], notes = collected(
        recorded(1, 0, "#### 0"), faulty(2, "r", "is bad"), recorded(3, 99, "#### 0")
    )
    assert run.faults == 2
    assert [(sample.problem is None, sample.row) for sample in run.samples] == [
        (False, 1),
        (True, 2),
        (True, 3),
    ]
    score = score_table(scored_table(run, [READER])).scorers[0]
    assert (score.correct, score.wrong, score.no_answer, score.error) == (1, 0, 0, 2)
    assert score.accuracy == 1.0
    assert notes[0] == "row 2 of 'f.jsonl' is bad"
    assert notes[1].startswith(
        "row 3 of 'f.jsonl' has the index 99, but 'numbers' has rows 0 to 19"
    )


def test_no_usable_row_is_an_error() -> None:
    """A score of nothing is no score."""
    with pytest.raises(InputError, match=r"no row of 'f\.jsonl' can be used"):
        collected(faulty(1, "r", "is bad"))


# Scores


def scored(*outcomes: tuple[int, Outcome]) -> ScorerResult:
    """Score samples (problem, outcome) with a scorer that reads the outcome from the text."""

    def read(text: str, reference: str) -> Answer | None:
        if text == Outcome.ERROR:
            raise ScorerFailure(text)
        return None if text == Outcome.NO_ANSWER else Answer(text, text, None, "")

    scorer = Scorer("test", "", "", lambda _: "", read, lambda value, _: value == Outcome.CORRECT)
    samples = [
        Sample(1, problem=PROBLEMS[index], sample=0, text=outcome) for index, outcome in outcomes
    ]
    return score_table(scored_table(Run("r", samples), [scorer])).scorers[0]


RIGHT, WRONG, SILENT, ERROR = Outcome.CORRECT, Outcome.WRONG, Outcome.NO_ANSWER, Outcome.ERROR


def test_totals() -> None:
    """Errors stand beside the accuracy; no answer counts as not right."""
    score = scored((0, RIGHT), (1, WRONG), (2, SILENT), (3, ERROR), (4, RIGHT))
    assert (score.correct, score.wrong, score.no_answer, score.error) == (2, 1, 1, 1)
    assert score.accuracy == 0.5
    assert score.ci95 == wilson(2, 4)


def test_totals_of_several_samples() -> None:
    """The interval goes by problems: a sample more of the same problem is no new problem."""
    score = scored(*((index, outcome) for index in range(6) for outcome in (RIGHT, RIGHT, WRONG)))
    assert score.accuracy == pytest.approx(2 / 3)
    assert score.ci95 == clustered_wilson([(2, 3)] * 6)


def test_totals_of_errors_alone() -> None:
    """Without one judged sample the interval is every_row."""
    score = scored((0, ERROR))
    assert (score.accuracy, score.ci95) == (0.0, (0.0, 1.0))


def test_a_gold_that_a_scorer_cannot_read_is_an_error() -> None:
    """The published code would fail on the problem, so there is no verdict; failed requests too."""

    def reference(problem: Problem) -> str:
        raise ScorerFailure("no")

    scorer = Scorer("test", "", "", reference, lambda *_: None, lambda *_: True)
    samples = [
        Sample(1, problem=PROBLEMS[0], sample=0, text="a"),
        Sample(2, problem=PROBLEMS[0], sample=1, text="", error="timeout"),
    ]
    assert score_table(scored_table(Run("r", samples), [scorer])).scorers[0].error == 2
    assert score_table(scored_table(Run("r", samples), [READER])).scorers[0].error == 1


def test_score_as_json() -> None:
    """The shape that `gradeschool score --json` promises."""
    run = Run(
        "r",
        [
            Sample(1, problem=PROBLEMS[3], sample=0, text="#### 3"),
            Sample(2, sample=0, text="", error="bad"),
        ],
    )
    low, high = wilson(1, 1)
    assert score_table(scored_table(run, [READER])).as_json() == {
        "run": "r",
        "n": 2,
        "forms": {"n": 1, "empty": 0, "truncated": 0, "run_on": 0, "thinking": 0},
        "scorers": {
            "openai/2021": {
                "correct": 1,
                "wrong": 0,
                "no_answer": 0,
                "error": 1,
                "accuracy": 1.0,
                "ci95": [low, high],
            }
        },
    }


def test_choosing_scorers() -> None:
    """By default all of the dataset that call no library; a name twice is one scorer."""
    usual = choose_scorers([])
    plain = [scorer for scorer in all_scorers().values() if not scorer.extra]
    assert usual == [scorer for scorer in plain if not scorer.dataset]
    german = {scorer.name for scorer in choose_scorers([], "mgsm:de")}
    assert german > {scorer.name for scorer in usual}
    assert "lm-eval/mgsm-native-cot-de/strict-match" in german
    assert "lm-eval/mgsm-native-cot-fr/strict-match" not in german
    assert (
        set(usual) <= set(choose_scorers(["multi-pattern", "all"])) <= set(all_scorers().values())
    )
    assert [scorer.name for scorer in choose_scorers(["openai/2021"] * 2)] == ["openai/2021"]
    with pytest.raises(UnknownNameError, match="'openai/2022'; did you mean openai/2021"):
        choose_scorers(["openai/2022"])


def test_the_dataset_of_a_run_folder_chooses_its_scorers(
    tmp_path: Path,
) -> None:
    """A run says what it was asked; several of different sets have none in common."""
    for name in ("sample", "exemplars"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(json.dumps({"dataset": {"name": name}}))
    folders = [str(tmp_path / name) for name in ("sample", "exemplars")]
    assert common_dataset(folders[:1], None) == "sample"
    assert common_dataset(folders[:1], "mgsm:de") == "mgsm:de"
    assert common_dataset(folders, None) is None


def test_a_scorer_whose_extra_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its name it is one line with the pip command; in "all" it is left out."""
    monkeypatch.setattr("gradeschool.protocols.registry.is_installed", lambda name: False)
    name = "math-verify/default"
    with pytest.raises(MissingExtraError, match=r"pip install 'gradeschool\[math-verify\]'"):
        choose_scorers([name])
    without_extra = [scorer for scorer in all_scorers().values() if not scorer.extra]
    assert choose_scorers(["all"]) == without_extra


# One text


@pytest.mark.parametrize(
    "gold",
    [
        "1,250",
        "1250",
        1250,
        "so\n#### 1,250",
        Problem.from_gold("1250"),
        {"question": "How?", "answer": "so\n#### 1,250"},
    ],
)
def test_judge_takes_a_gold_in_any_form(gold: Any) -> None:
    """The number, the solution, a row and a problem give the same verdict."""
    assert judge("#### 1,250", gold, scorer="openai/2021").correct
    verdict = judge("#### 1,251", gold, scorer="openai/2021")
    assert verdict == Verdict(
        "openai/2021",
        Outcome.WRONG,
        Answer("1,251", "1251", (5, 10), "the first '#### N'"),
        "the first '#### N': '1251' is not '1250'",
    )


def test_judge_keeps_signs() -> None:
    """-10 is not 10."""
    assert judge("#### -10", -10, scorer="openai/2021").correct
    assert not judge("#### 10", -10, scorer="openai/2021").correct


@pytest.mark.parametrize(
    "gold", ["", "  ", "so ####", {"question": "How?"}, pytest.param(10**5000, id="long")]
)
def test_judge_refuses_a_gold_that_is_none(gold: Any) -> None:
    """An empty gold would make every empty answer right."""
    with pytest.raises(InputError):
        judge("#### 1", gold)


@pytest.mark.parametrize("text", [None, 18, b"18", ["18"], float("nan")])
def test_judge_refuses_what_is_no_text(text: Any) -> None:
    """A column of a data frame holds None and NaN; the message shows the value."""
    with pytest.raises(InputError, match=r"the completion is a \w+: .*; give its text"):
        judge(text, "18")


@pytest.mark.parametrize(
    ("name", "close"),
    [
        ("multipattern", "multi-pattern"),
        ("lm-eval", "lm-eval/aime or "),  # what begins with it, the shortest first
        ("openai/2021/strict", "openai/2021"),
    ],
)
def test_judge_names_close_scorers(name: str, close: str) -> None:
    """A misspelt scorer is answered with the names that are near."""
    with pytest.raises(UnknownNameError, match=f"did you mean {close}"):
        judge("1", 1, scorer=name)


# The figures of the sources


@pytest.fixture(scope="module")
def published(data: Path) -> dict[str, dict[str, ScorerResult]]:
    """Every scorer over the solutions that OpenAI published: run -> scorer -> score."""
    runs = load_runs(data / "completions" / "openai_example.jsonl", ReadOptions(), pytest.fail)
    scores = [score_table(scored_table(run, choose_scorers([]))) for run in runs]
    return {score.run: {scorer.scorer: scorer for scorer in score.scorers} for score in scores}


FLAGS = {
    "6b_finetuning": 286,
    "6b_verification": 515,
    "175b_finetuning": 458,
    "175b_verification": 742,
}


@pytest.mark.official
@pytest.mark.parametrize(
    "scorer",
    [
        "openai/example-solutions",
        "lm-eval/gsm8k/flexible-extract",
        "inspect/match-numeric@>=0.3.253",
    ],
)
def test_the_sources_own_flags(published: dict[str, dict[str, ScorerResult]], scorer: str) -> None:
    """Three scorers find what the source's `is_correct` flags say: 21.7, 39.0, 34.7 and 56.3 %."""
    assert {run: scorers[scorer].correct for run, scorers in published.items()} == FLAGS
    assert {
        sum(scorers[scorer].as_json()[name] for name in Outcome) for scorers in published.values()
    } == {1319}


@pytest.mark.official
def test_scorers_that_differ_on_the_published_solutions(
    published: dict[str, dict[str, ScorerResult]],
) -> None:
    """The official extractor reads none; OLMES loses signs (8 more); OpenCompass splits commas."""
    for scorers in published.values():
        assert scorers["openai/2021"].no_answer == 1319
        assert scorers["openai/2021"].correct == 0
    olmes = sum(scorers["olmes/gsm8k-tulu"].correct for scorers in published.values())
    assert olmes == sum(FLAGS.values()) + 8
    assert published["175b_finetuning"]["opencompass/gsm8k"].correct == 456


@pytest.mark.official
def test_each_of_the_sources_flags(data: Path, gsm8k_test: Sequence[Problem]) -> None:
    """Completion by completion `openai/example-solutions` says what the source says."""
    from gradeschool.formats.tables import read_rows

    scorer = get_scorer("openai/example-solutions")
    differ = [
        row.number
        for row in read_rows(data / "completions" / "openai_example.jsonl")
        if scorer.judge(row.fields["completion"], gsm8k_test[row.fields["index"]]).correct
        != row.fields["reported_correct"]
    ]
    assert differ == []


def test_two_golds_of_a_question_in_a_file_are_reported(
    gradeschool: Command, tmp_path: Path
) -> None:
    file = tmp_path / "golds.csv"
    question = "Ann plants 2 roses and 3 tulips. How many flowers does she plant?"
    file.write_text(f"question,response,gold\n{question},#### 5,5\n{question},#### 6,6\n")
    result = gradeschool("score", file, "--scorer", "openai/2021")
    assert "gives the gold '6' to a problem that an earlier row gives '5'" in result.err


@pytest.mark.parametrize("jobs", [1, 2])
def test_files_with_golds_of_their_own_under_the_same_row_numbers(
    gradeschool: Command, tmp_path: Path, jobs: int
) -> None:
    """The same texts, right by the golds of one file and wrong by those of the other."""
    for name, off in (("a", 0), ("b", 1)):
        rows = [{"response": f"#### {n * 7}", "gold": str(n * 7 + off)} for n in range(2000, 2012)]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text, "utf-8")
    scored = gradeschool(
        "score", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--scorer", "openai/2021",
        "--jobs", jobs, "--json",
    ).json()["runs"]  # fmt: skip
    assert [run["scorers"]["openai/2021"]["correct"] for run in scored] == [12, 0]
