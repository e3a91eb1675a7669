"""evalscope: its GSM8K benchmark, version v1.1."""

from gradeschool.protocols.evalscope.gsm8k import GSM8K, GSM8K_PROMPTS

SCORERS = (GSM8K,)
PROTOCOLS = (GSM8K_PROMPTS,)
