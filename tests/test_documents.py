"""Every function, snippet, constant and pitfall of document 1, under its own name.

Document 1 describes the evaluation protocol of GSM8K. Document 2 describes a benchmark class:
tests/integrations/test_benchmark.py.
"""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import gradeschool
from gradeschool import (
    Problem,
    answers_match,
    extract_answer,
    format_chat,
    get_protocol,
    get_scorer,
    is_correct,
    judge,
    load_gsm8k,
    majority_vote,
    normalize,
    parse_gsm8k_answer,
)
from gradeschool.errors import InputError, UnknownNameError
from gradeschool.prompts import CHAT_SYSTEM
from gradeschool.protocols import multi_pattern
from gradeschool.protocols import openai as official
from gradeschool.protocols.extractions import MARKED
from gradeschool.verdict import Outcome

Problems = Sequence[Problem]
NATALIA = (
    "Natalia sold 48/2 = <<48/2=24>>24 clips in May.\n"
    "Natalia sold 48+24 = <<48+24=72>>72 clips altogether.\n#### 72"
)
COMMA_ROWS = (146, 201, 230, 249, 505, 610, 611, 640, 642, 819, 829, 997, 1009, 1206)
LARGE_ROWS = (
    *(201, 230, 266, 313, 325, 343, 373, 409, 582, 611),
    *(641, 649, 657, 715, 796, 1043, 1086, 1293),
)


def test_every_name_of_the_documents_is_importable_from_gradeschool() -> None:
    names = [
        *("load_gsm8k", "parse_gsm8k_answer", "detect_answer_failure", "format_chat"),
        *("extract_answer", "is_correct", "normalize", "answers_match", "majority_vote"),
        "GSM8KBenchmark",
    ]
    assert set(names) <= set(gradeschool.__all__)
    assert all(callable(getattr(gradeschool, name)) for name in names)


# Document 1: the dataset at a glance


def test_load_gsm8k_gives_7473_train_and_1319_test_problems(
    gsm8k_train: Problems, gsm8k_test: Problems
) -> None:
    assert (len(gsm8k_train), len(gsm8k_test)) == (7_473, 1_319)
    assert len(gsm8k_train) + len(gsm8k_test) == 8_792
    assert load_gsm8k() == load_gsm8k(split="test", config="main") == list(gsm8k_test)
    assert [problem.id for problem in gsm8k_test] == [str(index) for index in range(1_319)]


@pytest.mark.official
def test_rows_have_the_fields_question_and_answer(gsm8k_test: Problems) -> None:
    example = gsm8k_test[0]
    assert example["question"].startswith("Janet’s ducks lay 16 eggs per day.")
    assert example["answer"].endswith("\n#### 18")
    with pytest.raises(KeyError):
        example["gold"]


def test_the_ground_truth_snippet_is_the_gold_of_every_row(
    gsm8k_train: Problems, gsm8k_test: Problems
) -> None:
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
def test_another_split_or_config_is_refused_with_the_names_there_are(
    split: str, config: str, hint: str
) -> None:
    with pytest.raises(UnknownNameError, match=hint):
        load_gsm8k(split, config)


def test_the_large_golds_and_those_with_commas_are_these(
    gsm8k_train: Problems, gsm8k_test: Problems
) -> None:
    def rows(problems: Problems, holds: Callable[[str], bool]) -> tuple[int, ...]:
        return tuple(row for row, problem in enumerate(problems) if holds(problem.gold))

    assert rows(gsm8k_test, lambda gold: "," in gold) == COMMA_ROWS
    assert len(rows(gsm8k_train, lambda gold: "," in gold)) == 79
    assert rows(gsm8k_test, lambda gold: abs(int(normalize(gold))) >= 100_000) == LARGE_ROWS
    assert len(rows(gsm8k_train, lambda gold: abs(int(normalize(gold))) >= 100_000)) == 80
    assert max(int(normalize(problem.gold)) for problem in gsm8k_test) == 2_880_000


# Document 1: the official pattern


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
def test_extract_answer_is_the_official_one_quirks_included(
    completion: str, extracted: str
) -> None:
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


# Document 1: multi-pattern extraction, normalisation, comparison


