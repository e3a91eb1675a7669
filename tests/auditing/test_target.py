"""How a scorer is called: by its signature, and by trial."""

from collections.abc import Callable

import pytest

from gradeschool.auditing.calling import AuditedScorer
from gradeschool.auditing.target import Call, calls_of, target_of
from tests.support import scorers


@pytest.mark.parametrize(
    ("function", "call"),
    [
        (scorers.by_solution, "f(completion, gold), the gold as a whole solution with '#### N'"),
        (scorers.by_number, "f(completion, gold), the gold as a number"),
        (scorers.of_trl, "f(completions=[messages], answer=[gold]), the gold as text"),
        (scorers.of_verl, "f(data_source=, solution_str=, ground_truth=, extra_info=), the gold"),
        (scorers.later, "f(completion, gold), the gold as text"),
        (scorers.Graders.by_end, "f(completion, gold), the gold as text"),
        (scorers.noisy, "f(completion, gold), the gold as text"),
    ],
)
def test_the_way_of_calling_is_found_out(function: Callable[..., object], call: str) -> None:
    with AuditedScorer(target_of(function), 0.5) as scorer:
        from gradeschool.auditing.audit import _formats_read, _in_words

        assert "#### N" in _formats_read(scorer)
        assert _in_words(scorer.call, scorer.target).startswith(call)


def test_ways_to_call_follow_the_signature() -> None:
    assert {call.way for call in calls_of(scorers.of_trl)} == {"batch", "chats"}
    assert calls_of(scorers.of_verl)[0] == Call("names")
    assert calls_of(scorers.ends_with)[0] == Call("pair")
    with pytest.raises(TypeError, match="takes no gold"):
        calls_of(lambda completions: [0.0])
