"""Our own scorer and prompts: what the published scorers miss, and examples that are shipped."""

from gradeschool.protocols.gradeschool.few_shot import FEW_SHOT
from gradeschool.protocols.gradeschool.scorers import PARSE_ANSWER, READER

SCORERS = (READER, PARSE_ANSWER)
PROTOCOLS = (FEW_SHOT,)
