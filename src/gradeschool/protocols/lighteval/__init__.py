"""lighteval: the GSM8K task of its own back end and of its inspect back end."""

from gradeschool.protocols.lighteval.prompts import INSPECT, MULTITURN, PLAIN
from gradeschool.protocols.lighteval.scorers import GSM8K, GSM8K_INSPECT

SCORERS = (GSM8K, GSM8K_INSPECT)
PROTOCOLS = (PLAIN, MULTITURN, INSPECT)
