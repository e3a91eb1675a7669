"""lighteval: the GSM8K task of its own back end and of its inspect back end."""

from gradeschool.protocols.lighteval.gsm8k import GSM8K, GSM8K_INSPECT, INSPECT, MULTITURN, PLAIN

SCORERS = (GSM8K, GSM8K_INSPECT)
PROTOCOLS = (PLAIN, MULTITURN, INSPECT)
