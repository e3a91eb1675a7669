r"""`inspect/aime2025`: the scorer and prompt of inspect_evals' AIME tasks; they fit GSM8K as well.

inspect_evals 0.26.0, src/inspect_evals/utils/aime_common.py (aime2025 task version 5-A): the last
line that contains more than marks, without its box, then the match of inspect_ai.
"""

from __future__ import annotations

import re
from dataclasses import replace

from gradeschool.completion import Decoding
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol
from gradeschool.protocols.inspect_ai.match import compare_0_3_253, extract_0_3_253
from gradeschool.scorer import Scorer
from gradeschool.verdict import Answer, answer_of

SOURCE = "inspect-evals 0.26.0, src/inspect_evals/utils/aime_common.py"
MARKS_ALONE = re.compile(r"^[\$\*\-#\s]*$")
BOX = "\\boxed{"
# A prompt that defines the protocol, verbatim.
TEMPLATE = (
    "Solve the following math problem step by step.\n"
    'The last line of your response should be of the form "ANSWER: $ANSWER" (without quotes) where '
    "$ANSWER is the answer to the problem.\n\n"
    "{question}\n\n"
    'Remember to put your answer on its own line at the end in the form "ANSWER: $ANSWER" '
    "(without quotes) where $ANSWER is the answer to the problem, and you do not need to use a "
    "\\boxed command."
)


def last_line(text: str) -> str:
    """Return the last line with more than "$", "*", "-", "#" and space; else the last line."""
    text = text.strip()
    start, last = len(text) + 1, None
    while start > 0:
        end = start - 1
        start = text.rfind("\n", 0, end) + 1
        for line in reversed(text[start:end].splitlines()):
            if line[:1].isalnum() or not MARKS_ALONE.match(line):
                return line
            last = line if last is None else last
    return last or ""


def without_box(line: str) -> str:
    r"""Return a line without its `\boxed{...}`; the box extends to the line's last brace."""
    start, end = line.find(BOX), line.rfind("}")
    inside = start + len(BOX)
    if start < 0 or end <= inside:
        return line
    return line[:start] + line[inside:end] + line[end + 1 :]


def extract(text: str, gold: str) -> Answer | None:
    """Extract the last word of the last line that is a number."""
    line = last_line(text)
    answer = extract_0_3_253(without_box(line) if BOX in line else line, gold) if line else None
    if answer is None:
        return None
    word, value, _, how = answer
    start = text.rfind(word)
    span = None if start < 0 else (start, start + len(word))
    return answer_of((word, value, span, f"the last line: {how}"))


AIME_SCORER = Scorer(
    name="inspect/aime2025",
    summary="the last word of the last line that is a number, its box opened, in 5 digits",
    source=f"{SOURCE}, aime_scorer",
    reference=lambda problem: problem.gold,
    extract=extract,
    compare=compare_0_3_253,
)

AIME2025 = Protocol(
    name="inspect/aime2025",
    summary="zero-shot, 'ANSWER: N' on the last line, the provider's decoding",
    source=f"{SOURCE}, USER_PROMPT_TEMPLATE",
    render=Template(question=TEMPLATE, form="message"),
    # The task sets no temperature, nucleus or length: the provider's defaults apply.
    decoding=Decoding(temperature=None, top_p=None, max_tokens=None),
    scorers=("inspect/aime2025",),
    is_chat=True,
)

AIME2024 = replace(
    AIME2025,
    name="inspect/aime2024",
    summary="the same for the examinations of 2024",
    dataset="aime:2024",
)
