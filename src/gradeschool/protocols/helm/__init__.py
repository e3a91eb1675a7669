"""`helm/gsm`: five fixed shots "The answer is N.", and the metrics of the answer."""

from __future__ import annotations

import re

from gradeschool.answers.search import END, last_match
from gradeschool.problem import Problem
from gradeschool.protocols.extractions import LAST_NUMBER
from gradeschool.scorer import Answer, make_answer

# The "." is not escaped upstream: "16-18" and "3:30" are one number. A lone comma matches.
NUMBER = re.compile(r"-?[\d,]+(?:.\d+)?")
APART = re.compile(r"[^\d,-]{2}")  # in no number
LAST_SENTENCE = " The answer is"


def as_sentence(problem: Problem) -> str:
    """Return a solution as the scenario writes it: one line that ends "The answer is N."."""
    return problem.solution.replace("####", "The answer is").replace("\n", " ") + "."


def sentence_fields(problem: Problem) -> dict[str, str]:
    """Return the fields of a prompt: an example has its solution as a sentence."""
    return {"question": problem.question, "sentence": as_sentence(problem)}


def extract_final_number(text: str, reference: str) -> Answer | None:
    """Extract the last number-like run; a run of only commas is no answer."""
    apart = APART.search(text, max(len(text) - END, 0))
    start = 0 if apart is None else apart.end()
    match = last_match(NUMBER, text[start:])
    if match is None:
        match, start = last_match(NUMBER, text), 0
    number = "" if match is None else match[0].replace(",", "")
    if match is None or not number:
        return None
    return make_answer(
        (match[0], number, (start + match.start(), start + match.end()), LAST_NUMBER)
    )


def extract_last_token(text: str, reference: str) -> Answer | None:
    """Extract the text after the last space; a line break does not count as a space."""
    token = text.strip().rpartition(" ")[2].strip()
    start = text.rfind(token)
    span = (start, start + len(token))
    return make_answer((token, token, span, "what follows the last space")) if token else None


def final_number(problem: Problem) -> str:
    """Return the last number of the reference sentence."""
    sentence = as_sentence(problem)
    start = sentence.rfind(LAST_SENTENCE)
    match = last_match(NUMBER, sentence[start:]) or last_match(NUMBER, sentence)
    return "" if match is None else match.group().replace(",", "")


def last_token(problem: Problem) -> str:
    """Return what follows the last space of the reference sentence."""
    return as_sentence(problem).rpartition(" ")[2].strip()


def compare_stripped(value: str, reference: str) -> bool:
    """Compare as strings without outer white space."""
    return value.strip() == reference.strip()
