"""evalscope: GSM8K, version v1.1, and other sets."""

from gradeschool.protocols.evalscope.gsm8k import GSM8K, GSM8K_PROMPTS
from gradeschool.protocols.evalscope.other_sets import AIME_SCORER, OTHER_PROTOCOLS

SCORERS = (GSM8K, AIME_SCORER)
PROTOCOLS = (GSM8K_PROMPTS, *OTHER_PROTOCOLS)
