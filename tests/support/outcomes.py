"""Outcomes of a scorer on many texts, those of a library computed at once."""

from __future__ import annotations

from collections.abc import Sequence

from gradeschool.library_scorer import call_at_once
from gradeschool.scorer import Scorer
from gradeschool.verdict import Outcome


def outcomes_of(scorer: Scorer, pairs: Sequence[tuple[str, str]]) -> list[Outcome]:
    """The outcomes of (text, reference) pairs, in their order."""

    def outcome(text: str, reference: str) -> Outcome:
        return scorer.judge_against(text, reference).outcome

    return call_at_once(outcome, pairs) if scorer.extra else [outcome(*pair) for pair in pairs]
