"""`oumi/gsm8k`: gsm8k_reward with its default method "strict".

https://pypi.org/project/oumi/0.9, oumi/datasets/grpo/rewards/gsm8k_reward.py and ../gsm8k.py
"""

from __future__ import annotations

from gradeschool.answers.extractions import last_marked, marked_gold
from gradeschool.completion import Decoding
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer, verbatim

SOURCE = "oumi 0.9, oumi/datasets/grpo"
# A prompt that defines the protocol, verbatim.
INSTRUCTION = 'Let\'s think step by step and output the final answer after "####".'


GSM8K_REWARD = Scorer(
    name="oumi/gsm8k",
    summary="the last '#### N', equal as a string (a training reward)",
    source=f"{SOURCE}/rewards/gsm8k_reward.py",
    reference=marked_gold,
    extract=last_marked,
    compare=verbatim,
)

GSM8K = Protocol(
    name="oumi/gsm8k",
    summary="zero-shot chat, the answer after '####'; the recipe's prompt, the server's decoding",
    source=f"{SOURCE}/gsm8k.py",
    render=Template(question=f"{{question}} {INSTRUCTION}", form="message"),
    # A training recipe: it defines nothing for evaluation.
    decoding=Decoding(temperature=None, top_p=None, max_tokens=None),
    scorers=("oumi/gsm8k",),
    is_chat=True,
)

SCORERS = (GSM8K_REWARD,)
PROTOCOLS = (GSM8K,)
