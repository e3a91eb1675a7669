"""The answer extractor against people, on wrong answers near the gold, on any text."""

import json
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gradeschool import Problem, get_scorer
from gradeschool.answers.extractor import Confidence, extract_final_answer
from gradeschool.answers.quantities import (
    quantities,
    same_answer,
    same_value,
)
from gradeschool.verdict import Outcome

SCORER = "gradeschool/reader"
READ_BY_HAND, ALONE, INVENTED = (
    Path(__file__).with_name(f"{name}.jsonl") for name in ("read_by_hand", "alone", "invented")
)
CENTS = "A bottle of 240 pumps costs $24. How much does each pump cost, in cents?"
MINUTES = "He reads 3 books of 2 hours. How many minutes does he read?"
TICKETS = "Tickets cost $6 each. How much will she pay for 3 tickets?"
CARS = (
    "30 cars stood there in the first 15 minutes. How many cars drove on in the first 15 minutes?"
)
DOWNLOAD = "The download takes 100 minutes and starts over once. How long does it take, in minutes?"
BUS = "A bus starts with 32 people. 8 get off and 5 get on. How many people are on the bus now?"
GLASSES = "One glass costs $5, the second $3. How much does he need to pay for 16 glasses?"
DUCKS = "She sells the eggs for $2 each. How much in dollars does she make every day?"
SPEED = "A car travels 150 miles in 2.5 hours. What is its average speed in miles per hour?"
CRAYONS = (
    "Tom had 3 boxes of 24 crayons. He gave away 15 crayons. How many crayons does Tom have left?"
)


class QuestionCase(NamedTuple):
    """A completion whose reading depends on the question."""

    question: str
    completion: str
    value: str


GAIN = "How much money does Ann make in total?"
TIMES = "How many times did Bo run?"
HENS = "How many eggs are left?"
OFFERS = "What is the cost difference?"
SEEDS = "A jar holds 240 seeds. How many seeds does Ann have in total?"
CASES = (
    QuestionCase(SEEDS, "So the total over three jars is:\n\n\\[\n720\n\\]", "720"),
    QuestionCase(
        OFFERS, "The cost difference is $200. One costs $450, while one costs $250.", "200"
    ),
    QuestionCase(GAIN, "Since she sold 24 and 18, the total she makes is 126.", "126"),
    QuestionCase(
        GAIN, "Answer: 24 * 3 = 72 dollars at noon. She made 72 + 54 = 126 dollars.", "126"
    ),
    QuestionCase(MINUTES, r"\boxed{6 \text{ hours}} = 360 minutes", "360"),
    QuestionCase(CENTS, r"24 / 240 = \boxed{0.10}. Therefore, each pump costs 10 cents.", "10"),
    QuestionCase(CENTS, "The answer is $0.10 or 10 cents.", "10"),
    QuestionCase(MINUTES, "The answer is 6 hours (360 minutes).", "360"),
    QuestionCase(MINUTES, "So he reads 360 minutes, which is 6 hours.", "360"),
    QuestionCase(TICKETS, "She will pay $18 for 3 tickets.", "18"),
    QuestionCase(CENTS, r"\boxed{10 \text{ cents} = \$0.10}", "10"),
    QuestionCase(DOWNLOAD, "40 min + 20 min + 100 min = 160 min = 2 h 40 min", "160"),
    QuestionCase(DOWNLOAD, "160 minutes, or 2 hours and 40 minutes.", "160"),
    QuestionCase(BUS, "29 people are on the bus after 8 got off and 5 got on.", "29"),
    QuestionCase(GLASSES, "For 16 glasses he needs to pay $64: 8 at $5 and 8 at $3.", "64"),
    QuestionCase(GLASSES, "He needs to pay $64 for them, rather than $80.", "64"),
    QuestionCase(DUCKS, "Janet makes $18 a day by selling 9 eggs at $2 each.", "18"),
    QuestionCase(DUCKS, "She makes 9 x $2 = $18 per day (or $126 per week).", "18"),
    QuestionCase(SPEED, "60 mph (150 miles ÷ 2.5 hours)", "60"),
    QuestionCase(SPEED, "It was 150/2.5 = 60 miles per hour, or 1 mile per minute.", "60"),
    QuestionCase(CRAYONS, "He has 57 crayons remaining of the original 72 crayons.", "57"),
    QuestionCase(
        CRAYONS,
        "The answer is 57.\n\nA class has 30 pupils. How many are boys?\n\nThe answer is 18.",
        "57",
    ),
    QuestionCase(CARS, "5 cars drove on in the first 15 minutes.", "5"),
    QuestionCase(CARS, "So the 5 cars that drove on in the first 15 minutes were 5 cars.", "5"),
)
# Where a model may write its answer; "{}" is the number.
PLACES = (
    "#### {}", "#### ${}", r"\boxed{{{}}}", "The answer is {}.", "the final answer is {} dollars",
    "ANSWER: {}", "**Answer:** {}", "<answer>{}</answer>", "A: {}", "{}", "So she has {} left.",
    "Therefore, it takes {} hours.", "9 * 2 = {}", "In total she pays **${}**.",
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.completion[:40])
def test_the_asked_unit_and_what_was_given(case: QuestionCase) -> None:
    reading = extract_final_answer(case.completion, case.question)
    assert reading is not None
    assert reading.value == case.value
    assert same_value(next(quantities(case.completion, reading.start)).value, case.value)


