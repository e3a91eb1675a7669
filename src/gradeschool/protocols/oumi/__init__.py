"""`oumi/gsm8k`: gsm8k_reward with its default method "strict"."""

from gradeschool.answers.extractions import last_marked, marked_gold
from gradeschool.protocols import SERVERS_OWN, Protocol, Scorer, Template

SOURCE = "oumi 0.9, oumi/datasets/grpo"
# A prompt that defines the protocol, verbatim.
INSTRUCTION = 'Let\'s think step by step and output the final answer after "####".'
SCORERS = (
    Scorer(
        name="oumi/gsm8k",
        summary="the last '#### N', equal as a string (a training reward)",
        source=f"{SOURCE}/rewards/gsm8k_reward.py",
        reference=marked_gold,
        extract=last_marked,
    ),
)
PROTOCOLS = (
    Protocol(
        name="oumi/gsm8k",
        summary="zero-shot chat, the answer after '####'; the recipe's prompt, the server's "
        "decoding",
        source=f"{SOURCE}/gsm8k.py",
        render=Template(question=f"{{question}} {INSTRUCTION}", form="message"),
        decoding=SERVERS_OWN,  # a training recipe: it defines nothing for evaluation
        scorers=("oumi/gsm8k",),
    ),
)
