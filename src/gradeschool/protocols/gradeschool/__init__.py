"""Our own rule and prompts: what the published rules miss, and examples that are shipped."""

from gradeschool.protocols.gradeschool.few_shot import FEW_SHOT
from gradeschool.protocols.gradeschool.parse_answer import PARSE_ANSWER
from gradeschool.protocols.gradeschool.reader import READER

RULES = (READER, PARSE_ANSWER)
PROTOCOLS = (FEW_SHOT,)