NO_ANSWERS = (
    QuestionCase(GAIN, "She makes $72. Without the price of a pie it cannot be determined.", ""),
    QuestionCase(GAIN, "It is 24 * 3 = 72 at noon. Then she sells 18 pies for $3 each and", ""),
    QuestionCase(GAIN, "24 * 3 = 72. So in total, the money that she makes is", ""),
    QuestionCase(GAIN, "60 pies is a lot of pies. " * 6, ""),
    QuestionCase(BUS, BUS, ""),
    QuestionCase(BUS, "It starts with 32. How many people are on the bus now?", ""),
)


@pytest.mark.parametrize("case", NO_ANSWERS, ids=lambda case: case.completion[:40])
def test_texts_that_give_no_answer(case: QuestionCase) -> None:
    assert extract_final_answer(case.completion, case.question) is None


@pytest.mark.parametrize(
    "text",
    [
        "The answer isn't 72.",
        "The answer isn’t 72.",
        "The answer cannot be 72.",
        "The answer can't be 72.",
        "The answer is never 72.",
        "It is no longer 72.",
        "x ≠ 72",
        "So it is \\boxed{\\neq 72}.",
        "Die Antwort ist nicht 72.",
        "La respuesta no es 72.",
        "La réponse n'est pas 72.",
        "Ответ не 72.",
        "答案不是72。",
        "So it is √72.",
    ],
)
def test_a_negated_number_is_no_answer(text: str) -> None:
    assert extract_final_answer(text) is None
    before = extract_final_answer(f"48 + 22 = 70.\n{text}")
    assert before is None or before.value == "70"


def test_twice_and_none_are_numbers_where_they_were_asked_for() -> None:
    twice = extract_final_answer("So he ran twice.", TIMES)
    none = extract_final_answer("She sold 7 and ate 3. So there are no eggs left.", HENS)
    assert twice is not None
    assert none is not None
    assert (twice.value, none.value) == ("2", "0")
    assert extract_final_answer("So he ran twice.", HENS) is None


def test_the_same_question_asked_again_counts() -> None:
    again = f"It is 3.\n\nQuestion: {MINUTES}\nAnswer: 360"
    other = again.replace("3 books", "4 books")
    assert extract_final_answer(again, MINUTES)[0] == "360"  # type: ignore[index]
    assert extract_final_answer(other, MINUTES)[0] == "3"  # type: ignore[index]


def test_how_sure_a_reading_is() -> None:
    sure = {
        text: reading.confidence
        for text in ("#### 18", "So she has 18.", "She has 18", "<think>#### 18")
        if (reading := extract_final_answer(text))
    }
    assert sure == {
        "#### 18": Confidence.STATED,
        "So she has 18.": Confidence.CONCLUDED,
        "She has 18": Confidence.GUESSED,
        "<think>#### 18": Confidence.STATED,
    }
    assert extract_final_answer("<think>So she has 18.") is None


