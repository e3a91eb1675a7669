"""The answer extractor against people, on wrong answers near the gold, on any text."""

import json
import random
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
from gradeschool.answers.regions import parse_marks, split_thinking
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
    value: str | None


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


# fmt: off
TEXTS = (
    # labels within a solution, and other exercises after it
    QuestionCase("", "Regular price is 5. Extra cost: 3\n#### 8", "8"),
    QuestionCase("", "The base is 5.\nExtra cost: 3\n#### 8", "8"),
    QuestionCase("", "Bob has 4.\nBonus: 6\nTotal: 10\n\\boxed{10}", "10"),
    QuestionCase("", "Adult tickets: 5 * 10 = 50\nStudent: 5 * 4 = 20\n#### 70", "70"),
    QuestionCase("", "Cost is 20.\nExample: 3 bags cost 6.\nSo 10 bags cost 20.\n#### 20", "20"),
    QuestionCase("", "20 - 14 = 6.\n\nFind the savings: 20 - 14 = 6\n\nSolution: 6", "6"),
    QuestionCase("", "We have 14.\n\nFind the savings:\n20 - 14 = 6\n\nSolution: 6", "6"),
    QuestionCase(
        "", "Let's solve it. 5*4=20\nProblem: we must take off 3.\n20-3=17\n#### 17", "17"
    ),
    QuestionCase("", "Human: 2 legs\nDog: 4 legs\nTotal: 6\n#### 6", "6"),
    QuestionCase("", "Challenge: 3 more\n3+4=7\n#### 7", "7"),
    QuestionCase(
        "",
        "The answer is 18.\n\nQuestion: How many cats are there if 3 of 5 leave?\nAnswer: 2",
        "18",
    ),
    QuestionCase(
        "",
        "The answer is 18.\n\nExample 2: Tom has 3 pens and buys 4. How many pens?\n#### 7",
        "18",
    ),
    # chats and channels without their marks
    QuestionCase(
        "",
        "system\n\nYou are helpful.user\n\nQuestion: Tom has 3 pens and 4 more. How many?assistant\n\nHe has 3 + 4 = 7 pens.\n#### 7",  # noqa: E501
        "7",
    ),
    QuestionCase(
        "",
        "system\nYou are helpful.\nuser\nTom has 3 pens and 4 more.\nassistant\nTom has 7 pens.",
        "7",
    ),
    QuestionCase("", "user\nTom has 3 pens and 4 more. How many?\nmodel\nTom has 7 pens.", "7"),
    QuestionCase("", "analysisWe compute 3+4=7. Hmm 12?assistantfinal12", "12"),
    QuestionCase("", "analysis3 + 4 is 7assistantfinal**7**", "7"),
    QuestionCase(
        "",
        "<|channel|>analysis<|message|>3+4=7, or 8<|end|><|start|>assistant<|channel|>final<|message|>The answer is 7.<|return|>",  # noqa: E501
        "7",
    ),
    QuestionCase("", "So <|begin_of_box|>46<|end_of_box|>.", "46"),
    # tags and thinking
    QuestionCase("", "</think><ans>24</ans><think>let me check that 12*2", "24"),
    QuestionCase("", "<think>a 5</think><answer>24</answer><think>so 7", "24"),
    QuestionCase("", "<think>5 <think>6</think> 7</think>The answer is 8.", "8"),
    QuestionCase("", "<think>first 5</think>It is 6.<think>no 7</think>It is 7.", "7"),
    QuestionCase("", "<think>5</think>The answer is 24.</think>", "24"),
    # digits that a model did not stop writing
    QuestionCase("", "The answer is 2.\n#### 2611010", "2"),
    QuestionCase("", "So she has 2 left.\n#### 2611010", "2"),
    QuestionCase(
        "", "The answer is 5.\n#### 34338176863527343381768635273433817686352734338176863527", "5"
    ),
    QuestionCase("", "#### 34338176863527343381768635273433817686352734338176863527", None),
    QuestionCase("", "2,880,000 / 1 = 2,880,000\n#### 2880000", "2880000"),
    # a conclusion after a box
    QuestionCase("", "Step 2: \\boxed{30}\nThe total is 12 + 30 = 42.", "42"),
    QuestionCase("", "\\boxed{15}\n\nTherefore, she has 26 - 15 = 11 apples left.", "11"),
    QuestionCase(
        "There are 26 apples. The boys eat 15. How many apples are left?",
        "The boys ate \\boxed{15} apples.\n\nTherefore, there are 11 apples left.",
        "11",
    ),
    # purposes, deadlines and given numbers
    QuestionCase(
        "Each truck carries 30 flagstones. How many trucks are needed to transport 80 flagstones in one trip?",  # noqa: E501
        "3 trucks will be needed to transport 80 flagstones in one trip",
        "3",
    ),
    QuestionCase(
        "He saves $5 a day. How many days does he need to save $100?",
        "So it takes him 20 days to save $100.",
        "20",
    ),
    QuestionCase("", "Elle aura 300 euros d'ici 12 mois.", "300"),
    QuestionCase("", "Sie hat in 12 Monaten 300 Euro.", "300"),
    QuestionCase("", "Sie wird 300 Euro in 12 Monaten haben.", "300"),
    QuestionCase("", "She will have saved $300 by month 12.", "300"),
    # thousands
    QuestionCase("", "It costs $65 000.", "65000"),
    QuestionCase("", "Он заплатил 12 500 рублей", "12500"),
    QuestionCase("", "Elle gagne 1 250 euros", "1250"),
    QuestionCase("", "\\boxed{1~800}", "1800"),
    QuestionCase("", "\\boxed{1\\,800}", "1800"),
    QuestionCase("", "It weighs 65_000 g", "65000"),
    # fractions, powers, other forms
    QuestionCase("", "The answer is -½.", "-1/2"),
    QuestionCase("", "So he got ½ as the result.", "1/2"),
    QuestionCase("", "\\boxed{-\\frac{1}{2}}", "-1/2"),
    QuestionCase("", "The answer is 2^{5}.", "32"),
    QuestionCase("", "\\boxed{2^{5}}", "32"),
    QuestionCase("", "She has 3 dozen eggs, or 36, in all.", "36"),
    QuestionCase("", "She has 3 dozen, or 36, eggs.", "36"),
    # cut, listed, bounded, denied
    QuestionCase("", "Dana can travel in six", None),
    QuestionCase("", "Week 1 100 pages, week 2 150 pages. So the total is 250 pages.", "250"),
    QuestionCase("", "She needs at least 15 apples.", "15"),
    QuestionCase("", "He can buy up to 15 pens.", "15"),
    QuestionCase("", "The answer is not 12 but 15.", "15"),
    QuestionCase("", "12 is wrong. The answer is 15.", "15"),
    QuestionCase("", "The answer is 12. Wait, that is wrong. It is 15.", "15"),
    QuestionCase("", "Bob might think the answer is 12, but it is 15.", "15"),
    QuestionCase("", "Let me try 12: 12 * 2 = 24. Too low. So x = 15.", "15"),
    QuestionCase("", "I think the answer is 15.", "15"),
    QuestionCase("", "My guess is 15.", "15"),
    QuestionCase("", "He could buy 15 pens.", "15"),
    QuestionCase("", "The total comes to 15 dollars, not 12.", "15"),
    QuestionCase("", "She sold 5 to 8 people? No. The answer is 13.", "13"),
    QuestionCase("", "Therefore, the price went from 15 to 18 dollars.", "18"),
    QuestionCase("", "The 3 numbers are 4, 5 and 6, so the sum is 15.", "15"),
    QuestionCase("", "The answer is 64!", "64"),
    QuestionCase("", "So x = 5 and y = 7, and the total is 12.", "12"),
    QuestionCase("", "$x = 5$", "5"),
    QuestionCase("", "\\boxed{x = 5}", "5"),
    QuestionCase("", "The answer is x = 5.", "5"),
    QuestionCase("", "The answer is 5 m.", "5"),
    QuestionCase("", "The answer is 5 g.", "5"),
    QuestionCase("", "#### 5 s", "5"),
    QuestionCase("", "Answer: 12 h", "12"),
    QuestionCase("", "Answer: B) 15", "15"),
    QuestionCase("", "The answer is (B) 15.", "15"),
    QuestionCase("", "10 to the power of 3 is 1000.", "1000"),
    QuestionCase("", "So the ratio is 3:4.", "3:4"),
    QuestionCase(
        "",
        "Here is my thought process:\nI add 3 and 4.\n\nHere is my response:\nThe sum is 7.",
        "7",
    ),
    QuestionCase("", "[THINK]5 or 6[/THINK]The answer is 7.", "7"),
    QuestionCase("", "<seed:think>5 so answer is 9</seed:think>It is 7.", "7"),
    QuestionCase("", "It takes 5 hrs. She then rests.", "5"),
    QuestionCase("", "Il gagne 1.250 euros en tout.", "1250"),
    QuestionCase("", "Total = 3 × 4 = 12 – so 12 pens", "12"),
    QuestionCase("", "15–3=12", "12"),
    QuestionCase("", "That leaves 20-8=12.", "12"),
)


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case.completion[:40])
def test_texts_are_read_as_a_careful_person_would(case: QuestionCase) -> None:
    reading = extract_final_answer(case.completion, case.question)
    assert (reading and reading.value) == case.value


