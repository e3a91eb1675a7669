"""jaimetcf/ai-benchmarks: its GSM8K benchmark class and the script that runs gpt-4.1 on it."""

from gradeschool.protocols.ai_benchmarks.gsm8k import GSM8K, GSM8K_SCORER

SCORERS = (GSM8K_SCORER,)
PROTOCOLS = (GSM8K,)
