"""TRL: the reward for right answers that its GRPO examples use."""

from gradeschool.protocols.trl.rules import ACCURACY_REWARD

RULES = (ACCURACY_REWARD,)
PROTOCOLS = ()
