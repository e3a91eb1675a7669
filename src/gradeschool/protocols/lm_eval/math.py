r"""The scorers of lm-evaluation-harness's tasks in the style of MATH, on GSM8K and on other sets.

`lm-eval/hrm8k-gsm8k-en`: the last box, else between "$", else after "=", else a number; compared in
Hendrycks et al.'s string forms. `lm-eval/hendrycks-math500` and `lm-eval/aime`: the text between
the first and the last "$", else the whole text; aime prefers the last box.

`lm-eval/minerva-math500`: the text in "Final Answer: The final answer is ... I hope it is
correct.", equal to the gold in the normal form of the Minerva paper (appendix D), else as parsed by
sympy's LaTeX parser. `lm-eval/minerva-math500/math-verify`: the task's second metric.

https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/hrm8k/en/utils.py
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/hendrycks_math/utils.py
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/aime/utils.py
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/minerva_math/utils.py
The string forms raise what upstream's raise (IndexError, AssertionError); the comparisons catch it.
"""

from __future__ import annotations

import re

from gradeschool.answers.extractions import last_number
from gradeschool.answers.search import TextMatch, match_of, math_box
from gradeschool.latex import hendrycks_form, spaced_box
from gradeschool.library_scorer import library_scorer
from gradeschool.problem import Problem
from gradeschool.prompts import rationale
from gradeschool.protocols.lm_eval.scorers import TASKS
from gradeschool.scorer import Scorer
from gradeschool.verdict import Answer, answer_of


def as_number(text: str) -> str:
    """Return a number without zero decimals ("18.00" -> "18", "018" -> "18"), by way of a float."""
    text = text.strip()
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else str(number)


# Same matches as `(?:\$)?\d+(?:\.\d+)?(?![\w\d])`. A run of digits is tried once, from its start,
# since all its tails fail where it fails.
NUMBER = re.compile(r"\$?(?<!\d)\d++(?:\.\d++(?!\w)|(?!\w))")
last_number_in = last_number(NUMBER)


def find_answer(text: str) -> tuple[TextMatch, str] | None:
    """Return the piece of text that upstream takes as the answer, and how it was found."""
    if "\\" in text:
        box = math_box(text)
        if box is not None:
            return _behind_equals(box), "the last box"
        if "\\boxed" in text:  # not closed, or without braces
            return None
    between = _between_dollars(text) if "$" in text else None
    if between is not None:
        piece = _behind_equals(between)
        if piece.text:
            return piece, "between the dollar signs of the last line that has two"
    equals = text.rfind("=")
    if equals >= 0:
        value = text[equals + 1 :].lstrip(" ")
        start = len(text) - len(value)
        value = value.rstrip(".").partition("\\n")[0]
        return match_of((value, start, start + len(value))), "after the last '='"
    number = last_number_in(text, "")
    if number is None or number.span is None:
        return None
    return TextMatch(number.text, *number.span), number.how


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


def _behind_equals(piece: TextMatch) -> TextMatch:
    text, _, end = piece
    equals = text.rfind("=")
    if equals < 0:
        return piece
    value = text[equals + 1 :].lstrip(" ")
    return match_of((value, end - len(value), end))


def extract_hrm8k(text: str, reference: str) -> Answer | None:
    """Extract the last box, else between "$", else after "=", else the last number."""
    answer = find_answer(text)
    if answer is None:
        return None
    (value, start, end), how = answer
    return answer_of((value, value, (start, end), how))


def hrm8k_reference(problem: Problem) -> str:
    """Return the gold after the same extraction, which drops the sign: "-10" becomes "10"."""
    gold = as_number(problem.gold.replace(",", ""))
    answer = find_answer(gold)
    return gold if answer is None else answer[0].text


def compare_hrm8k(value: str, reference: str) -> bool:
    """Compare Hendrycks' string forms; the answer is compared as a number."""
    try:
        return _number_form(value) == hendrycks_form(reference)
    except (AssertionError, IndexError):
        return value == reference


def _number_form(value: str) -> str:
    return as_number(hendrycks_form(value))


HRM8K_SCORER = Scorer(
    name="lm-eval/hrm8k-gsm8k-en",
    summary="the last box, else between '$', after '=' or the last number; Hendrycks' forms",
    source=f"{TASKS}/hrm8k/en (version 1.1)/utils.py, process_results",
    reference=hrm8k_reference,
    extract=extract_hrm8k,
    compare=compare_hrm8k,
)


def between_dollars(text: str) -> TextMatch:
    """Return the text between the first and the last "$", or the whole text without two of them."""
    first, last = text.find("$"), text.rfind("$")
    start, end = (first + 1, last) if first < last else (0, len(text))
    return TextMatch(text[start:end], start, end)


def extract_math(text: str, reference: str) -> Answer | None:
    """Extract the text between dollar signs, or everything."""
    piece = between_dollars(text)
    if not piece.text:
        return None
    return Answer(piece.text, piece.text, (piece.start, piece.end), "between dollar signs or all")


def extract_aime(text: str, reference: str) -> Answer | None:
    """Extract the last box, else the text between dollar signs, or everything."""
    box = spaced_box(text)
    if box is None or not box.text:
        return None if box is not None else extract_math(text, reference)
    return Answer(box.text, box.text, (box.start, box.end), "the last box")


def compare(value: str, reference: str) -> bool:
    """Compare Hendrycks' string forms, or the texts themselves if a form raises."""
    try:
        return hendrycks_form(value, strict=True) == hendrycks_form(reference, strict=True)
    except (AssertionError, IndexError, ValueError):
        return value == reference


HENDRYCKS_SCORER = Scorer(
    name="lm-eval/hendrycks-math500",
    summary="between the first and the last '$', else the whole text; Hendrycks' forms",
    source=f"{TASKS}/hendrycks_math/utils.py, process_results",
    reference=lambda problem: problem.gold,
    extract=extract_math,
    compare=compare,
    dataset="math500",
)
AIME_SCORER = Scorer(
    name="lm-eval/aime",
    summary="the last box, else between '$', else the whole text; Hendrycks' forms",
    source=f"{TASKS}/aime/utils.py, process_results",
    reference=lambda problem: problem.gold,
    extract=extract_aime,
    compare=compare,
    dataset="aime",
)


def boxed_solution(problem: Problem) -> str:
    r"""Return the reference solution; if it has no box, the gold in a box."""
    solution = rationale(problem)
    return solution if "\\boxed" in solution else f"\\boxed{{{problem.gold}}}"


EXACT = library_scorer(
    "lm-eval/minerva-math500",
    summary="the first 'Final Answer: The final answer is N. I hope it is correct.', Minerva's "
    "normal form, else equal by sympy",
    source=f"{TASKS}/minerva_math/utils.py, process_results: exact_match",
    function=f"{__package__}.minerva_library:exact_match",
    how="between 'The final answer is' and 'I hope it is correct'",
    reference=boxed_solution,
)
MATH_VERIFY = library_scorer(
    "lm-eval/minerva-math500/math-verify",
    summary="Math-Verify's parse and verify of the whole solution and the whole completion",
    source=f"{TASKS}/minerva_math/utils.py, process_results: math_verify",
    function="gradeschool.protocols.by_math_verify:default",
    how="Math-Verify's reading",
    reference=boxed_solution,
)
MATH_SCORERS = (HRM8K_SCORER, HENDRYCKS_SCORER, AIME_SCORER, EXACT, MATH_VERIFY)
