r"""Cleaning the LaTeX of answers as several harnesses do, in linear time where theirs is not."""

import re
from collections.abc import Iterable
from typing import Any

from gradeschool.answers.search import BOX, TextMatch, closing_brace

# "18.00" is written as "18". Several harnesses use `(\d+)\.0+([^\d])` and `(\d+)\.0+$`. Here each
# run of digits is tried only once, from its start.
ZERO_DECIMALS = (
    (re.compile(r"(?<!\d)(\d++)\.0++(\D)"), r"\1\2"),
    (re.compile(r"(?<!\d)(\d++)\.0++\Z"), r"\1"),
)


def replaced(text: str, pairs: Iterable[tuple[str, str]]) -> str:
    """Return a text with each pair's first string replaced by its second, one after the other.

    No first string is of digits alone, as most answers are.
    """
    if text.isdigit():
        return text
    for old, new in pairs:
        text = text.replace(old, new)
    return text


def unwrapped(text: str, opening: str, closing: str = "}", instead: str | None = None) -> str:
    """Replace each opening up to the nearest closing; None keeps the text between the two."""
    parts: list[str] = []
    position = 0
    while (start := text.find(opening, position)) >= 0:
        inside = start + len(opening)
        end = text.find(closing, inside)
        if end < 0:
            break
        parts += text[position:start], text[inside:end] if instead is None else instead
        position = end + len(closing)
    return "".join([*parts, text[position:]])


def without_unit(text: str) -> str:
    r"""Cut a text that ends in a brace at its first `\text{`, unless nothing would remain."""
    start = text.find("\\text{") if text.endswith("}") else -1
    return (text if start < 0 else text[:start]).strip() or text


def braced_fractions(text: str, *, strict: bool = False) -> str:
    r"""Write `\frac12` and `\frac1{2}` as `\frac{1}{2}`.

    Returns the text unchanged if less than two parts follow a command. strict: raises IndexError if
    nothing follows it.
    """
    head, *tails = text.split("\\frac")
    parts = [head]
    for tail in tails:
        if tail.startswith("{"):
            parts.append(tail)
            continue
        if len(tail) < 2:
            if strict and not tail:
                raise IndexError("nothing follows \\frac")
            return text
        over, under, rest = tail[0], tail[1], tail[2:]
        parts.append(f"{{{over}}}" + (under if under == "{" else f"{{{under}}}") + rest)
    return "\\frac".join(parts)


def slash_as_fraction(text: str, *, roots: bool = False, strict: bool = False) -> str:
    r"""Write `36/2` as `\frac{36}{2}` if both sides are integers as Python writes them.

    roots: whether a side with "sqrt" is kept as it is. strict: raises ValueError if a side is not
    an integer.
    """
    over, slash, under = text.partition("/")
    if not slash or "/" in under:
        return text
    try:
        sides = [side if roots and "sqrt" in side else int(side) for side in (over, under)]
    except ValueError:
        if strict:
            raise
        return text
    return "\\frac{{{}}}{{{}}}".format(*sides) if text == "{}/{}".format(*sides) else text


def plain_symbols(
    text: str,
    last: Iterable[tuple[str, str]],
    zero_decimals: Iterable[tuple[re.Pattern[str], str]] = ZERO_DECIMALS,
) -> str:
    """Apply the steps that versions of MATH's second `strip_string` share.

    Writes "inf" as a command, makes the last replacements, removes boxes of text, writes j as i,
    removes zero decimals, and puts a zero before a leading period.
    """
    if "\\infty" not in text:
        text = text.replace("inf", "\\infty")
    text = unwrapped(replaced(text, last), "\\mbox{", instead="")
    if "j" in text and "i" not in text:
        text = text.replace("j", "i")
    for pattern, kept in zero_decimals:
        text = pattern.sub(kept, text)
    return f"0{text}" if text[:1] == "." else text


def right_side(text: str) -> str:
    """Return the right side of an equation whose left side has at most two characters."""
    name, _, value = text.partition("=")
    return value if len(name) <= 2 and text.count("=") == 1 else text


def number_or_percentage(text: str) -> float | None:
    """Return the float that a text spells without its commas; a final "%" divides it by 100."""
    text = text.replace(",", "")
    for written, divisor in ((text, 1), (text.removesuffix("%").removesuffix("\\"), 100)):
        try:
            return float(written) / divisor
        except ValueError:
            if not text.endswith("%"):
                return None
    return None


