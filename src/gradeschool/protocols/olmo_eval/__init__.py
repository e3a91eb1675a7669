"""AI2 olmo-eval 1.0, the successor of OLMES: integers keep their sign."""

from gradeschool.protocols.olmo_eval.gsm8k import GSM8K, GSM8K_SCORER, OLMO3BASE

SCORERS = (GSM8K_SCORER,)
PROTOCOLS = (GSM8K, OLMO3BASE)
