"""Qwen2.5-Math: the evaluation that its technical report and many later ones use."""

from gradeschool.protocols.qwen2_5_math.grading import GSM8K

RULES = (GSM8K,)
PROTOCOLS = ()
