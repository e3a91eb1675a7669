r"""The Minerva form of an answer, as OpenCompass's MATH evaluator makes it.

https://github.com/open-compass/opencompass/blob/a5acc4bb/opencompass/datasets/math.py
(normalize_final_answer). The lists of strings are upstream's.
"""

from __future__ import annotations

import re

from gradeschool.protocols.opencompass.scans import Replacements, last_between, unwrapped

REPLACED = (
    ("an ", ""),
    ("a ", ""),
    (".$", "$"),
    ("\\$", ""),
    ("\\ ", ""),
    (" ", ""),
    ("mbox", "text"),
    (",\\text{and}", ","),
    ("\\text{and}", ","),
    ("\\text{m}", "\\text{}"),
    ("\\le", "<"),
)
# fmt: off
REMOVED = (
    "square", "ways", "integers", "dollars", "mph", "inches", "ft", "hours", "km", "units",
    "\\ldots", "sue", "points", "feet", "minutes", "digits", "cents", "degrees", "cm", "gm",
    "pounds", "meters", "meals", "edges", "students", "childrentickets", "multiples", "\\text{s}",
    "\\text{.}", "\\text{\ns}", "\\text{}^2", "\\text{}^3", "\\text{\n}", "\\text{}",
    "\\mathrm{th}", "^\\circ", "^{\\circ}", "\\;", ",\\!", "{,}", '"', "\\dots", "\n", "\r", "\f",
)
# fmt: on
WRAPPERS = (("\\text{(", ")}"), ("\\text{", "}"), ("\\textbf{", "}"), ("\\overline{", "}"))
FINAL_ANSWER = "finalansweris"
ANSWER_IS = re.compile(r"answer?is:?")
BARE_FRACTION = re.compile(r"(frac)([^{])(.)")
BARE_ROOT = re.compile(r"(sqrt)([^{])")
WITHOUT_PHRASES = Replacements([*REPLACED, *((phrase, "") for phrase in REMOVED)])


def minerva(answer: str) -> str:
    """Return the Minerva form: units, spaces and LaTeX wrappers removed."""
    answer = WITHOUT_PHRASES(answer)
    for opening, closing in WRAPPERS:
        answer = unwrapped(answer, opening, closing)
    answer = _unboxed(answer)
    answer = answer.partition(FINAL_ANSWER)[2] if FINAL_ANSWER in answer else answer
    announced = ANSWER_IS.search(answer)
    if announced is not None:
        answer = answer[announced.end() :]
    answer = last_between(answer, "oxed{", "}")
    answer = last_between(answer, "$", "$").strip()
    if "rac" in answer and "\\frac" not in answer:
        answer = answer.replace("rac", "\\frac")
    answer = BARE_FRACTION.sub(r"frac{\2}{\3}", answer)
    answer = BARE_ROOT.sub(r"sqrt{\2}", answer).replace("$", "")
    digits = answer.replace(",", "")
    return digits if digits.isdigit() else answer


def _unboxed(text: str) -> str:
    r"""Take the first `\boxed{` and the last brace off."""
    start, end = text.find("\\boxed{"), text.rfind("}")
    inside = start + len("\\boxed{")
    return text if start < 0 or end < inside else text[:start] + text[inside:end] + text[end + 1 :]
