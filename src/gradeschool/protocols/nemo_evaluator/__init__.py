"""NVIDIA NeMo Evaluator: the benchmarks gsm8k and mgsm, and gsm8k_answer of its wheel."""

import re

from gradeschool.answers.search import (
    last_match,
    last_number_start,
    last_place,
    lowered,
    remembered,
)
from gradeschool.problem import MARKER, Problem
from gradeschool.protocols.extractions import (
    LAST_NUMBER,
    first_group,
    first_of,
    gold_as,
    last_number,
    read_from_solution,
    without_commas,
)
from gradeschool.scorer import Answer

ANNOUNCED = re.compile(r"(?i)(?:the answer is|answer\s*:)\s*([^\n]+)")
IGNORED = str.maketrans("", "", ",$% ")
DECIMAL = re.compile(r"-?\d+\.?\d*")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


@remembered
def bare(text: str) -> str:
    """Return a text in lower case without commas, "$", "%", spaces and final periods."""
    return text.strip().lower().translate(IGNORED).rstrip(".")


def marked_line(problem: Problem) -> str:
    """Return the line after the first "####" of the solution, as it is compared."""
    _, _, tail = problem.solution.partition(MARKER)
    return bare(tail.strip().partition("\n")[0] or problem.gold)


def extract_line(text: str, reference: str) -> Answer | None:
    """Extract the line after the first "the answer is" or "answer:", else the last line."""
    low, at, match = lowered(text), -1, None
    while match is None and (at := low.find("answer", at + 1)) >= 0:
        match = ANNOUNCED.match(text, max(at - len("the "), 0)) or ANNOUNCED.match(text, at)
    how = "the last line" if match is None else "the first 'the answer is' or 'answer:'"
    line = text.strip().rpartition("\n")[2] if match is None else match[1].strip()
    if not (value := bare(line)) and reference:
        return None
    start = text.rfind(line) if match is None else match.start(1)
    return Answer(line, value, (start, start + len(line)), how)


def without_zeros(number: str) -> str:
    """Remove zeros at the end, of integers too, then a period: "100" becomes "1"."""
    return number.rstrip("0").rstrip(".")


gold_without_zeros = gold_as(lambda gold: without_zeros(without_commas(gold).strip()))


def extract_number(text: str, reference: str) -> Answer | None:
    """Extract the last number once commas are removed, without its last zeros."""
    match = None
    for start in (last_number_start(text), 0):
        match = match or last_match(DECIMAL, text[start:].replace(",", ""))
    if match is None:  # upstream: "" equals the gold 0, of which nothing is left
        return None if reference else Answer("", "", None, "no number, as in the gold 0")
    span = last_place(text, match[0])
    return Answer(match[0], without_zeros(match[0]), span, "the last number, commas removed")


def trimmed(number: str) -> str:
    """Return a number without commas and without zeros at the end of its decimals."""
    number = number.replace(",", "")
    return without_zeros(number) if "." in number else number


first_hashes = first_group(
    re.compile(rf"####\s*({NUMBER.pattern})"), "the first '#### N'", "#", trimmed
)
first_box = first_group(
    re.compile(rf"\\boxed\{{\s*({NUMBER.pattern})\s*\}}"), r"the first \boxed{N}", "\\", trimmed
)
last_trimmed = last_number(NUMBER, LAST_NUMBER, trimmed)
extract_answer = first_of(first_hashes, first_box, last_trimmed)
answer_of_solution = read_from_solution(first_of(first_hashes, last_trimmed))