def test_patterns_are_the_documented_ones() -> None:
    from gradeschool.protocols import lm_eval

    assert (MARKED.pattern, official.INVALID) == (r"#### (\-?[0-9\.\,]+)", "[invalid]")
    assert lm_eval.FLEXIBLE_PATTERN.pattern == r"(-?[$0-9.,]{2,})|(-?[0-9]+)"
    assert multi_pattern.HASHES.pattern == r"####\s*([\d,.\-]+)"
    assert (
        multi_pattern.ANSWER_IS.pattern == r"[Tt]he\s+(?:final\s+)?answer\s+is[:\s]*\$?([\d,.\-]+)"
    )
    assert multi_pattern.ANSWER_COLON.pattern == r"(?i)answer\s*:\s*\$?([\d,.\-]+)"
    assert multi_pattern.NUMBER.pattern == r"(-?[\d,]+\.?\d*)"


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
def test_the_forms_that_models_write_are_read_by_the_parser_and_by_the_documented_scorer(
    text: str,
) -> None:
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


# Document 1: evaluation methodology and prompts


def first_prompt(name: str, problem: Problem) -> gradeschool.Prompt:
    """The prompt of one problem under a protocol, with the protocol's own shots."""
    protocol = get_protocol(name)
    shots = gradeschool.load_dataset(protocol.shots).problems if protocol.shots else ()
    return next(iter(protocol.render([problem], shots)))


def test_the_configurations_of_the_table_are_protocols() -> None:
    shots = {"zero-shot/chat": 0, "zero-shot/cot": 0, "lm-eval/gsm8k": 5, "lm-eval/gsm8k-cot": 8,
             "inspect/gsm8k": 10}  # fmt: skip
    assert {name: get_protocol(name).shot_count for name in shots} == shots
    decoding = get_protocol("lm-eval/gsm8k").decoding
    assert (decoding.temperature, decoding.stop) == (0.0, ("Question:", "</s>", "<|im_end|>"))


def test_prompts_have_the_documented_formats(gsm8k_test: Problems) -> None:
    problem = gsm8k_test[0]
    names = ("lm-eval/gsm8k", "lm-eval/gsm8k-cot", "zero-shot/cot")
    five, eight, none = (first_prompt(name, problem).text or "" for name in names)
    assert five.endswith(f"\n\nQuestion: {problem.question}\nAnswer:")
    assert five.count("Question: ") == five.count("\nAnswer:") == five.count("\n#### ") + 1 == 6
    assert eight.endswith(f"\n\nQ: {problem.question}\nA:")
    assert eight.count("Q: ") == eight.count("\nA:") == eight.count("The answer is ") + 1 == 9
    assert "####" not in eight
    assert none == f"Q: {problem.question}\nA: Let's think step by step."
    system, user = first_prompt("inspect/gsm8k", problem).messages
    assert (system.role, user.role) == ("system", "user")
    assert system.content.count("\n\nANSWER: ") == 10
    assert '"ANSWER: $ANSWER" (without quotes)' in user.content and problem.question in user.content


def test_format_chat_gives_messages_for_apply_chat_template(gsm8k_test: Problems) -> None:
    question = gsm8k_test[0].question
    messages = format_chat(question)
    assert messages == [
        {"role": "system", "content": CHAT_SYSTEM},
        {"role": "user", "content": question},
    ]
    assert CHAT_SYSTEM.startswith("Solve the following math problem step by step. ")
    sent = first_prompt("zero-shot/chat", gsm8k_test[0]).messages
    assert [message._asdict() for message in sent] == messages


def test_format_chat_takes_shots_a_prefix_and_no_system_message() -> None:
    assert format_chat("q?", system=None) == [{"role": "user", "content": "q?"}]
    roles = [m["role"] for m in format_chat("q?", shots=[("a?", "1"), ("b?", "2")], prefix="It is")]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user", "assistant"]
    assert format_chat("q?", None, prefix="It is")[-1]["content"] == "It is"


# Document 1: pitfalls


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("16 - 3 = 13, 13 - 4 = 9, 9 * 2 = 18", "18"),  # the last number counts, not the first
        *((text, "42") for text in ("$42", "42 dollars", "The answer is $42.", "#### 42 dollars")),
        ("The answer is 1,234.", "1234"),
        ("The answer is 42.0", "42"),
        ("Therefore $\\boxed{42}$.", "42"),
        ("I write #### 5 when done.\n#### 42", "42"),  # of several markers the last counts
    ],
)
def test_pitfalls_of_reading_are_avoided(text: str, read: str) -> None:
    assert parse_gsm8k_answer(text) == read


def test_every_protocol_answers_the_reporting_checklist() -> None:
    for name, protocol in gradeschool.all_protocols().items():
        assert bool(protocol.shots) is (protocol.shot_count > 0), name
        assert protocol.scorers, name
        assert [get_scorer(scorer).summary for scorer in protocol.scorers], name
        assert protocol.summary, name
        assert protocol.source, name
