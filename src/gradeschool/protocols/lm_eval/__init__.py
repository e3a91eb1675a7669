"""EleutherAI lm-evaluation-harness 0.4: GSM8K, Platinum and other sets; GSM8K of 0.3.0."""

from gradeschool.protocols.lm_eval.math import MATH_SCORERS
from gradeschool.protocols.lm_eval.prompts import PROTOCOLS
from gradeschool.protocols.lm_eval.scorers import (
    GSM8K_0_3_SCORER,
    GSM8K_SCORERS,
    MGSM_SCORERS,
    VOTES,
)

__all__ = ["PROTOCOLS", "SCORERS", "VOTES"]
SCORERS = (*GSM8K_SCORERS, GSM8K_0_3_SCORER, *MGSM_SCORERS, *MATH_SCORERS)
