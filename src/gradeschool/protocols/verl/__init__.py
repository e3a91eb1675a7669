"""verl: the GSM8K reward in its two methods, and the prompt of its data preparation."""

from gradeschool.protocols.verl.gsm8k import FLEXIBLE, GSM8K, STRICT

SCORERS = (STRICT, FLEXIBLE)
PROTOCOLS = (GSM8K,)
