r"""The string forms in which hrm8k compares answers: Hendrycks et al.'s `_strip_string`, and more.

https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/hrm8k/en/utils.py
Raises what upstream raises (IndexError, AssertionError); the comparison catches them there too.
"""

from __future__ import annotations

FIRST = (
    ("\n", ""),
    ("\\!", ""),
    ("\\\\", "\\"),
    ("tfrac", "frac"),
    ("dfrac", "frac"),
    ("\\left", ""),
    ("\\right", ""),
    ("^{\\circ}", ""),
    ("^\\circ", ""),
    ("\\$", ""),
)
UNIT = "\\text{ "


def stripped(text: str) -> str:
    """Return an answer without the LaTeX that makes no difference."""
    for old, new in FIRST:
        text = text.replace(old, new)
    if UNIT in text:
        if text.count(UNIT) > 1:
            raise AssertionError(f"several {UNIT!r}")
        text = text.partition(UNIT)[0]
    text = text.replace("\\%", "").replace(" .", " 0.").replace("{.", "{0.")
    if not text:
        return text
    if text[0] == ".":
        text = "0" + text
    name, _, value = text.partition("=")
    if len(name) <= 2 and text.count("=") == 1:
        text = value
    text = _braced_fractions(_braced_roots(text).replace(" ", ""))
    if text == "0.5":
        text = "\\frac{1}{2}"
    return _as_fraction(text)


def as_number(text: str) -> str:
    """Return a number without zero decimals ("18.00" -> "18", "018" -> "18"), by way of a float."""
    text = text.strip()
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else str(number)


def _braced_roots(text: str) -> str:
    r"""Write `\sqrt3` as `\sqrt{3}`; fails on a root of nothing."""
    head, *roots = text.split("\\sqrt")
    parts = [root if root[0] == "{" else f"{{{root[0]}}}{root[1:]}" for root in roots]
    return "\\sqrt".join([head, *parts])


def _braced_fractions(text: str) -> str:
    r"""Write `\frac12` as `\frac{1}{2}`; fails on a fraction of nothing."""
    head, *tails = text.split("\\frac")
    parts = [head]
    for tail in tails:
        if tail[0] == "{":
            parts.append(tail)
            continue
        if len(tail) < 2:
            return text
        over, under, rest = tail[0], tail[1], tail[2:]
        parts.append(f"{{{over}}}" + (under if under == "{" else f"{{{under}}}") + rest)
    return "\\frac".join(parts)


def _as_fraction(text: str) -> str:
    r"""Write `36/2` as `\frac{36}{2}`."""
    over, slash, under = text.partition("/")
    if not slash or "/" in under:
        return text
    try:
        numbers = int(over), int(under)
    except ValueError:
        return text
    return f"\\frac{{{numbers[0]}}}{{{numbers[1]}}}" if text == "{}/{}".format(*numbers) else text