THOUGHT = "8 crates of 6 are 48. Two are broken. So the answer is 46."
MARKS = (
    ("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<seed:think>", "</seed:think>"),
    ("<longcat_think>", "</longcat_think>"), ("<o_think>", "</o_think>"), ("<reason>", "</reason>"),
    ("<inner_thoughts>", "</inner_thoughts>"), ("<|think|>", "<|/think|>"), ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"), ("<|channel>thought\n", "<channel|>"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    ("<unused94>thought\n", "<unused95>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"), ("analysis", "assistantfinal"),
    ("Here is my thought process:\n", "\nHere is my response:\n"),
    ("<|channel|>analysis<|message|>",
     "<|end|><|start|>assistant<|channel|>final<|message|>"),
)  # fmt: skip


@pytest.mark.parametrize("marks", MARKS, ids=lambda marks: marks[0].strip())
def test_closed_thinking_is_no_answer(marks: tuple[str, str]) -> None:
    opened, closed = marks
    for reply, value in (("", None), ("Let us see. We first", None), ("It is 45.", "45")):
        reading = extract_final_answer(f"{opened}{THOUGHT}{closed}{reply}")
        assert (reading and reading.value) == value
    thinking, reply = split_thinking(f"{opened}{THOUGHT}{closed}It is 45.")
    assert THOUGHT in thinking
    assert reply.strip() == "It is 45."


