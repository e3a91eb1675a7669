"""`helm/gsm`: five fixed shots "The answer is N.", and the metrics of the answer."""

from __future__ import annotations

import re

from gradeschool.answers.search import END, last_match
from gradeschool.protocols import Answer, Problem, Scorer, make_answer
from gradeschool.protocols.extractions import LAST_NUMBER

SOURCE = "crfm-helm 0.5.16, helm/benchmark"
METRICS = f"{SOURCE}/metrics/evaluate_reference_metrics.py"
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


SCORERS = (
    Scorer(
        name="helm/gsm/final-number",
        summary="the last number, commas removed, equal as a string (HELM's main metric)",
        source=f"{METRICS}, final_number_exact_match",
        reference=final_number,
        extract=extract_final_number,
        compare=lambda value, reference: value.strip() == reference.strip(),
    ),
    Scorer(
        name="helm/gsm/exact-match-indicator",
        summary="what follows the last space, its final period included, equal as a string",
        source=f"{METRICS}, exact_match_indicator",
        reference=lambda problem: as_sentence(problem).rpartition(" ")[2].strip(),
        extract=extract_last_token,
    ),
)
