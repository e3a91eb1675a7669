"""AI2 open-instruct: the verifiable reward for GSM8K; it trains with it and has no prompt."""

from gradeschool.protocols.open_instruct.verifier import GSM8K_VERIFIER

SCORERS = (GSM8K_VERIFIER,)
PROTOCOLS = ()
