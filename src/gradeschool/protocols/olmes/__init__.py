"""AI2 OLMES (oe_eval): gsm8k::tulu, the protocol of the Tulu-3 paper, and gsm8k::olmes."""

from gradeschool.protocols.olmes.base import BASE
from gradeschool.protocols.olmes.tulu import TULU, TULU_RULE

RULES = (TULU_RULE,)
PROTOCOLS = (TULU, BASE)
