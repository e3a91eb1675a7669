r"""verl's reward functions for GSM8K, MATH and DAPO: `compute_score` of each.

`verl/gsm8k/strict`, `verl/gsm8k/flexible`: "#### N" or the last number of the last 300 characters.
`verl/math-reward`: the last box, in Hendrycks et al.'s form. `verl/math-dapo`: the last line
"Answer: N" of the last 300 characters in Minerva's form; without one, the last box, verbatim.
"""

import re
from functools import partial

from gradeschool import latex
from gradeschool.answers.search import closing_brace, last_match, last_number_start, lowered
from gradeschool.protocols.extractions import HASH, last_marked
from gradeschool.scorer import Answer

CLIP, BOX_CLIP = 300, 100  # characters at the end: of a number, of a box
NUMBER = re.compile(r"(\-?[0-9\.\,]+)")
ANSWER_LINE = re.compile(r"(?i)Answer\s*:\s*([^\n]+)")
BARE_ROOT = re.compile(r"(sqrt)([^{])")
BOX, INVALID = "\\boxed{", "[INVALID]"


def extract_strict(text: str, reference: str) -> Answer | None:
    """Extract the last "#### N" of the last 300 characters, without commas; a last period stays."""
    answer = last_marked(text[-CLIP:], reference) if HASH in text else None
    if answer is None or answer.span is None:
        return None
    offset = max(0, len(text) - CLIP)
    span = (offset + answer.span[0], offset + answer.span[1])
    return answer._replace(span=span, how="the last '#### N' near the end")


def extract_flexible(text: str, reference: str) -> Answer | None:
    """Extract the last run of digits, periods and commas that is more than one period.

    Commas and a trailing period stay. If every run is ".", the first of them is the answer.
    """
    offset = max(0, len(text) - CLIP)
    for start in (max(offset, last_number_start(text)), offset):
        matches = list(NUMBER.finditer(text, start))
        if any(match[0] != "." for match in matches):
            break
    if not matches:
        return None
    match = next((match for match in reversed(matches) if match[0] != "."), matches[0])
    return Answer(match[0], match[0], match.span(), "the last number near the end")


def extract_box(text: str, reference: str) -> Answer | None:
    """Extract the last box."""
    box = latex.spaced_box(text)
    return None if box is None else Answer(box.text, box.text, (box.start, box.end), "the last box")


compare_box = partial(latex.hendrycks_equal, percents=("\\\\%", "\\%"))


class BoxContent(str):
    """The content of a box, which is compared with the gold as it is."""

    __slots__ = ()


def minerva_form(text: str) -> str:
    """Return an answer in DAPO's version of Minerva's normal form; "ft" stays."""
    if text.isdigit():
        return text
    text = latex.replaced(text.split("=")[-1], latex.MINERVA_SUBSTITUTIONS)
    text = latex.replaced(text, ((word, "") for word in latex.MINERVA_REMOVED if word != "ft"))
    for pattern, replacement in latex.MINERVA_REWRITTEN:
        text = pattern.sub(replacement, text)
    text = BARE_ROOT.sub(r"sqrt{\2}", text).replace("$", "")
    digits = text.replace(",", "")
    return (digits if digits.isdigit() else text).strip()


def extract_dapo(text: str, reference: str) -> Answer | None:
    """Extract the last "Answer: N", else the last closed box near the end."""
    offset = max(0, len(text) - CLIP)
    is_marked = text.find(":", offset) >= 0 and lowered(text).find("answer", offset) >= 0
    line = last_match(ANSWER_LINE, text[offset:]) if is_marked else None
    if line is not None and (value := minerva_form(line[1])) != INVALID:
        span = (offset + line.start(1), offset + line.end(1))
        return Answer(line[1], value, span, "the last 'Answer: N' near the end")
    start = text.rfind(BOX, max(0, len(text) - BOX_CLIP))
    inside = start + len(BOX)
    close = closing_brace(text, inside) if start >= 0 else -1
    if close < 0:
        return None
    content = BoxContent(text[inside:close])
    return Answer(str(content), content, (inside, close), "the last box near the end")


def compare_dapo(value: str, reference: str) -> bool:
    """Compare Minerva's forms; the content of a box is compared as it is."""
    return value == (reference if isinstance(value, BoxContent) else minerva_form(reference))
