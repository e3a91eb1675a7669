"""DeepSeek-Math: its evaluation of GSM8K, zero-shot for instruction models, few-shot for base."""

from gradeschool.protocols.deepseek_math.gsm8k import FEW_SHOT_RULE, ZERO_SHOT_RULE
from gradeschool.protocols.deepseek_math.prompts import FEW_SHOT_COT, ZERO_SHOT, ZERO_SHOT_CHAT

RULES = (ZERO_SHOT_RULE, FEW_SHOT_RULE)
PROTOCOLS = (ZERO_SHOT, ZERO_SHOT_CHAT, FEW_SHOT_COT)
