"""`inspect/gsm8k`: ten shots in one system message, the answer on a last line "ANSWER: N".

inspect_evals 0.26.0, src/inspect_evals/gsm8k/gsm8k.py (task version 2-A), with its options
`-T fewshot=5` and `-T fewshot=0`; src/inspect_evals/mgsm/mgsm.py.
"""

from __future__ import annotations

from dataclasses import replace

from gradeschool.completion import Decoding
from gradeschool.prompts import MGSM as LANGUAGES
from gradeschool.prompts import Template, mgsm_message
from gradeschool.protocol import Protocol

# `Dataset.shuffle(seed=42)` of the train split, first ten:
# numpy.random.default_rng(42).permutation(7473)[:10].
SHOT_ROWS = (3082, 2184, 5897, 2437, 6330, 819, 3812, 5878, 5302, 5876)
# A prompt that defines the protocol, verbatim.
TEMPLATE = (
    "Solve the following math problem step by step. The last line of your response should be of "
    'the form "ANSWER: $ANSWER" (without quotes) where $ANSWER is the answer to the problem.\n\n'
    "{question}\n\n"
    'Remember to put your answer on its own line at the end in the form "ANSWER: $ANSWER" '
    "(without quotes) where $ANSWER is the answer to the problem, and you do not need to use a "
    "\\boxed command.\n\nReasoning:"
)
MATCH = "inspect/match-numeric@>=0.3.253"


ZERO_SHOT = Template(question=TEMPLATE, form="message")
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
    scorers=(MATCH,),
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
        scorers=(MATCH,),
        is_chat=True,
        dataset="gsm8k" if language == "en" else f"mgsm:{language}",
    )


MGSM = tuple(map(_mgsm, LANGUAGES))
