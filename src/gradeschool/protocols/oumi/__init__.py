"""`oumi/gsm8k`: gsm8k_reward with its default method "strict"."""

from gradeschool.protocols import Scorer
from gradeschool.protocols.extractions import last_marked, marked_gold

SOURCE = "oumi 0.9, oumi/datasets/grpo"
SCORERS = (
    Scorer(
        name="oumi/gsm8k",
        summary="the last '#### N', equal as a string (a training reward)",
        source=f"{SOURCE}/rewards/gsm8k_reward.py",
        reference=marked_gold,
        extract=last_marked,
    ),
)
