"""TRL: the two accuracy rewards of its GRPO examples."""

from gradeschool.protocols import library_scorer

SOURCE = "trl 1.16.0, trl/rewards/accuracy_rewards.py"
SCORERS = tuple(
    library_scorer(
        f"trl/{name.replace('_', '-')}",
        summary=summary,
        source=f"{SOURCE}, {name}",
        function=f"gradeschool.protocols.by_math_verify:trl_{name}",
        how="TRL's reading by Math-Verify",
    )
    for name, summary in (
        (
            "accuracy_reward",
            "Math-Verify on LaTeX alone: a box, or a formula after 'answer'; plain numbers are "
            "not read",
        ),
        (
            "reasoning_accuracy_reward",
            "as trl/accuracy-reward on what follows the last </think>; without one, wrong",
        ),
    )
)
