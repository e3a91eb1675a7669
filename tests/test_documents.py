"""The functions and snippets of document 1, the protocol of GSM8K, under their own names.

Then the benchmark class that document 2 describes.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import gradeschool
from gradeschool import (
    GradeschoolError,
    GSM8KBenchmark,
    Problem,
    answers_match,
    extract_answer,
    format_chat,
    get_protocol,
    is_correct,
    judge,
    load_gsm8k,
    majority_vote,
    normalize,
    parse_gsm8k_answer,
)
from gradeschool.errors import InputError, UnknownNameError
from gradeschool.prompts import CHAT_SYSTEM
from gradeschool.scorer import Outcome

Problems = Sequence[Problem]
NATALIA = (
    "Natalia sold 48/2 = <<48/2=24>>24 clips in May.\n"
    "Natalia sold 48+24 = <<48+24=72>>72 clips altogether.\n#### 72"
)


def test_every_name_of_the_documents_is_importable_from_gradeschool() -> None:
    names = [
        *("load_gsm8k", "parse_gsm8k_answer", "detect_answer_failure", "format_chat"),
        *("extract_answer", "is_correct", "normalize", "answers_match", "majority_vote"),
        "GSM8KBenchmark",
    ]
    assert set(names) <= set(gradeschool.__all__)
    assert all(callable(getattr(gradeschool, name)) for name in names)


def test_gsm8k_has_7473_and_1319_problems(gsm8k_train: Problems, gsm8k_test: Problems) -> None:
    assert (len(gsm8k_train), len(gsm8k_test)) == (7_473, 1_319)
    assert len(gsm8k_train) + len(gsm8k_test) == 8_792
    assert load_gsm8k() == load_gsm8k(split="test", config="main") == list(gsm8k_test)
    assert [problem.id for problem in gsm8k_test] == [str(index) for index in range(1_319)]


def test_the_ground_truth_snippet_gives_golds(gsm8k_train: Problems, gsm8k_test: Problems) -> None:
    for example in (*gsm8k_train, *gsm8k_test):
        truth = example["answer"].split("####")[-1].strip().replace(",", "")
        assert truth == example.gold.replace(",", "") == extract_answer(example["answer"])
        assert example["answer"].count("####") == 1


def test_the_socratic_config_holds_sub_questions_and_the_same_golds(gsm8k_test: Problems) -> None:
    socratic = load_gsm8k(config="socratic")
    assert [problem.question for problem in socratic] == [p.question for p in gsm8k_test]
    assert [problem.gold for problem in socratic] == [problem.gold for problem in gsm8k_test]
    assert all(" ** " in problem.solution for problem in socratic)
    assert load_gsm8k("test", "socratic") == socratic


@pytest.mark.parametrize(
    ("split", "config", "hint"),
    [("tset", "main", "gsm8k:test"), ("test", "mian", "main"), ("train", "socratic", "gsm8k")],
)
def test_another_split_is_refused_with_the_names(split: str, config: str, hint: str) -> None:
    with pytest.raises(UnknownNameError, match=hint):
        load_gsm8k(split, config)


@pytest.mark.parametrize(
    ("completion", "extracted"),
    [
        (NATALIA, "72"),
        ("#### 1,200", "1200"),
        ("#### -10", "-10"),
        ("#### 18.", "18."),
        ("#### 18.00", "18.00"),
        ("#### 18\nor\n#### 20", "18"),
        ("The answer is 42.", "[invalid]"),
        ("####18", "[invalid]"),
        ("#### $18", "[invalid]"),
        ("#### **18**", "[invalid]"),
        ("#### +18", "[invalid]"),
        ("####\n18", "[invalid]"),
        ("", "[invalid]"),
        ("#### " + "9" * 10_000, "9" * 10_000),
    ],
    ids=lambda text: ascii(text[:20]),
)
def test_extract_answer_has_the_official_quirks(completion: str, extracted: str) -> None:
    assert extract_answer(completion) == extracted


def test_is_correct_compares_strings_with_a_row_or_a_problem(gsm8k_test: Problems) -> None:
    row = {"question": "?", "answer": NATALIA}
    assert is_correct("so\n#### 72", row)
    assert not is_correct("so\n#### 72.0", row)
    assert not is_correct("The answer is 72.", row)
    assert is_correct("#### 18", gsm8k_test[0])
    assert all(is_correct(problem.solution, problem) for problem in gsm8k_test)
    assert judge("so\n#### 72.0", NATALIA, scorer="openai/2021").outcome is Outcome.WRONG


def test_is_correct_refuses_a_row_without_a_gold_as_the_official_assert_does() -> None:
    with pytest.raises(InputError, match="'no gold here'"):
        is_correct("#### 72", {"answer": "no gold here"})
    rows: list[Any] = ["72", 72, None, ["72"], {"question": "?"}]
    for gold in rows:
        with pytest.raises(InputError, match=r"not a GSM8K row: .*gradeschool\.judge"):
            is_correct("#### 72", gold)


FORMS_OF_MODELS = {
    "The answer is 42.": "42",
    "**42**": "42",
    r"\boxed{42}": "42",
    "6 times 7 is 42": "42",
    "reasoning\n#### 42": "42",
    "The final answer is: $42": "42",
    "Answer: 42": "42",
}


@pytest.mark.parametrize("text", FORMS_OF_MODELS)
def test_the_forms_that_models_write_are_read(text: str) -> None:
    assert parse_gsm8k_answer(text) == FORMS_OF_MODELS[text]
    assert judge(text, 42, scorer="multi-pattern").correct
    assert judge(text, 42, scorer="gradeschool/parse-answer").correct


def test_normalize_match_and_vote_do_what_their_document_says() -> None:
    normal = {"1,234": "1234", "42.": "42", "42.0": "42", "x": "x"}
    assert {text: normalize(text) for text in normal} == normal
    for first, second in (("72", "72.00"), ("1,234.", "1234"), ("41.9999999", "42")):
        assert answers_match(first, second)
    assert not answers_match("72", "73")
    assert not answers_match("x", "72")
    assert answers_match(extract_answer("#### 72.0"), "72")
    assert majority_vote(["18", None, "18", "20"]) == "18"
    assert majority_vote([None]) is None
    for scorer, text in (
        ("openai/2021", "#### 1234"),
        ("lm-eval/gsm8k/flexible-extract", "1,234."),
    ):
        assert judge(text, "#### 1,234", scorer=scorer).correct


def test_the_configurations_of_the_table_are_protocols() -> None:
    shots = {"zero-shot/chat": 0, "zero-shot/cot": 0, "lm-eval/gsm8k": 5, "lm-eval/gsm8k-cot": 8,
             "inspect/gsm8k": 10}  # fmt: skip
    assert {name: get_protocol(name).shot_count for name in shots} == shots
    decoding = get_protocol("lm-eval/gsm8k").decoding
    assert (decoding.temperature, decoding.stop) == (0.0, ("Question:", "</s>", "<|im_end|>"))


def test_format_chat_gives_messages_for_apply_chat_template(gsm8k_test: Problems) -> None:
    question = gsm8k_test[0].question
    messages = format_chat(question)
    assert messages == [
        {"role": "system", "content": CHAT_SYSTEM},
        {"role": "user", "content": question},
    ]
    assert CHAT_SYSTEM.startswith("Solve the following math problem step by step. ")
    (sent,) = get_protocol("zero-shot/chat").render(gsm8k_test[:1], ())
    assert sent.as_messages() == messages


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
