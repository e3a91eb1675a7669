"""TRL: the reward for right answers that its GRPO examples use."""

from gradeschool.protocols.trl.scorers import ACCURACY_REWARD

SCORERS = (ACCURACY_REWARD,)
PROTOCOLS = ()
