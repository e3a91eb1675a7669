"""oumi: the GSM8K reward of its GRPO recipes, after verl's, without the clip."""

from gradeschool.protocols.oumi.gsm8k import GSM8K, GSM8K_REWARD

SCORERS = (GSM8K_REWARD,)
PROTOCOLS = (GSM8K,)