SPACED_BOX = "\\boxed "
UNIT = "\\text{ "
HENDRYCKS = (
    ("\n", ""), ("\\!", ""), ("\\\\", "\\"), ("tfrac", "frac"), ("dfrac", "frac"), ("\\left", ""),
    ("\\right", ""), ("^{\\circ}", ""), ("^\\circ", ""), ("\\$", ""),
)  # fmt: skip


def math_box(text: str) -> TextMatch | None:
    r"""Return the content of the last `\boxed`, None if it is not closed or has no braces.

    As `last_boxed_only_string` of the evaluation of MATH, which many harnesses copied.
    """
    start = text.rfind("\\boxed")
    if start < 0 or not text.startswith(BOX, start):
        return None
    inside = start + len(BOX)
    close = closing_brace(text, inside)
    return None if close < 0 else TextMatch(text[inside:close], inside, close)


def spaced_box(text: str) -> TextMatch | None:
    r"""Return the content of the last box of MATH's evaluation; None where it finds none or fails.

    If "\boxed " occurs anywhere, its last occurrence counts, up to the next "$".
    """
    if "\\" not in text:
        return None
    if SPACED_BOX in text:
        start = text.rfind(SPACED_BOX) + len(SPACED_BOX)
        content = text[start:].partition("$")[0]
        return TextMatch(content, start, start + len(content))
    return math_box(text)


def hendrycks_form(text: str, *, strict: bool = False, percents: tuple[str, ...] = ("\\%",)) -> str:
    """Return an answer in the string form of Hendrycks et al.'s MATH, `strip_string`.

    strict: as for `slash_as_fraction`. percents: what is removed as a percent sign. Raises what the
    published code raises: AssertionError on two units, IndexError on a command without argument.
    """
    if text.isdigit():
        return text
    text = replaced(text, HENDRYCKS)
    if UNIT in text:
        if text.count(UNIT) > 1:
            raise AssertionError(f"several {UNIT!r}")
        text = text.partition(UNIT)[0]
    for percent in percents:
        text = text.replace(percent, "")
    text = text.replace(" .", " 0.").replace("{.", "{0.")
    if not text:
        return text
    if text[0] == ".":
        text = "0" + text
    head, *roots = right_side(text).split("\\sqrt")
    parts = [root if root[0] == "{" else f"{{{root[0]}}}{root[1:]}" for root in roots]
    text = braced_fractions("\\sqrt".join([head, *parts]).replace(" ", ""), strict=True)
    return slash_as_fraction("\\frac{1}{2}" if text == "0.5" else text, strict=strict)


def hendrycks_equal(value: str, reference: str, **options: Any) -> bool:
    """Return whether two forms are equal, or the texts themselves if a form raises."""
    try:
        return hendrycks_form(value, **options) == hendrycks_form(reference, **options)
    except (AssertionError, IndexError, ValueError):
        return value == reference


# The normal form of Lewkowycz et al. 2022, appendix D: each harness has a version of its own.
MINERVA_SUBSTITUTIONS = (
    ("an ", ""), ("a ", ""), (".$", "$"), ("\\$", ""), ("\\ ", ""), (" ", ""), ("mbox", "text"),
    (",\\text{and}", ","), ("\\text{and}", ","), ("\\text{m}", "\\text{}"),
)  # fmt: skip
MINERVA_REMOVED = (
    "square", "ways", "integers", "dollars", "mph", "inches", "ft", "hours", "km", "units",
    "\\ldots", "sue", "points", "feet", "minutes", "digits", "cents", "degrees", "cm", "gm",
    "pounds", "meters", "meals", "edges", "students", "childrentickets", "multiples", "\\text{s}",
    "\\text{.}", "\\text{\ns}", "\\text{}^2", "\\text{}^3", "\\text{\n}", "\\text{}",
    "\\mathrm{th}", "^\\circ", "^{\\circ}", "\\;", ",\\!", "{,}", '"', "\\dots",
)  # fmt: skip
MINERVA_REWRITTEN = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"(.*?)(\$)(.*?)(\$)(.*)", r"$\3$"),
        (r"(\\text\{)(.*?)(\})", r"\2"),
        (r"(\\textbf\{)(.*?)(\})", r"\2"),
        (r"(\\overline\{)(.*?)(\})", r"\2"),
        (r"(\\boxed\{)(.*)(\})", r"\2"),
        (r"(frac)([^{])(.)", r"frac{\2}{\3}"),
    )
)
