"""TRL: the accuracy reward of its GRPO examples.

https://github.com/huggingface/trl, PyPI 1.16.0, trl/rewards/accuracy_rewards.py lines 29-120.
"""

from __future__ import annotations

from gradeschool.library_scorer import library_scorer

ACCURACY_REWARD = library_scorer(
    "trl/accuracy-reward",
    summary="Math-Verify on LaTeX alone: a box, or a formula after 'answer'; plain numbers are "
    "not read",
    source="trl 1.16.0, trl/rewards/accuracy_rewards.py, accuracy_reward",
    function=f"{__package__}.library:accuracy_reward",
    how="TRL's reading by Math-Verify",
)


SCORERS = (ACCURACY_REWARD,)
PROTOCOLS = ()
