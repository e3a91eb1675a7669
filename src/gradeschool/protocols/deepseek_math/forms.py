r"""The normal form of an answer in DeepSeek-Math's evaluation (`strip_string`).

https://github.com/deepseek-ai/DeepSeek-Math/blob/b8b0f8ce093d80bf8e9a641e44142f06d092c305/evaluation/data_processing/answer_extraction.py
The lists of strings are upstream's. Its patterns `\\text{.*?}$`, `(\d+)\.0+$` and `(\\|,|\.)+$` are
quadratic where they do not match; what stands here finds the same in linear time.
"""

from __future__ import annotations

import re

from gradeschool.latex import braced_fractions, without, without_zero_decimals

INTEGER = re.compile(r"-?[0-9]+")
TEXT = "\\text{"
BEFORE_UNITS = (
    ("tfrac", "frac"),
    ("dfrac", "frac"),
    ("cfrac", "frac"),
    ("\\left", ""),
    ("\\right", ""),
)
# Upstream uses the module `regex` for these; its \s is without U+001C to U+001F.
LENGTH = re.compile(r"\{(?:c|m)?m\}(?:\^(?:2|3))?")
AFTERNOON = re.compile(r"p\.m\.\Z")
TONS = re.compile(r"(\d)[^\S\x1c-\x1f]*t\Z")
AFTER_UNITS = (
    ("\\$", ""),
    ("$", ""),
    ("x\\in", ""),
    ("\\%", "%"),
    (" .", " 0."),
    ("{.", "{0."),
    ("\\cdot", ""),
    ("infinity", "\\infty"),
)
BARE_ARGUMENTS = (
    (re.compile(r"\\sqrt(-?[0-9.a-zA-Z]+)"), r"\\sqrt{\1}"),
    (re.compile(r"\\sqrt\s+(\w+)\Z"), r"\\sqrt{\1}"),
    (re.compile(r"\\tan(-?[0-9.a-zA-Z]+)"), r"\\tan{\1}"),
    (re.compile(r"\\tan\s+(\w+)\Z"), r"\\tan{\1}"),
)
ROOT = "sqrt"


def stripped(answer: str) -> str:
    """Return an answer without units, spaces and the LaTeX that makes no difference."""
    if INTEGER.fullmatch(answer):
        return answer
    answer = answer.strip().replace("\n", "").rstrip(".").replace("\\!", "")
    if answer.startswith(TEXT) and answer.endswith("}"):
        answer = answer[len(TEXT) : -1]
    for old, new in BEFORE_UNITS:
        answer = answer.replace(old, new)
    answer = _without_units(answer)
    for old, new in AFTER_UNITS:
        answer = answer.replace(old, new)
    if "\\infty" not in answer:
        answer = answer.replace("inf", "\\infty")
    for old, new in (("+\\inity", "\\infty"), ("\\mathbf", ""), ("\\mathrm", "")):
        answer = answer.replace(old, new)
    answer = without(answer, "\\mbox{", "}")
    if "j" in answer and "i" not in answer:
        answer = answer.replace("j", "i")
    answer = without_zero_decimals(answer)
    if not answer:
        return answer
    if answer[0] == ".":
        answer = "0" + answer
    for pattern, braced in BARE_ARGUMENTS:
        answer = pattern.sub(braced, answer)
    return _as_fraction(braced_fractions(answer.replace(" ", ""))).rstrip("\\,.")


def _without_units(text: str) -> str:
    r"""Cut a text that ends in a brace at its first `\text{`; take degrees, lengths, tons off."""
    start = text.find(TEXT)
    cut = text
    if start >= 0 and text.endswith("}") and len(text) > start + len(TEXT):
        cut = text[:start]
    text = cut.strip() or text
    for degrees in ("^{\\circ}", "^\\circ"):
        text = text.replace(degrees, "").strip()
    text = AFTERNOON.sub("", LENGTH.sub("", text).strip()).strip()
    return TONS.sub(r"\1", text).strip()


def _as_fraction(text: str) -> str:
    r"""Write `36/2` as `\frac{36}{2}`; what holds a root is taken as it is."""
    over, slash, under = text.partition("/")
    if not slash or "/" in under:
        return text
    try:
        sides = [side if ROOT in side else int(side) for side in (over, under)]
    except ValueError:
        return text
    return f"\\frac{{{sides[0]}}}{{{sides[1]}}}" if text == f"{sides[0]}/{sides[1]}" else text
