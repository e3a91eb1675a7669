r"""The Hendrycks form of an answer, second version, as OpenCompass's MATH evaluator makes it.

https://github.com/open-compass/opencompass/blob/a5acc4bb/opencompass/datasets/math.py
(_strip_string_v2). The lists of strings are upstream's. Its patterns `\\text{.*?}$`,
`(\d+)\.0+([^\d])` and `(\d+)\.0+$` are quadratic where they do not match; what stands here finds
the same in linear time.
"""

from __future__ import annotations

import re

from gradeschool.latex import braced_fractions, without, without_zero_decimals
from gradeschool.protocols.opencompass.scans import Replacements

BEFORE_UNIT = Replacements(
    (
        ("\\!", ""),
        ("\\ ", ""),
        ("\\\\", "\\"),
        ("\\\\", "\\"),
        ("tfrac", "frac"),
        ("dfrac", "frac"),
        ("\\left", ""),
        ("\\right", ""),
    )
)
AFTER_UNIT = Replacements(
    (
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
)
LAST = Replacements((("+\\inity", "\\infty"), ("and", ""), ("\\mathbf", "")))
BARE_ROOT_WORD = re.compile(r"\\sqrt(\w+)")


def hendrycks(answer: str) -> str:
    """Return the Hendrycks form, second version.

    Raises ValueError on an `a/b` that is no fraction of integers, as upstream does.
    """
    answer = answer.strip().replace("\n", "").rstrip(".")
    answer = AFTER_UNIT(_without_unit(BEFORE_UNIT(answer)))
    if "\\infty" not in answer:
        answer = answer.replace("inf", "\\infty")
    answer = without(LAST(answer), "\\mbox{", "}")
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
    return _as_fraction(braced_fractions(answer))


def _without_unit(text: str) -> str:
    r"""Cut a text that ends in a brace at its first `\text{`, unless nothing would be left."""
    start = text.find("\\text{")
    cut = text
    if start >= 0 and text.endswith("}") and len(text) > start + len("\\text{"):
        cut = text[:start]
    return cut.strip() or text


def _as_fraction(text: str) -> str:
    r"""Write `36/2` as `\frac{36}{2}`; raises ValueError on `a/b`."""
    over, slash, under = text.partition("/")
    if not slash or "/" in under:
        return text
    numbers = int(over), int(under)
    return f"\\frac{{{numbers[0]}}}{{{numbers[1]}}}" if text == "{}/{}".format(*numbers) else text
