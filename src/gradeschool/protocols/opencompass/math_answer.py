r"""The two normal forms of an answer in OpenCompass's MATH evaluator (version v2).

https://github.com/open-compass/opencompass/blob/a5acc4bb/opencompass/datasets/math.py
The lists of strings are upstream's. Its lazy patterns (`\\text\{(.*?)\}`, `(\d+)\.0+$` and others)
are quadratic where they do not match; the scans here find the same in linear time.
"""

from __future__ import annotations

import re

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

STRIPPED = (
    ("\\!", ""),
    ("\\ ", ""),
    ("\\\\", "\\"),
    ("\\\\", "\\"),
    ("tfrac", "frac"),
    ("dfrac", "frac"),
    ("\\left", ""),
    ("\\right", ""),
)
STRIPPED_AFTER_UNIT = (
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
# `(\d+)\.0+([^\d])` and `(\d+)\.0+$`: a run of digits is tried once, from its start.
ZERO_DECIMALS = re.compile(r"(?<!\d)(\d++)\.0++(\D)")
ZERO_DECIMALS_AT_END = re.compile(r"(?<!\d)(\d++)\.0++\Z")
BARE_ROOT_WORD = re.compile(r"\\sqrt(\w+)")


def minerva(answer: str) -> str:
    """Return the Minerva form: units, spaces and LaTeX wrappers removed."""
    for old, new in REPLACED:
        answer = answer.replace(old, new)
    for phrase in REMOVED:
        answer = answer.replace(phrase, "")
    for opening, closing in WRAPPERS:
        answer = _unwrapped(answer, opening, closing)
    answer = _unboxed(answer)
    answer = answer.partition(FINAL_ANSWER)[2] if FINAL_ANSWER in answer else answer
    announced = ANSWER_IS.search(answer)
    if announced is not None:
        answer = answer[announced.end() :]
    answer = _last_between(answer, "oxed{", "}")
    answer = _last_between(answer, "$", "$").strip()
    if "rac" in answer and "\\frac" not in answer:
        answer = answer.replace("rac", "\\frac")
    answer = BARE_FRACTION.sub(r"frac{\2}{\3}", answer)
    answer = BARE_ROOT.sub(r"sqrt{\2}", answer).replace("$", "")
    digits = answer.replace(",", "")
    return digits if digits.isdigit() else answer


def hendrycks(answer: str) -> str:
    """Return the Hendrycks form, second version.

    Raises ValueError on an `a/b` that is no fraction of integers, as upstream does.
    """
    answer = answer.strip().replace("\n", "").rstrip(".")
    for old, new in STRIPPED:
        answer = answer.replace(old, new)
    answer = _without_unit(answer)
    for old, new in STRIPPED_AFTER_UNIT:
        answer = answer.replace(old, new)
    if "\\infty" not in answer:
        answer = answer.replace("inf", "\\infty")
    for old, new in (("+\\inity", "\\infty"), ("and", ""), ("\\mathbf", "")):
        answer = answer.replace(old, new)
    answer = _without(answer, "\\mbox{", "}")
    if "j" in answer and "i" not in answer:
        answer = answer.replace("j", "i")
    answer = ZERO_DECIMALS_AT_END.sub(r"\1", ZERO_DECIMALS.sub(r"\1\2", answer))
    if not answer:
        return answer
    if answer[0] == ".":
        answer = "0" + answer
    name, _, value = answer.partition("=")
    if len(name) <= 2 and answer.count("=") == 1:
        answer = value
    answer = BARE_ROOT_WORD.sub(r"\\sqrt{\1}", answer).replace(" ", "")
    return _as_fraction(_braced_fractions(answer))


def _unwrapped(text: str, opening: str, closing: str) -> str:
    """Take wrappers off; each reaches to the nearest closing."""
    parts: list[str] = []
    at = 0
    while (start := text.find(opening, at)) >= 0:
        inside = start + len(opening)
        end = text.find(closing, inside)
        if end < 0:
            break
        parts += text[at:start], text[inside:end]
        at = end + len(closing)
    return "".join([*parts, text[at:]])


def _without(text: str, opening: str, closing: str) -> str:
    """Remove everything from an opening to the nearest closing."""
    parts: list[str] = []
    at = 0
    while (start := text.find(opening, at)) >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        parts.append(text[at:start])
        at = end + len(closing)
    return "".join([*parts, text[at:]])


def _unboxed(text: str) -> str:
    r"""Take the first `\boxed{` and the last brace off."""
    start, end = text.find("\\boxed{"), text.rfind("}")
    inside = start + len("\\boxed{")
    return text if start < 0 or end < inside else text[:start] + text[inside:end] + text[end + 1 :]


def _last_between(text: str, opening: str, closing: str) -> str:
    """Return what the last pair of marks encloses; the whole text where there is no pair."""
    between, at = text, 0
    while (start := text.find(opening, at)) >= 0:
        inside = start + len(opening)
        end = text.find(closing, inside)
        if end < 0:
            break
        between, at = text[inside:end], end + len(closing)
    return between


def _without_unit(text: str) -> str:
    r"""Cut a text that ends in a brace at its first `\text{`, unless nothing would be left."""
    start = text.find("\\text{")
    cut = text
    if start >= 0 and text.endswith("}") and len(text) > start + len("\\text{"):
        cut = text[:start]
    return cut.strip() or text


def _braced_fractions(text: str) -> str:
    r"""Write `\frac12` as `\frac{1}{2}`."""
    head, *tails = text.split("\\frac")
    parts = [head]
    for tail in tails:
        if tail.startswith("{"):
            parts.append(tail)
            continue
        if len(tail) < 2:
            return text
        over, under, rest = tail[0], tail[1], tail[2:]
        parts.append(f"{{{over}}}" + (under if under == "{" else f"{{{under}}}") + rest)
    return "\\frac".join(parts)


def _as_fraction(text: str) -> str:
    r"""Write `36/2` as `\frac{36}{2}`; raises ValueError on `a/b`."""
    over, slash, under = text.partition("/")
    if not slash or "/" in under:
        return text
    numbers = int(over), int(under)
    return f"\\frac{{{numbers[0]}}}{{{numbers[1]}}}" if text == "{}/{}".format(*numbers) else text