def rows_of(path: Path | Traversable) -> list[dict[str, Any]]:
    """The rows of a JSONL file."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def hand_read(path: Path, data: Path) -> list[dict[str, Any]]:
    """Hand-read cases, each with its completion and question."""
    rows = rows_of(path)
    completions = {
        name: (data / "completions" / name).read_text("utf-8").split("\n")
        for name in {row["file"] for row in rows}
    }
    questions = [row["question"] for row in rows_of(data / "gsm8k" / "test.jsonl")]
    for row in rows:
        row["completion"] = json.loads(completions[row["file"]][row["line"]])["completion"]
        row["question"] = questions[row["index"]]
    return rows


def agreement(rows: list[dict[str, Any]]) -> tuple[Counter[str], Counter[str]]:
    """How many verdicts and values of a stratum are not those of the people who read."""
    verdicts, values = Counter[str](), Counter[str]()
    for row in rows:
        reading = extract_final_answer(row["completion"], row["question"])
        ours, theirs = None if reading is None else reading.value, row["answer"]
        equal = ours == theirs or (
            ours is not None and theirs is not None and same_value(ours, theirs)
        )
        judged = [value is not None and same_answer(value, row["gold"]) for value in (ours, theirs)]
        values[row["stratum"]] += not equal
        verdicts[row["stratum"]] += judged[0] != judged[1]
    return verdicts, values


@pytest.mark.official
def test_agreement_with_people(data: Path) -> None:
    """At least 99 % of verdicts and 97 % of values where published scorers differ; all controls."""
    verdicts, values = agreement(hand_read(data / "adjudicated.jsonl", data))
    assert verdicts["control"] == values["control"] == 0
    assert verdicts["disagree"] <= 0.01 * 230
    assert values["disagree"] <= 0.03 * 230


@pytest.mark.official
def test_agreement_on_completions_read_before_the_reader_saw_them(data: Path) -> None:
    """140 on which eight scorers disagree and 60 others, drawn with seed 20261121."""
    verdicts, values = agreement(hand_read(READ_BY_HAND, data))
    assert verdicts["fresh"] == 0
    assert values["fresh"] <= 0.03 * 200


@pytest.mark.official
def test_agreement_with_people_on_strangers(data: Path) -> None:
    """Least-to-most, sub-questions, program-interleaved, self-taught: all controls, 98 %."""
    questions = [row["question"] for row in rows_of(data / "gsm8k" / "test.jsonl")]
    rows = rows_of(data / "adjudicated_strangers.jsonl")
    for row in rows:
        row["question"] = questions[row["index"]]
    verdicts, values = agreement(rows)
    assert verdicts["control"] == values["control"] == 0
    assert verdicts["disagree"] <= 0.02 * 125
    assert values["disagree"] <= 0.03 * 125


@pytest.mark.official
def test_alone_against_simple_scorers_it_is_mostly_right(data: Path) -> None:
    """100 hand-read completions in which simple scorers all read one value and it another."""
    rows = [row | {"stratum": "alone", "gold": ""} for row in hand_read(ALONE, data)]
    assert agreement(rows)[1]["alone"] <= 0.05 * len(rows)


@pytest.mark.parametrize(
    ("part", "share"),
    [
        ("seen", 0.97),
        ("apart", 0.88),
        ("second", 0.97),
        ("fourth", 0.96),
        ("fifth", 0.94),
        ("sixth", 0.92),
        ("seventh", 0.97),
        ("adversarial", 0.88),
        ("adversarial apart", 0.84),
    ],
)
def test_invented_texts(part: str, share: float) -> None:
    """Styles that no recorded model has; those apart were written with the others and not read.

    The adversarial ones were written to mislead a reader, by somebody who did not know this one.
    """
    rows = [row for row in rows_of(INVENTED) if row["set"] == part]
    missed = agreement([row | {"stratum": part, "gold": ""} for row in rows])[1][part]
    assert len(rows) > 50
    assert missed <= (1 - share) * len(rows)


def test_the_shipped_completions_are_read_as_they_were_meant() -> None:
    folder = resources.files("gradeschool.datasets") / "sample"
    questions = [row["question"] for row in rows_of(folder / "problems.jsonl")]
    missed = []
    for row in rows_of(folder / "completions.jsonl"):
        reading = extract_final_answer(row["completion"], questions[row["index"]])
        ours = None if reading is None else reading.value
        if ours != row["intended"] and not same_value(ours or "", row["intended"] or ""):
            missed.append((row["model"], row["index"], ours, row["intended"]))
    assert not missed


def near(gold: int) -> set[str]:
    """Wrong answers that a careless scorer takes for the gold."""
    digits = str(abs(gold))
    swapped = {
        digits[:index] + digits[index : index + 2][::-1] + digits[index + 2 :] for index in range(3)
    }
    wrong = {
        *(f"{gold + by}" for by in (-10, -1, 1, 10, 100)), f"{-gold}", f"{gold}0", f"{gold}00",
        f"{gold}.5", f"{gold}.01", f"0.{digits}", f"3.{digits}", f"{gold}/7", f"1{digits}",
        f"{digits[:-1]}", f"{gold}e3", f"{gold:,},000", f"1,{digits:0>3}", f"{gold}:30", *swapped,
    }  # fmt: skip
    return {value for value in wrong if value and value != "-" and not is_number(value, gold)}


def is_number(text: str, number: int) -> bool:
    """Tell by other means than ours whether a text spells a number."""
    try:
        return Fraction(text.replace(",", "")) == number
    except ValueError:
        return False


@given(st.integers(-200_000, 3_000_000), st.sampled_from(PLACES))
def test_no_wrong_answer_near_the_gold_passes(gold: int, place: str) -> None:
    scorer, problem = get_scorer(SCORER), Problem.from_gold(str(gold))
    assert scorer.judge(place.format(gold), problem).correct
    assert scorer.judge(place.format(f"{gold:,}"), problem).correct
    passed = [value for value in near(gold) if scorer.judge(place.format(value), problem).correct]
    assert not passed


def test_every_gold_in_every_place(gsm8k_test: Sequence[Problem]) -> None:
    scorer = get_scorer(SCORER)
    missed = [
        (problem.id, place)
        for problem in gsm8k_test
        for place in PLACES
        if not scorer.judge(place.format(problem.gold), problem).correct
    ]
    assert not missed


PIECES = st.sampled_from(
    (*"0123456789.,-$%/:=*#{}()\n ?", "####", r"\boxed{", r"\frac{", "answer", " is ", "```",
     "<think>", "</think>", "Q:", "A:", "one ", "hundred ", " or ", "So ", "=", "²", "½", "−",
     "\ud800", "１", "０")
)  # fmt: skip


@example("\\boxed{5/０}", "")
@given(st.lists(PIECES, max_size=40).map("".join), st.lists(PIECES, max_size=15).map("".join))
def test_it_never_raises_and_reads_what_stands_there(text: str, question: str) -> None:
    reading = extract_final_answer(text, question)
    if reading is not None:
        assert 0 <= reading.start < reading.end <= len(text)
        assert reading.value
        assert reading == extract_final_answer(text, question)


@pytest.mark.parametrize(
    "text",
    [
        "\\boxed{3\\sqrt{13}}",
        "#### \\sqrt{3}",
        "The answer is $2\\pi$.",
        "\\boxed{52_8}",
        "#### \\log 3",
    ],
)
def test_a_part_of_an_expression_is_no_answer(text: str) -> None:
    assert extract_final_answer(text) is None
    problem = Problem("0", "", "3", "#### 3")
    assert get_scorer("gradeschool/reader").judge(text, problem).outcome is Outcome.NO_ANSWER


@pytest.mark.parametrize("gold", ["p - q", "3\\sqrt{13}", "\\text{Evelyn}", "20 apples", "(3,4]"])
def test_a_gold_that_is_no_number_is_not_guessed_at(gold: str) -> None:
    verdict = get_scorer("gradeschool/reader").judge("#### 3", Problem("0", "", gold, ""))
    assert verdict.outcome is Outcome.ERROR
    assert "is not a number; use a scorer of expressions" in verdict.reason


@pytest.mark.parametrize(
    ("text", "question", "value"),
    [
        ("So she ran 12 miles, which is 3 miles more than her sister.",
         "How many miles did she run?", "12"),
        ("Tom is 18 years old, which is 9 years older than his sister.", "How old is Tom?", "18"),
        ("The store made $12, which is $3 less than the $15 goal.",
         "How much did the store make?", "12"),
        ("#### 4 days 3 hours", "How many hours did the trip take?", "99"),
        ("The answer is 2 1/2 or 2.5 hours.", "How many hours?", "5/2"),
        ("50 WPM\n\nSolution: The average of 47, 52 and 57 is 156/3 = 52.\n\n"
         "The average of the three is 52 WPM.",
         "She typed 47, 52 and 57 words a minute. What is her average?", "52"),
    ],
)  # fmt: skip
def test_what_a_sentence_adds_is_not_its_result(text: str, question: str, value: str) -> None:
    answer = extract_final_answer(text, question)
    assert answer is not None and answer.value == value
