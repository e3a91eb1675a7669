"""Check which samples of two results are paired and where their prompts differ."""

from __future__ import annotations

import pytest

from gradeschool.completion import Message, Prompt
from gradeschool.formats.settings import RecordedRequest
from gradeschool.runs.diff.pairs import paired, prompt_differences
from gradeschool.runs.diff.steps import STEPS_OF_TEXTS
from tests.support.differences import diff, field, side


@pytest.mark.parametrize(
    ("prompt", "words"), [(None, "the prompts cannot be compared"), ("Q!", "the prompts differ")]
)
def test_token_counts_of_prompts_that_are_not_equal_are_not_compared(
    prompt: str | None, words: str
) -> None:
    ours = side(["a"] * 4, requests=[RecordedRequest(Prompt(text="Q?"), 10)] * 4, prompt_tokens=10)
    theirs = RecordedRequest(None if prompt is None else Prompt(text=prompt), 815)
    delta = diff(ours, side(["b"] * 4, requests=[theirs] * 4, prompt_tokens=815))
    assert [pair.more_tokens for pair in paired(delta.a, delta.b).pairs] == [None] * 4
    assert (field(delta, "prompt tokens").explains, field(delta, "prompt tokens").words) == (
        None, words,
    )  # fmt: skip


def test_the_places_where_prompts_differ_are_shown_by_kinds() -> None:
    ours = [RecordedRequest(Prompt(text=f"Für Q: {i}\nA:")) for i in range(4)]
    theirs = [RecordedRequest(Prompt(text=f"Für Q: {i}\nAnswer:")) for i in range(3)] + [ours[3]]
    delta = diff(side(["a"] * 4, requests=ours), side(["b"] * 4, requests=theirs))
    (kind,) = delta.prompts
    assert (kind.completions, kind.shared, kind.a, kind.b) == (3, 11, ":", "nswer:")
    assert field(delta, "prompt").explains == 3
    by_name = {
        entry.name: entry.texts for entry in delta.account.steps if entry.name in STEPS_OF_TEXTS
    }
    assert list(by_name.values()) == [3, 1, 0]


def test_a_system_message_of_one_alone_is_a_difference() -> None:
    user = Message("user", "Q?")
    ours = [RecordedRequest(Prompt(messages=(Message("system", "Be brief."), user)))] * 4
    delta = diff(
        side(["a"] * 4, requests=ours),
        side(["a"] * 4, requests=[RecordedRequest(Prompt("Q?"))] * 4),
    )
    assert delta.prompts[0].a.startswith("[system]")
    assert len(prompt_differences(paired(delta.a, delta.b).pairs)) == 1
