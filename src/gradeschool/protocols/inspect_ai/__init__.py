r"""UK AISI inspect_ai: match(numeric=True) in four eras, math(); inspect_evals' GSM8K, MGSM, AIME.

`inspect/gsm8k`: ten shots in one system message, the answer on a last line "ANSWER: N"; with
`-T fewshot=5` and `-T fewshot=0`. `inspect/aime2025`: the last line that contains more than marks,
without its box, then the match of inspect_ai; it fits GSM8K as well. `inspect/math`: inspect_ai's
scorer of expressions itself.

inspect_evals 0.26.0, src/inspect_evals/gsm8k/gsm8k.py (task version 2-A), mgsm/mgsm.py,
utils/aime_common.py (aime2025 task version 5-A); inspect_ai 0.3.285,
src/inspect_ai/scorer/_math.py lines 1176-1383.
"""

from __future__ import annotations

import re
from dataclasses import replace

from gradeschool.completion import Decoding
from gradeschool.library_scorer import library_scorer
from gradeschool.prompts import MGSM as LANGUAGES
from gradeschool.prompts import Template, mgsm_message
from gradeschool.protocol import Protocol
from gradeschool.protocols.inspect_ai.match import (
    MATCH,
    MATCH_0_3_220,
    MATCH_0_3_221,
    MATCH_0_3_253,
)
from gradeschool.scorer import Scorer
from gradeschool.verdict import Answer, answer_of

# `Dataset.shuffle(seed=42)` of the train split, first ten:
# numpy.random.default_rng(42).permutation(7473)[:10].
SHOT_ROWS = (3082, 2184, 5897, 2437, 6330, 819, 3812, 5878, 5302, 5876)
# A prompt that defines the protocol, verbatim.
GSM8K_TEMPLATE = (
    "Solve the following math problem step by step. The last line of your response should be of "
    'the form "ANSWER: $ANSWER" (without quotes) where $ANSWER is the answer to the problem.\n\n'
    "{question}\n\n"
    'Remember to put your answer on its own line at the end in the form "ANSWER: $ANSWER" '
    "(without quotes) where $ANSWER is the answer to the problem, and you do not need to use a "
    "\\boxed command.\n\nReasoning:"
)

ZERO_SHOT = Template(question=GSM8K_TEMPLATE, form="message")
FEW_SHOT = replace(
    ZERO_SHOT,
    shot="{question}",
    answer="\n\nReasoning:\n{steps}\n\nANSWER: {gold}",
    system="{shots}",
    rows=SHOT_ROWS,
)


# The tasks set no temperature, nucleus or length: the provider's defaults apply.
PROVIDERS_OWN = Decoding(temperature=None, top_p=None, max_tokens=None)

GSM8K = Protocol(
    name="inspect/gsm8k",
    summary="10 shots in the system message, 'ANSWER: N' on the last line, the provider's decoding",
    source="inspect-evals 0.26.0, src/inspect_evals/gsm8k/gsm8k.py",
    render=FEW_SHOT,
    decoding=PROVIDERS_OWN,
    scorers=(MATCH.name,),
    shots="gsm8k:train",
    shot_count=10,
    is_chat=True,
)

GSM8K_5 = replace(
    GSM8K,
    name="inspect/gsm8k-5shot",
    summary="the same with the first 5 shots (-T fewshot=5)",
    render=replace(FEW_SHOT, count=5),
    shot_count=5,
)

GSM8K_0 = replace(
    GSM8K,
    name="inspect/gsm8k-0shot",
    summary="the same without shots and system message (-T fewshot=0)",
    render=ZERO_SHOT,
    shots="",
    shot_count=0,
)


def _mgsm(language: str) -> Protocol:
    """Return MGSM in one language; the instructions are simple-evals'."""
    return Protocol(
        name=f"inspect/mgsm-{language}",
        summary=f"zero-shot chat, the prompt of simple-evals ({language}) read by inspect's match",
        source="inspect-evals 0.26.0, src/inspect_evals/mgsm/mgsm.py",
        render=mgsm_message(language),
        decoding=PROVIDERS_OWN,
        scorers=(MATCH.name,),
        is_chat=True,
        dataset="gsm8k" if language == "en" else f"mgsm:{language}",
    )


MGSM = tuple(map(_mgsm, LANGUAGES))

AIME_SOURCE = "inspect-evals 0.26.0, src/inspect_evals/utils/aime_common.py"
MARKS_ALONE = re.compile(r"^[\$\*\-#\s]*$")
BOX = "\\boxed{"
# A prompt that defines the protocol, verbatim.
AIME_TEMPLATE = (
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
    answer = MATCH.extract(without_box(line) if BOX in line else line, gold) if line else None
    if answer is None:
        return None
    word, value, _, how = answer
    start = text.rfind(word)
    span = None if start < 0 else (start, start + len(word))
    return answer_of((word, value, span, f"the last line: {how}"))


AIME_SCORER = Scorer(
    name="inspect/aime2025",
    summary="the last word of the last line that is a number, its box opened, in 5 digits",
    source=f"{AIME_SOURCE}, aime_scorer",
    reference=lambda problem: problem.gold,
    extract=extract,
    compare=MATCH.compare,
)

AIME2025 = Protocol(
    name="inspect/aime2025",
    summary="zero-shot, 'ANSWER: N' on the last line, the provider's decoding",
    source=f"{AIME_SOURCE}, USER_PROMPT_TEMPLATE",
    render=Template(question=AIME_TEMPLATE, form="message"),
    decoding=PROVIDERS_OWN,
    scorers=("inspect/aime2025",),
    is_chat=True,
)

AIME2024 = replace(
    AIME2025,
    name="inspect/aime2024",
    summary="the same for the examinations of 2024",
    dataset="aime:2024",
)

MATH = library_scorer(
    "inspect/math",
    summary="math() of inspect_ai, called itself: the last box, else after 'answer' or 'result', "
    "a formula, the last line or number; equal as an expression",
    source="inspect_ai 0.3.285, src/inspect_ai/scorer/_math.py, math",
    function=f"{__package__}.library:math",
    how="inspect_ai's math()",
    extra="inspect-ai",
)

SCORERS = (MATCH_0_3_220, MATCH_0_3_221, MATCH_0_3_253, MATCH, AIME_SCORER, MATH)
PROTOCOLS = (GSM8K, GSM8K_5, GSM8K_0, *MGSM, AIME2025, AIME2024)
