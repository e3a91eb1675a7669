"""UK AISI inspect_ai: match(numeric=True) in two eras, and inspect_evals gsm8k."""

from gradeschool.protocols.inspect_ai.match import MATCH_0_3_220, MATCH_0_3_253
from gradeschool.protocols.inspect_ai.prompts import GSM8K

RULES = (MATCH_0_3_220, MATCH_0_3_253)
PROTOCOLS = (GSM8K,)
