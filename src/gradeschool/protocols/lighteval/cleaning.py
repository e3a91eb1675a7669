r"""LaTeX as lighteval cleans it: the normalisation of latex2sympy2_extended 1.0.6 by means of 1.11.

latex2sympy2_extended 1.0.6, math_normalization.py, lines 262-330 (boxes), 456-509. The steps that
1.11 does otherwise are here, in the order of 1.0.6; the others are 1.11's. Runs in a child process.
"""

from __future__ import annotations

import re

from latex2sympy2_extended import NormalizationConfig, normalize_latex

BOX = re.compile(r"\\[bf]box(?:ed)?")
BOXES = ("\\boxed", "\\fbox")
BRACE = re.compile(r"[{}]")
JOINED = re.compile(r"^\s*(?:and|or|,)\s*$")
TEXT_AND_OR = re.compile(r"\\text{\s*(?:and|or)\s*}")
AND_OR = re.compile(r"(?<!\w)(?:and|or)(?!\w)")
PERCENT = re.compile(r"\\text{percent}|\s*percent")
TEXT_AT_THE_END = re.compile(r"(\\(?:text|mbox){.*?})(\^\d|\{\^\d\})?$")
EMPTY_TEXT = re.compile(r"\\text\s*\{\s*\}")

COMMANDS = NormalizationConfig(
    basic_latex=True,
    units=False,
    malformed_operators=False,
    nits=False,
    boxed="none",
    equations=True,
)
OPERATORS = NormalizationConfig(
    basic_latex=False,
    units=False,
    malformed_operators=True,
    nits=True,
    boxed="none",
    equations=False,
)


def cleaned(latex: str, last_box: bool) -> str:
    """Return a formula ready to be parsed. last_box: only the last box and those joined to it."""
    text = boxed(latex, last_box)
    text = PERCENT.sub(lambda _: r"\\%", text)
    text = AND_OR.sub(";", TEXT_AND_OR.sub(";", text))
    text = normalize_latex(text, COMMANDS)
    without_unit = TEXT_AT_THE_END.sub("", text).strip()
    text = EMPTY_TEXT.sub(" ", without_unit or text)
    cleaned: str = normalize_latex(text, OPERATORS)
    return cleaned


def boxed(text: str, last_box: bool) -> str:
    r"""Return the contents of the boxes, joined by commas; the text itself where there is none.

    Boxes are found from the end. last_box: stop where "and", "or" or a comma does not join two.
    A box without a closing brace counts only as the last one, and reaches to the end of the text.
    """
    contents: list[str] = []
    end, later = len(text), -1
    while True:
        start, inside = _box_before(text, later if later >= 0 else end)
        if start < 0 or inside >= end:
            break
        close = _closing_brace(text, inside, end) if text[inside] == "{" else -1
        if close < 0:
            contents = contents or [text[inside:]]
            break
        if last_box and later >= 0 and not JOINED.match(text[close + 1 : later]):
            break
        contents.append(text[inside + 1 : close].strip())
        end = later = start
    return ",".join(reversed(contents)) if contents else text


def _box_before(text: str, end: int) -> tuple[int, int]:
    """Return where the last box before `end` starts, and where its brace should stand."""
    start, command = max((text.rfind(command, 0, end), command) for command in BOXES)
    inside = start + len(command)
    while inside < end and text[inside].isspace():
        inside += 1
    return start, inside


def _closing_brace(text: str, opening: int, end: int) -> int:
    depth = 0
    for brace in BRACE.finditer(text, opening, end):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return brace.start()
    return -1
