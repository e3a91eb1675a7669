"""parse_gsm8k_answer and majority_vote on every form and pitfall."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool import normalize, parse_gsm8k_answer
from gradeschool.answers.parse import read_answer
from gradeschool.answers.search import mentions_answer

FORMS = {
    "hashes": "She makes 9 * 2 = 18 dollars.\n#### {}",
    "hashes without a space": "####{}",
    "hashes on the line before": "####\n{}",
    "box": "The result is $\\boxed{{{}}}$.",
    "the answer is": "9 * 2 = 18. The answer is {}.",
    "the final answer is": "The final answer is: ${}",
    "ANSWER colon": "ANSWER: {}",
    "bold answer colon": "**Answer:** {}",
    "bold": "She earns **{}** (in 7 days).",
    "last number": "In 2 steps she gets {}",
    "with a unit": "The answer is {} dollars.",
    "with a currency": "The answer is ${}.",
    "bare": "{}",
}
CASES = {
    # the form of the data
    "#### 18": "18",
    "#### $18": "18",
    "#### -$18": "-18",
    "#### $-18": "-18",
    "#### **18**": "18",
    "#### 600 thousand": "600000",
    "The answer is $18k.": "18000",
    "#### 18 thou\u017fand": "18",
    "#### 1,234.00": "1234",
    "#### １８": "18",
    "#### 18\nWait, recompute.\n#### 20": "20",
    "#### 10 - 3 = 7": "7",
    "#### 1. Count the eggs\n9\n#### 2. Sell them\nShe gets **18**": "18",
    "#### eighteen, that is 18": "18",
    # boxes
    r"\boxed{18}": "18",
    r"\boxed{\text{18}}": "18",
    r"\boxed{18 \text{ eggs in 7 days}}": "18",
    r"\boxed{2{,}125}": "2125",
    r"\boxed{2\,125}": "2125",
    r"\boxed{\frac{36}{2}}": "18",
    r"\boxed{-\dfrac{1}{2}}": "-1/2",
    r"so the total is \boxed{18": "18",
    r"\boxed{}, that is 18": "18",
    r"\boxed{inf}": None,
    # phrases
    "The answer is 18. Note that she keeps 7 eggs.": "18",
    "The answer is \\(18\\). She keeps 7.": "18",
    "The answer is 18. . .": "18",
    "The answer is 80 + 150 = 230 miles.": "230",
    "The answer is 3/5.": "3/5",
    "The answer is 1/0.": "1",
    "The answer is 2:30 pm.": "2:30",
    "The answer is unknown, 7 or 18": "18",
    "**Answer**: 42": "42",
    "Answer: 18\nThe Answer above uses 2 dollars.": "18",
    "Answer:\n1. Count 7\n2. It is 18": "18",
    # the last number
    "between 16-18": "18",
    "it fell from 5 to -13": "-13",
    "(16)-18": "18",
    "386 m^2": "386",
    "386 x^1.5": "386",
    "1,2,3": "123",
    "= <<9*2=18>>18": "18",
    "The train moves for **477 minutes** (7 hours and 57 minutes).": "477",
    "She has **180 of the 330 pages** left.": "180",
    "**Total: 5 * 3 = 15** in 2 steps": "15",
    # what is not the answer
    "#### 18\n\nQuestion: A train has 3 cars.\n#### 60": "18",
    "The answer is 18.\n\nQ: Tom has 5 cats.\nA: The answer is 5.": "18",
    "Let me see.\nQuestion: 3 + 4?\nAnswer: 7": "7",
    "<think>#### 20</think>The answer is 18": "18",
    "<think>9 * 2 = 18, so 18</think>": "18",
    # nothing
    "": None,
    "I cannot tell.": None,
    "nan": None,
    "Forty-two dollars.": None,
}
HOSTILE = {
    "digits": "9",
    "open boxes": "\\boxed{",
    "numbers in a box": "\\boxed{1 2",
    "digits and commas": "1,",
    "hashes": "####",
    "spaces": " ",
    "emphasis": "**",
    "the answer is": "the answer is ",
    "run-on": "\nQuestion: ",
    "surrogates": "\ud800",
}


@pytest.mark.parametrize("text", CASES, ids=lambda text: ascii(text[:40]))
def test_each_pitfall_is_read_as_a_person_reads_it(text: str) -> None:
    assert parse_gsm8k_answer(text) == CASES[text]


def test_a_number_of_ten_thousand_digits_is_read_whole() -> None:
    for form in FORMS.values():
        assert parse_gsm8k_answer(form.format("9" * 10_000)) == "9" * 10_000


@pytest.mark.parametrize("name", HOSTILE)
def test_long_hostile_text_is_read_in_one_pass(name: str) -> None:
    """Anything quadratic would take an hour."""
    piece = HOSTILE[name]
    read = parse_gsm8k_answer(piece * (200_000 // len(piece)))
    assert (read is None) is not any(character.isdecimal() for character in piece)


@given(st.text() | st.lists(st.sampled_from([*CASES, "1", "9", ".", ","])).map("".join))
def test_any_text_gives_none_or_a_normalised_answer(text: str) -> None:
    read = parse_gsm8k_answer(text)
    if read is None:
        # An exponent is no number that a text ends with.
        assert "^" in text or not any("0" <= character <= "9" for character in text)
    else:
        assert read == normalize(read) != ""
        assert not set(read) & set("$€£ \n")


@pytest.mark.parametrize(
    ("text", "piece", "how"),
    [
        ("<think>1</think>The answer is 2.\nQ: 3", "2", "the last 'the answer is N'"),
        ("The answer is 80 + 150 = 230 miles.", "230", "the last 'the answer is N'"),
        ("The answer is 36/2.", "36/2", "the last 'the answer is N'"),
        ("Answer: 2:30 pm", "2:30", "the last 'answer: N'"),
        (r"so \boxed{\text{18}} it is", r"\text{18}", r"the last \boxed{N}"),
        ("#### $18", "$18", "the last '#### N'"),
        ("**Sum: 5 * 3 = 15** in 2", "15", "the last in bold"),
        ("1 and 2 m^2", "2", "the last number"),
    ],
)
def test_a_reading_says_where_and_how_it_was_found(text: str, piece: str, how: str) -> None:
    reading = read_answer(text)
    assert reading is not None
    assert (text[reading.start : reading.end], reading.how) == (piece, how)


@pytest.mark.parametrize("text", ["The ANSWER is 4", "an\u017fwer: 4"])
def test_the_word_answer_counts_in_any_case(text: str) -> None:
    assert mentions_answer(text)
    assert not mentions_answer(text[5:])
