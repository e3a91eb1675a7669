"""`nanochat/gsm8k`: the question alone as user message, the first "#### N".

https://github.com/karpathy/nanochat/blob/92d63d4e/tasks/gsm8k.py
https://github.com/karpathy/nanochat/blob/92d63d4e/scripts/chat_eval.py
"""

from __future__ import annotations

import re

from gradeschool.answers.extractions import MARKED, first_marked
from gradeschool.answers.search import last_match
from gradeschool.completion import Decoding
from gradeschool.problem import Problem
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer, verbatim
from gradeschool.verdict import Answer

SOURCE = "karpathy/nanochat @ 92d63d4e, tasks/gsm8k.py"
# A tool call of the reference solution; the gold is extracted from the text after the last one.
ANNOTATION = re.compile(r"<<[^>]+>>")
NO_GOLD = ""


def extract(text: str, reference: str) -> Answer | None:
    """Extract the first "#### N"; no answer is correct if the solution has no "#### N" either."""
    answer = first_marked(text)
    if answer is None and reference == NO_GOLD:  # upstream: None == None
        return Answer("", NO_GOLD, None, "no '#### N', as in the solution")
    return answer


def reference(problem: Problem) -> str:
    """Return the gold after the same extraction, "" if the solution has none."""
    last_call = last_match(ANNOTATION, problem.solution)
    match = MARKED.search(problem.solution, 0 if last_call is None else last_call.end())
    return NO_GOLD if match is None else match.group(1).replace(",", "")


GSM8K_SCORER = Scorer(
    name="nanochat/gsm8k",
    summary="the first '#### N', equal as a string",
    source=f"{SOURCE}, GSM8K.evaluate",
    reference=reference,
    extract=extract,
    compare=verbatim,
)

GSM8K = Protocol(
    name="nanochat/gsm8k",
    summary="the question alone to a model that was trained on GSM8K, greedy, 512 tokens",
    source=f"{SOURCE}; decoding: scripts/chat_eval.py",
    # Its tokenizer adds the marks of the chat.
    render=Template(question="{question}", form="message"),
    decoding=Decoding(temperature=0.0, max_tokens=512),
    scorers=("nanochat/gsm8k",),
    is_chat=True,
)

SCORERS = (GSM8K_SCORER,)
PROTOCOLS = (GSM8K,)
