"""`helm/gsm`: five fixed shots "The answer is N.", and the metrics of the answer."""

from __future__ import annotations

import re

from gradeschool.answers.extractions import LAST_NUMBER
from gradeschool.answers.search import END, last_match
from gradeschool.protocols import Answer, Decoding, Problem, Protocol, Scorer, Template, make_answer

SOURCE = "crfm-helm 0.5.16, helm/benchmark"
METRICS = f"{SOURCE}/metrics/evaluate_reference_metrics.py"
# The "." is not escaped upstream: "16-18" and "3:30" are one number. A lone comma matches.
NUMBER = re.compile(r"-?[\d,]+(?:.\d+)?")
APART = re.compile(r"[^\d,-]{2}")  # in no number
LAST_SENTENCE = " The answer is"
# The result of `sample_examples(seed=0)` on the train split, the same for every problem.
SHOT_ROWS = (162, 5795, 5430, 5542, 94)


def as_sentence(problem: Problem) -> str:
    """Return a solution as the scenario writes it: one line that ends "The answer is N."."""
    return problem.solution.replace("####", "The answer is").replace("\n", " ") + "."


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
PROTOCOLS = (
    Protocol(
        name="helm/gsm",
        summary="5 fixed train shots ending 'The answer is N.', Q/A, greedy, 400 tokens",
        source=f"{SOURCE}/run_specs/lite_run_specs.py, get_gsm_spec",
        render=Template(
            question="Q: {question}\nA:",
            answer=" {sentence}",
            rows=SHOT_ROWS,
            fields=lambda problem: {"question": problem.question, "sentence": as_sentence(problem)},
        ),
        decoding=Decoding(temperature=0.0, max_tokens=400, stop=("\n\n",)),
        scorers=("helm/gsm/final-number", "helm/gsm/exact-match-indicator"),
        shots="gsm8k:train",
    ),
)
