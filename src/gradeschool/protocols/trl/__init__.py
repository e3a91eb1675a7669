"""TRL: the two accuracy rewards of its GRPO examples.

https://github.com/huggingface/trl, PyPI 1.16.0, trl/rewards/accuracy_rewards.py: lines 29-120
(accuracy_reward) and 223-344 (reasoning_accuracy_reward).
"""

from __future__ import annotations

from gradeschool.library_scorer import library_scorer

SOURCE = "trl 1.16.0, trl/rewards/accuracy_rewards.py"
HOW = "TRL's reading by Math-Verify"

ACCURACY_REWARD = library_scorer(
    "trl/accuracy-reward",
    summary="Math-Verify on LaTeX alone: a box, or a formula after 'answer'; plain numbers are "
    "not read",
    source=f"{SOURCE}, accuracy_reward",
    function="gradeschool.protocols.by_math_verify:trl_accuracy_reward",
    how=HOW,
)
REASONING_ACCURACY_REWARD = library_scorer(
    "trl/reasoning-accuracy-reward",
    summary="as trl/accuracy-reward on what follows the last </think>; without one, wrong",
    source=f"{SOURCE}, reasoning_accuracy_reward",
    function="gradeschool.protocols.by_math_verify:trl_reasoning_accuracy_reward",
    how=HOW,
)

SCORERS = (ACCURACY_REWARD, REASONING_ACCURACY_REWARD)
PROTOCOLS = ()
