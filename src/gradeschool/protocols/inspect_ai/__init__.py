"""UK AISI inspect_ai: match(numeric=True) in four eras, inspect_evals gsm8k, mgsm, aime."""

from gradeschool.protocols.inspect_ai.aime import AIME2024, AIME2025, AIME_SCORER
from gradeschool.protocols.inspect_ai.match import (
    MATCH_0_3_220,
    MATCH_0_3_221,
    MATCH_0_3_253,
    MATCH_0_3_253_260,
)
from gradeschool.protocols.inspect_ai.prompts import GSM8K, GSM8K_0, GSM8K_5, MGSM

SCORERS = (MATCH_0_3_220, MATCH_0_3_221, MATCH_0_3_253_260, MATCH_0_3_253, AIME_SCORER)
PROTOCOLS = (GSM8K, GSM8K_5, GSM8K_0, *MGSM, AIME2025, AIME2024)
