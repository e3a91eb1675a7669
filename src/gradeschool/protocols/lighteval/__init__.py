"""lighteval: the GSM8K task of its own back end and of its inspect back end; MGSM."""

from gradeschool.protocols.lighteval.gsm8k import GSM8K, GSM8K_INSPECT, INSPECT, MULTITURN, PLAIN
from gradeschool.protocols.lighteval.mgsm import MGSM, MGSM_SCORER

SCORERS = (GSM8K, GSM8K_INSPECT, MGSM_SCORER)
PROTOCOLS = (PLAIN, MULTITURN, INSPECT, *MGSM)
