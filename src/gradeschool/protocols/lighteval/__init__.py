"""lighteval: GSM8K by its own and by its inspect backend; MGSM, AIME, GSM-Plus."""

from gradeschool.protocols.lighteval.gsm8k import GSM8K, GSM8K_INSPECT, INSPECT, MULTITURN, PLAIN
from gradeschool.protocols.lighteval.mgsm import MGSM, MGSM_SCORER
from gradeschool.protocols.lighteval.other_sets import OTHER_PROTOCOLS, OTHER_SCORERS

SCORERS = (GSM8K, GSM8K_INSPECT, MGSM_SCORER, *OTHER_SCORERS)
PROTOCOLS = (PLAIN, MULTITURN, INSPECT, *MGSM, *OTHER_PROTOCOLS)
