"""evalscope: its GSM8K benchmark, version v1.1."""

from gradeschool.protocols.evalscope.prompts import GSM8K_PROMPTS
from gradeschool.protocols.evalscope.scorers import GSM8K

SCORERS = (GSM8K,)
PROTOCOLS = (GSM8K_PROMPTS,)
