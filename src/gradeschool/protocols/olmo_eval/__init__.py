"""AI2 olmo-eval 1.0, the successor of OLMES: integers keep their sign."""

from gradeschool.protocols.olmo_eval.gsm8k import GSM8K, GSM8K_RULE, OLMO3BASE

RULES = (GSM8K_RULE,)
PROTOCOLS = (GSM8K, OLMO3BASE)
