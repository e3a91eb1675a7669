"""OpenCompass: the evaluator of its gsm8k configurations."""

from gradeschool.protocols.opencompass.rules import GSM8K

RULES = (GSM8K,)
PROTOCOLS = ()
