"""Qwen2.5-Math: the evaluation of its technical report, also used by many later reports."""

from gradeschool.protocols.qwen2_5_math.grading import GSM8K, OTHER
from gradeschool.protocols.qwen2_5_math.prompts import (
    COT,
    OTHER_PROTOCOLS,
    QWEN2,
    QWEN2_CHAT,
    QWEN25,
    QWEN25_CHAT,
)

SCORERS = (GSM8K, OTHER)
PROTOCOLS = (QWEN25, QWEN25_CHAT, QWEN2, QWEN2_CHAT, COT, *OTHER_PROTOCOLS)
