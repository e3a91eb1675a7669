"""DeepSeek-Math: its evaluation of GSM8K, zero-shot for instruction models, few-shot for base."""

from gradeschool.protocols.deepseek_math.gsm8k import (
    FEW_SHOT_COT,
    FEW_SHOT_SCORER,
    ZERO_SHOT,
    ZERO_SHOT_CHAT,
    ZERO_SHOT_SCORER,
)

SCORERS = (ZERO_SHOT_SCORER, FEW_SHOT_SCORER)
PROTOCOLS = (ZERO_SHOT, ZERO_SHOT_CHAT, FEW_SHOT_COT)
