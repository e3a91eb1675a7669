r"""verl's reward functions for GSM8K, MATH and DAPO: `compute_score` of each.

`verl/gsm8k/strict`, `verl/gsm8k/flexible`: "#### N" or the last number of the last 300 characters.
`verl/math-reward`: the last box, in Hendrycks et al.'s form. `verl/math-dapo`: the last line
"Answer: N" of the last 300 characters in Minerva's form; without one, the last box, verbatim.

https://github.com/volcengine/verl/blob/b178a3cd/verl/utils/reward_score/gsm8k.py (= PyPI 0.9.1)
https://github.com/volcengine/verl/blob/b178a3cd/verl/utils/reward_score/math_reward.py, 18-216
https://github.com/volcengine/verl/blob/b178a3cd/verl/utils/reward_score/math_dapo.py, 22-275
https://github.com/volcengine/verl/blob/b178a3cd/examples/data_preprocess/gsm8k.py
"""

from __future__ import annotations

import re

from gradeschool.answers.extractions import HASH, last_marked, marked_gold
from gradeschool.answers.search import closing_brace, last_match, last_number_start, mentions_answer
from gradeschool.completion import Decoding
from gradeschool.latex import (
    MINERVA_REMOVED,
    MINERVA_REWRITTEN,
    MINERVA_SUBSTITUTIONS,
    hendrycks_form,
    replaced,
    spaced_box,
)
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer, verbatim
from gradeschool.verdict import Answer, answer_of

FOLDER = "verl 0.9.1, verl/utils/reward_score"
SOURCE = f"{FOLDER}/gsm8k.py"
CLIP = 300  # characters
NUMBER = re.compile(r"(\-?[0-9\.\,]+)")

# A prompt that defines the protocol, verbatim.
INSTRUCTION = 'Let\'s think step by step and output the final answer after "####".'


def extract_strict(text: str, reference: str) -> Answer | None:
    """Extract the last "#### N" of the last 300 characters, without commas; a last period stays."""
    answer = last_marked(text[-CLIP:]) if HASH in text else None
    if answer is None or answer.span is None:
        return None
    offset = max(0, len(text) - CLIP)
    span = (offset + answer.span[0], offset + answer.span[1])
    return answer._replace(span=span, how="the last '#### N' near the end")


def extract_flexible(text: str, reference: str) -> Answer | None:
    """Extract the last run of digits, periods and commas that is more than one period.

    Commas and a trailing period stay. If every run is ".", the first of them is the answer.
    """
    end, offset = text[-CLIP:], max(0, len(text) - CLIP)
    for start in (max(last_number_start(text) - offset, 0), 0):
        matches = [*NUMBER.finditer(end, start)]
        match = next((match for match in reversed(matches) if match[0] != "."), None)
        if match is not None:
            break
    if match is None and not matches:
        return None
    match = match or matches[0]
    span = (offset + match.start(), offset + match.end())
    return answer_of((match[0], match[0], span, "the last number near the end"))


STRICT = Scorer(
    name="verl/gsm8k/strict",
    summary="the last '#### N' of the last 300 characters, equal as a string",
    source=f"{SOURCE}, method strict",
    reference=marked_gold,
    extract=extract_strict,
    compare=verbatim,
)

FLEXIBLE = Scorer(
    name="verl/gsm8k/flexible",
    summary="the last number of the last 300 characters, commas and periods kept, as a string",
    source=f"{SOURCE}, method flexible",
    reference=marked_gold,
    extract=extract_flexible,
    compare=verbatim,
)

GSM8K = Protocol(
    name="verl/gsm8k",
    summary="zero-shot chat, the answer after '####', greedy as in verl's validation, 512 tokens",
    source="verl 0.9.1: examples/data_preprocess/gsm8k.py; trainer/config (val_kwargs, data)",
    render=Template(question=f"{{question}} {INSTRUCTION}", form="message"),
    decoding=Decoding(temperature=0.0, top_p=1.0, max_tokens=512),
    scorers=("verl/gsm8k/strict", "verl/gsm8k/flexible"),
    is_chat=True,
)


def extract_box(text: str, reference: str) -> Answer | None:
    """Extract the last box."""
    box = spaced_box(text)
    return None if box is None else Answer(box.text, box.text, (box.start, box.end), "the last box")


def compare_hendrycks(value: str, reference: str) -> bool:
    """Compare Hendrycks' forms, or the texts themselves if a form raises."""
    try:
        first, second = (
            hendrycks_form(text, percents=("\\\\%", "\\%")) for text in (value, reference)
        )
    except (AssertionError, IndexError):
        return value == reference
    return first == second


MATH_REWARD = Scorer(
    name="verl/math-reward",
    summary="the last box, equal in Hendrycks' form; no box, no answer",
    source=f"{FOLDER}/math_reward.py",
    reference=lambda problem: problem.gold,
    extract=extract_box,
    compare=compare_hendrycks,
)


BOX, BOX_CLIP = "\\boxed{", 100  # characters in which a box is searched
ANSWER_LINE = re.compile(r"(?i)Answer\s*:\s*([^\n]+)")
BARE_ROOT = re.compile(r"(sqrt)([^{])")
INVALID = "[INVALID]"


class BoxContent(str):
    """The content of a box, which is compared with the gold as it is."""

    __slots__ = ()


def minerva_form(text: str) -> str:
    """Return an answer in DAPO's version of Minerva's normal form; "ft" stays."""
    text = text.split("=")[-1]
    text = replaced(text, MINERVA_SUBSTITUTIONS)
    for expression in MINERVA_REMOVED:
        text = text if expression == "ft" else text.replace(expression, "")
    for pattern, replacement in MINERVA_REWRITTEN:
        text = pattern.sub(replacement, text)
    text = BARE_ROOT.sub(r"sqrt{\2}", text).replace("$", "")
    digits = text.replace(",", "")
    return (digits if digits.isdigit() else text).strip()


def extract_dapo(text: str, reference: str) -> Answer | None:
    """Extract the last "Answer: N", else the last closed box near the end."""
    offset = max(0, len(text) - CLIP)
    is_marked = text.find(":", offset) >= 0 and mentions_answer(text)
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


MATH_DAPO = Scorer(
    name="verl/math-dapo",
    summary="the last 'Answer: N' of the last 300 characters in Minerva's form, else the last box "
    "of the last 100, equal as a string",
    source=f"{FOLDER}/math_dapo.py",
    reference=lambda problem: problem.gold,
    extract=extract_dapo,
    compare=compare_dapo,
)

SCORERS = (STRICT, FLEXIBLE, MATH_REWARD, MATH_DAPO)
PROTOCOLS = (GSM8K,)
