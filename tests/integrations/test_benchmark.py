"""Tests the benchmark class, which scores one output at a time."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gradeschool import GradeschoolError, GSM8KBenchmark, Problem, normalize
from gradeschool.errors import UnknownNameError

Problems = Sequence[Problem]
COMMA_ROWS = (146, 201, 230, 249, 505, 610, 611, 640, 642, 819, 829, 997, 1009, 1206)
WRONG: dict[str, Callable[[str], str]] = {
    "a digit before it": lambda gold: f"1{gold}",
    "the sign lost or made up": lambda gold: gold.removeprefix("-") if "-" in gold else f"-{gold}",
    "a hundred times the gold": lambda gold: str(int(normalize(gold)) * 100),
    "one more": lambda gold: str(int(normalize(gold)) + 1),
}


@pytest.fixture(scope="module")
def benchmark(data: object) -> GSM8KBenchmark:
    """The benchmark on the official test split."""
    return GSM8KBenchmark()


def test_get_task_ids_are_zero_padded_indices(benchmark: GSM8KBenchmark) -> None:
    ids = benchmark.get_task_ids()
    assert ids == [f"{index:04d}" for index in range(1_319)]


def test_a_task_holds_question_and_answer(benchmark: GSM8KBenchmark, gsm8k_test: Problems) -> None:
    task = benchmark.get_task("0001")
    assert (task.task_id, task.benchmark) == ("0001", "GSM8K")
    assert task.question == task.data["question"] == gsm8k_test[1].question
    assert task.answer == task.data["answer"] == gsm8k_test[1].solution


@pytest.mark.parametrize("task_id", ["1319", "0", "", "abcd"])
def test_an_unknown_task_is_refused_with_ids(benchmark: GSM8KBenchmark, task_id: str) -> None:
    with pytest.raises(UnknownNameError, match="0000 to 1318"):
        benchmark.evaluate(task_id, "#### 18")
    with pytest.raises(GradeschoolError):
        benchmark.get_task(task_id)


def test_every_reference_solution_scores_1(benchmark: GSM8KBenchmark, gsm8k_test: Problems) -> None:
    scores = [
        benchmark.evaluate(task_id, problem.solution).score
        for task_id, problem in zip(benchmark.get_task_ids(), gsm8k_test, strict=True)
    ]
    assert scores == [1.0] * 1_319


def test_commas_in_golds_do_not_matter(benchmark: GSM8KBenchmark, gsm8k_test: Problems) -> None:
    for row in COMMA_ROWS:
        gold = gsm8k_test[row].gold
        for written in (gold, gold.replace(",", ""), f"${gold}.00", f"{gold}."):
            result = benchmark.evaluate(f"{row:04d}", f"So it is\n#### {written}")
            assert result.score == 1.0, written
        cut = benchmark.evaluate(f"{row:04d}", f"#### {gold.partition(',')[0]}")
        assert cut.score == 0.0


@pytest.mark.parametrize("fault", WRONG)
def test_near_misses_score_0(benchmark: GSM8KBenchmark, gsm8k_test: Problems, fault: str) -> None:
    scores = [
        benchmark.evaluate(task_id, f"so\n#### {WRONG[fault](problem.gold)}").score
        for task_id, problem in zip(benchmark.get_task_ids(), gsm8k_test, strict=True)
    ]
    assert scores == [0.0] * 1_319


def test_the_explanation_says_what_was_read(benchmark: GSM8KBenchmark) -> None:
    right = benchmark.evaluate("0000", "She makes $18.\n#### 18")
    wrong = benchmark.evaluate("0000", "She makes $19.\n#### 19")
    whole = benchmark.evaluate("0000", "The answer is 18")
    assert right.score_explanation == "Correct: read '18' after '####'"
    assert wrong.score_explanation == "Incorrect, expected 18: read '19' after '####'"
    assert "'The answer is 18' as the whole output" in whole.score_explanation
    assert (right.score, wrong.score, whole.score) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "output",
    [
        *("#### " + "9" * 10_000, "9" * 10_000, r"\boxed{inf}", "#### inf", "#### nan", "nan"),
        *("#### 1e999999999", "####" * 100_000, "\ud800", "\x00", "#### ٣٣"),
    ],
    ids=lambda output: ascii(output[:12]),
)
def test_no_output_makes_the_evaluation_raise(benchmark: GSM8KBenchmark, output: str) -> None:
    assert benchmark.evaluate("0000", output).score == 0.0


def test_what_was_thought_before_the_reply_is_not_the_answer(benchmark: GSM8KBenchmark) -> None:
    for reply in ("\nThe answer is 1.", "1", " I don't know"):
        assert benchmark.evaluate("0000", f"<think>Maybe #### 18? no.</think>{reply}").score == 0.0
    assert benchmark.evaluate("0000", "<think>#### 1</think>\n#### 18").score == 1.0
    assert benchmark.evaluate("0000", "<think>9 * 2\n#### 18</think>\n").score == 1.0  # no reply


def test_the_benchmark_takes_a_folder_a_file_and_what_is_shipped(tmp_path: Path) -> None:
    folder = tmp_path
    row = '{"question": "How many cups?", "answer": "5 * 2 * 3 = 30.\\n#### 30"}\n'
    (folder / "test.jsonl").write_text(row, encoding="utf-8")
    for source in (folder, folder / "test.jsonl", str(folder)):
        benchmark = GSM8KBenchmark(source)
        assert benchmark.get_task_ids() == ["0000"]
        # The three calls of the document, on the problem that they are about.
        assert benchmark.evaluate("0000", "Janet has 5 dogs. 10 * 3 = 30 cups.\n#### 30").score == 1
        assert benchmark.evaluate("0000", "The answer is 30").score == 0
        assert benchmark.evaluate("0000", "Janet needs 30 cups of dog food.\n#### 30").score == 1
    assert len(GSM8KBenchmark("sample").get_task_ids()) == 48
