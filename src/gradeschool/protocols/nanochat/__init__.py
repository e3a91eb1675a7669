"""nanochat: its GSM8K task, scored as OpenAI's official code does."""

from gradeschool.protocols.nanochat.gsm8k import GSM8K, GSM8K_SCORER

SCORERS = (GSM8K_SCORER,)
PROTOCOLS = (GSM8K,)
