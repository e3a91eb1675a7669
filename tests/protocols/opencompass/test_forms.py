"""OpenCompass's comparison by forms, without its shortcuts: the same on whatever is invented."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from gradeschool.protocols.opencompass import zero_shot
from gradeschool.protocols.opencompass.forms import hendrycks, minerva
from gradeschool.verdict import Outcome
from tests.support.outcomes import judge_against

PIECES = st.sampled_from(
    [
        *"0123456789", "18", "5", " ", " ", "=", "==", "$", "w", "two ", "week",
        "J", "x", "v", "+", "*", "/", "a ", "an ", "ans", "wer", " is", "answer is ",
        "The answer is ", "final answer is ", "er is",
        "dollars", "square", "and", "inf", "track", "mbox", "units", "%", "j", "sqrt", "frac", "\n",
        "’", "½", "３", "Janet sells ", "eggs", ".", "\\", "{", "}", "\\text{", "-", ",",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=14).map("".join)
GOLDS = st.sampled_from(["18", "5", "-10", "518", "15", "1", "0", "12.5", "x"])


def same_by_forms(value: str, gold: str) -> bool:
    """The comparison as upstream writes it."""
    try:
        form, gold_form = hendrycks(value), hendrycks(gold)
        if form == gold_form or minerva(form) == minerva(gold_form):
            return True
    except ValueError:
        pass
    return minerva(value) == minerva(gold) or value == gold


def outcome_by_forms(text: str, gold: str) -> Outcome:
    """The outcome of a text without a box, by nothing but the forms."""
    value = minerva(zero_shot.announcing_piece(text).text)
    if not value:
        return Outcome.NO_ANSWER
    return Outcome.CORRECT if same_by_forms(value, gold) else Outcome.WRONG


@settings(max_examples=1500, deadline=None)
@given(value=TEXTS, gold=GOLDS)
@example(value="$5$ 18", gold="518")
@example(value="x=18", gold="18")
@example(value="9*2=18", gold="18")
def test_same(value: str, gold: str) -> None:
    assert zero_shot.compare(value, gold) is same_by_forms(value, gold)


@settings(max_examples=1500, deadline=None)
@given(text=TEXTS, gold=GOLDS)
@example(text="So ansdollarswer is18", gold="18")
@example(text="The answer is 18", gold="18")
@example(text="9 = $18$ and $5", gold="18")
def test_outcome(text: str, gold: str) -> None:
    assert judge_against(zero_shot.V2_SCORER, text, gold).outcome is outcome_by_forms(text, gold)
