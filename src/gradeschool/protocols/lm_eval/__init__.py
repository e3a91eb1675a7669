"""EleutherAI lm-evaluation-harness: gsm8k and gsm8k_cot, unchanged from 0.4.2 to 0.4.13."""

from gradeschool.protocols.lm_eval.prompts import GSM8K, GSM8K_COT
from gradeschool.protocols.lm_eval.rules import COT_STRICT, FLEXIBLE, STRICT

RULES = (STRICT, FLEXIBLE, COT_STRICT)
PROTOCOLS = (GSM8K, GSM8K_COT)
