"""The majority votes of gsm8k_cot_self_consistency: maj@8 and maj@64.

https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/filters/selection.py
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/gsm8k/gsm8k-cot-self-consistency.yaml
"""

from __future__ import annotations

from gradeschool.protocols.lm_eval.cot_scorers import read_self_consistency
from gradeschool.protocols.lm_eval.scorers import SOURCE, cleaned, gold_alone
from gradeschool.vote import Vote

# What the regex filter returns for a text without an answer; it is counted like an answer.
INVALID = "[invalid]"


def ballot(text: str) -> str:
    """Return the number as it is written: "1,000" and "1000" are two candidates."""
    answer = read_self_consistency(text, "")
    return INVALID if answer is None else answer.text


def same(winner: str, reference: str) -> bool:
    """Compare the winner by exact_match."""
    return cleaned(winner) == reference


def _majority(voters: int, chain: str) -> Vote:
    return Vote(
        name=f"lm-eval/gsm8k-cot-self-consistency/maj@{voters}",
        summary=f"the most frequent 'The answer is N' of {voters} samples, '[invalid]' among them",
        source=f"{SOURCE}/gsm8k-cot-self-consistency.yaml, filter maj@{voters}: {chain}",
        voters=voters,
        ballot=ballot,
        nothing=INVALID,
        reference=gold_alone,
        compare=same,
    )


MAJ_64 = _majority(64, "regex, majority_vote over all repeats")
MAJ_8 = _majority(8, "take_first_k 8, regex, majority_vote")
