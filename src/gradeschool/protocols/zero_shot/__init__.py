"""Zero-shot prompts: an instruction in a chat, and "Let's think step by step." (Kojima et al.)."""

from gradeschool.protocols.zero_shot.prompts import CHAT, COT

SCORERS = ()
PROTOCOLS = (CHAT, COT)