def test_own_marks_of_thinking() -> None:
    text = f"<plan>{THOUGHT}</plan>It is 45. <plan>or 44"
    marks = [parse_marks("<plan>,</plan>")]
    reading = extract_final_answer(text, "", marks)
    assert reading is not None and reading.value == "45"
    assert split_thinking(text, marks)[1] == "It is 45. "
    with pytest.raises(ValueError, match="write OPEN,CLOSE"):
        parse_marks("<plan>")


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


# Sentences that deny, only consider or bound a number, and expressions: none of them is an answer.
FAMILIES: dict[str, list[str]] = json.loads(
    Path(__file__).with_name("families.json").read_text("utf-8")
)


@pytest.mark.parametrize("family", FAMILIES)
def test_at_most_one_in_a_hundred_is_accepted_falsely(family: str) -> None:
    draw = random.Random(8)
    accepted = tried = 0
    for template in FAMILIES[family]:
        for lead in ("", "She has 3 boxes of 4. ", "3 * 4 = 12.\n"):
            n = draw.randrange(16, 900)
            text = lead + template.format(n=n, m=n + 9, k=n + 20, d=draw.randrange(2, 9))
            reading = extract_final_answer(text)
            accepted += reading is not None and same_value(reading.value, str(n))
            tried += 1
    assert accepted <= tried / 100


@pytest.mark.official
def test_reported_misses_are_right(data: Path) -> None:
    """Small inputs made from public bug reports, where they lie beside the shared data."""
    path = data.parent / "cases" / "reports.jsonl"
    if not path.exists():
        pytest.skip("no ../cases/reports.jsonl beside the shared data")
    scorer = get_scorer(SCORER)
    missed = []
    for row in rows_of(path):
        if row["kind"] == "judge" and row["class"] not in ("gold-forms", "scorer-name"):
            verdict = scorer.judge(row["completion"], Problem.from_gold(row["gold"]))
            if verdict.correct != row["expected"].startswith("correct"):
                missed.append(row["completion"])
    assert not missed
