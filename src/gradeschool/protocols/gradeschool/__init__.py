"""Our own rule and prompts: what the published rules miss, and examples that are shipped."""

from gradeschool.protocols.gradeschool.few_shot import FEW_SHOT
from gradeschool.protocols.gradeschool.parse_answer import PARSE_ANSWER

RULES = (PARSE_ANSWER,)
PROTOCOLS = (FEW_SHOT,)
