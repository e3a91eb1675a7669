r"""lm-evaluation-harness's tasks in the style of MATH, on GSM8K and on other sets.

`lm-eval/hrm8k-gsm8k-en`: the last box, else between "$", else after "=", else a number; compared in
Hendrycks et al.'s string forms. `lm-eval/hendrycks-math500` and `lm-eval/aime`: the text between
the first and the last "$", else the whole text; aime prefers the last box.

`lm-eval/minerva-math500`: the text in "Final Answer: The final answer is ... I hope it is
correct.", equal to the gold in the normal form of the Minerva paper (appendix D), else as parsed by
sympy's LaTeX parser. `lm-eval/minerva-math500/math-verify`: the task's second metric.
"""

from __future__ import annotations

import re
from functools import partial

from gradeschool.answers.search import TextMatch, match_of, math_box
from gradeschool.latex import hendrycks_equal, hendrycks_form, spaced_box
from gradeschool.prompts import rationale
from gradeschool.protocols import (
    Answer,
    Problem,
    Scorer,
    library_scorer,
    make_answer,
)
from gradeschool.protocols.extractions import gold_as_it_is, last_number

TASKS = "EleutherAI/lm-evaluation-harness @ 4e7e0d47, lm_eval/tasks"
# Same matches as `(?:\$)?\d+(?:\.\d+)?(?![\w\d])`. A run of digits is tried once, from its start,
# since all its tails fail where it fails.
NUMBER = re.compile(r"\$?(?<!\d)\d++(?:\.\d++(?!\w)|(?!\w))")
last_number_in = last_number(NUMBER)


def as_number(text: str) -> str:
    """Return a number without zero decimals ("18.00" -> "18", "018" -> "18"), by way of a float."""
    text = text.strip()
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else str(number)


def extract_hrm8k(text: str, reference: str) -> Answer | None:
    """Extract the last box, else between "$", else after "=", else the last number."""
    if "\\" in text:
        if box := math_box(text):
            return _behind_equals(box, "the last box")
        if "\\boxed" in text:  # not closed, or without braces
            return None
    between = _between_dollars(text)
    if between is not None:
        answer = _behind_equals(between, "between the dollar signs of the last line that has two")
        if answer.text:
            return answer
    equals = text.rfind("=")
    if equals < 0:
        return last_number_in(text, "")
    value = text[equals + 1 :].lstrip(" ")
    start = len(text) - len(value)
    value = value.rstrip(".").partition("\\n")[0]
    return make_answer((value, value, (start, start + len(value)), "after the last '='"))


def _between_dollars(text: str) -> TextMatch | None:
    r"""Return the last match of group 1 of `\$(.*)\$`, found from the end."""
    end = len(text)
    while (last := text.rfind("$", 0, end)) >= 0:
        line = text.rfind("\n", 0, last) + 1
        first = text.find("$", line)
        if first < last:
            return match_of((text[first + 1 : last], first + 1, last))
        end = line
    return None


def _behind_equals(piece: TextMatch, how: str) -> Answer:
    text, start, end = piece
    equals = text.rfind("=")
    if equals >= 0:
        text = text[equals + 1 :].lstrip(" ")
        start = end - len(text)
    return make_answer((text, text, (start, end), how))


def hrm8k_reference(problem: Problem) -> str:
    """Return the gold after the same extraction, which drops the sign: "-10" becomes "10"."""
    gold = as_number(problem.gold.replace(",", ""))
    answer = extract_hrm8k(gold, "")
    return gold if answer is None else answer.text


def compare_hrm8k(value: str, reference: str) -> bool:
    """Compare Hendrycks' string forms; the answer is compared as a number."""
    try:
        return as_number(hendrycks_form(value)) == hendrycks_form(reference)
    except (AssertionError, IndexError):
        return value == reference


def extract_between_dollars(text: str, reference: str) -> Answer | None:
    """Extract the text between the first and the last "$", or everything without two of them."""
    first, last = text.find("$"), text.rfind("$")
    start, end = (first + 1, last) if first < last else (0, len(text))
    piece = text[start:end]
    return Answer(piece, piece, (start, end), "between dollar signs or all") if piece else None


def extract_aime(text: str, reference: str) -> Answer | None:
    """Extract the last box, else the text between dollar signs, or everything."""
    box = spaced_box(text)
    if box is None:
        return extract_between_dollars(text, reference)
    return Answer(box.text, box.text, (box.start, box.end), "the last box") if box.text else None


def boxed_solution(problem: Problem) -> str:
    r"""Return the reference solution; if it has no box, the gold in a box."""
    solution = rationale(problem)
    return solution if "\\boxed" in solution else f"\\boxed{{{problem.gold}}}"


MATH_SCORERS = (
    Scorer(
        name="lm-eval/hrm8k-gsm8k-en",
        summary="the last box, else between '$', after '=' or the last number; Hendrycks' forms",
        source=f"{TASKS}/hrm8k/en (version 1.1)/utils.py, process_results",
        reference=hrm8k_reference,
        extract=extract_hrm8k,
        compare=compare_hrm8k,
    ),
    Scorer(
        name="lm-eval/hendrycks-math500",
        summary="between the first and the last '$', else the whole text; Hendrycks' forms",
        source=f"{TASKS}/hendrycks_math/utils.py, process_results",
        reference=gold_as_it_is,
        extract=extract_between_dollars,
        compare=partial(hendrycks_equal, strict=True),
        dataset="math500",
    ),
    Scorer(
        name="lm-eval/aime",
        summary="the last box, else between '$', else the whole text; Hendrycks' forms",
        source=f"{TASKS}/aime/utils.py, process_results",
        reference=gold_as_it_is,
        extract=extract_aime,
        compare=partial(hendrycks_equal, strict=True),
        dataset="aime",
    ),
    library_scorer(
        "lm-eval/minerva-math500",
        summary="the first 'Final Answer: The final answer is N. I hope it is correct.', Minerva's "
        "normal form, else equal by sympy",
        source=f"{TASKS}/minerva_math/utils.py, process_results: exact_match",
        function="gradeschool.protocols.by_sympy:minerva_exact_match",
        how="between 'The final answer is' and 'I hope it is correct'",
        reference=boxed_solution,
    ),
    library_scorer(
        "lm-eval/minerva-math500/math-verify",
        summary="Math-Verify's parse and verify of the whole solution and the whole completion",
        source=f"{TASKS}/minerva_math/utils.py, process_results: math_verify",
        function="gradeschool.protocols.by_math_verify:default",
        how="Math-Verify's reading",
        reference=boxed_solution,
    ),
)
