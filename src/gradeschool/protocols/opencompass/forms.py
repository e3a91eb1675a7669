r"""The forms in which OpenCompass's MATH evaluator compares answers: Hendrycks', Minerva's.

https://github.com/open-compass/opencompass/blob/a5acc4bb/opencompass/datasets/math.py
(_strip_string_v2, normalize_final_answer). The lists of strings are upstream's. Its patterns
`\\text{.*?}$`, `(\d+)\.0+([^\d])` and `(\d+)\.0+$` are quadratic where they do not match; the code
here finds the same in linear time.
"""

from __future__ import annotations

import re

from gradeschool.latex import (
    MINERVA_REMOVED,
    MINERVA_SUBSTITUTIONS,
    braced_fractions,
    replaced,
    slash_as_fraction,
    unwrapped,
    without_unit,
    without_zero_decimals,
)


def last_between(text: str, opening: str, closing: str) -> str:
    """Return the text inside the last pair of marks; the whole text if there is no pair."""
    between, place = text, 0
    while (start := text.find(opening, place)) >= 0:
        inside = start + len(opening)
        end = text.find(closing, inside)
        if end < 0:
            break
        between, place = text[inside:end], end + len(closing)
    return between


BEFORE_UNIT = (
    ("\\!", ""),
    ("\\ ", ""),
    ("\\\\", "\\"),
    ("\\\\", "\\"),
    ("tfrac", "frac"),
    ("dfrac", "frac"),
    ("\\left", ""),
    ("\\right", ""),
)
AFTER_UNIT = (
    ("^{\\circ}", ""),
    ("^\\circ", ""),
    ("\\$", ""),
    ("$", ""),
    ("\\text", ""),
    ("x\\in", ""),
    ("\\%", ""),
    ("%", ""),
    (" .", " 0."),
    ("{.", "{0."),
    ("\\cdot", ""),
    ("infinity", "\\infty"),
)
LAST = (("+\\inity", "\\infty"), ("and", ""), ("\\mathbf", ""))
BARE_ROOT_WORD = re.compile(r"\\sqrt(\w+)")


def hendrycks(answer: str) -> str:
    """Return the Hendrycks form, second version.

    Raises ValueError on an `a/b` that is not a fraction of integers, as upstream does.
    """
    answer = answer.strip().replace("\n", "").rstrip(".")
    answer = replaced(without_unit(replaced(answer, BEFORE_UNIT)), AFTER_UNIT)
    if "\\infty" not in answer:
        answer = answer.replace("inf", "\\infty")
    answer = unwrapped(replaced(answer, LAST), "\\mbox{", instead="")
    if "j" in answer and "i" not in answer:
        answer = answer.replace("j", "i")
    answer = without_zero_decimals(answer)
    if not answer:
        return answer
    if answer[0] == ".":
        answer = "0" + answer
    name, _, value = answer.partition("=")
    if len(name) <= 2 and answer.count("=") == 1:
        answer = value
    answer = BARE_ROOT_WORD.sub(r"\\sqrt{\1}", answer).replace(" ", "")
    return slash_as_fraction(braced_fractions(answer), strict=True)


WRAPPERS = (("\\text{(", ")}"), ("\\text{", "}"), ("\\textbf{", "}"), ("\\overline{", "}"))
FINAL_ANSWER = "finalansweris"
ANSWER_IS = re.compile(r"answer?is:?")
BARE_FRACTION = re.compile(r"(frac)([^{])(.)")
BARE_ROOT = re.compile(r"(sqrt)([^{])")
PHRASES = (
    *MINERVA_SUBSTITUTIONS,
    ("\\le", "<"),
    *((text, "") for text in (*MINERVA_REMOVED, *"\n\r\f")),
)
WORDS = tuple(pair for pair in PHRASES if "\\" not in pair[0])


def minerva(answer: str) -> str:
    """Return the Minerva form: units, spaces and LaTeX wrappers removed."""
    answer = replaced(answer, PHRASES if "\\" in answer else WORDS)
    if "{" in answer:
        for opening, closing in WRAPPERS:
            answer = unwrapped(answer, opening, closing)
        answer = _unboxed(answer)
    if "answe" in answer:
        answer = answer.partition(FINAL_ANSWER)[2] if FINAL_ANSWER in answer else answer
        announced = ANSWER_IS.search(answer)
        if announced is not None:
            answer = answer[announced.end() :]
    answer = last_between(answer, "oxed{", "}")
    answer = last_between(answer, "$", "$").strip()
    if "rac" in answer:
        if "\\frac" not in answer:
            answer = answer.replace("rac", "\\frac")
        answer = BARE_FRACTION.sub(r"frac{\2}{\3}", answer)
    if "sqrt" in answer:
        answer = BARE_ROOT.sub(r"sqrt{\2}", answer)
    answer = answer.replace("$", "")
    digits = answer.replace(",", "")
    return digits if digits.isdigit() else answer


def _unboxed(text: str) -> str:
    r"""Remove the first `\boxed{` and the last brace."""
    start, end = text.find("\\boxed{"), text.rfind("}")
    inside = start + len("\\boxed{")
    return text if start < 0 or end < inside else text[:start] + text[inside:end] + text[end + 1 :]
