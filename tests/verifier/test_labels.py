"""The groups of labelled solutions that a verifier is trained on."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradeschool import Problem
from gradeschool.errors import InputError
from gradeschool.verifier.candidates import Candidate, CandidateRun, ProblemCandidates
from gradeschool.verifier.labels import groups_of
from tests.support.trainees import sums, tokenizer_of

pytest.importorskip("transformers", reason="needs transformers, which make test-all installs")


@pytest.mark.parametrize(("context", "state"), [(None, "undecided"), (1, "too long")])
def test_the_message_says_why_no_solution_is_left(context: int | None, state: str) -> None:
    """No annotation says how these answers came about, so no first wrong step is known."""
    solution = "3*4=<<3*4=12>>12\n#### 12"
    problem = Problem.from_row("7", "How many?", solution, {"structure": "by hand"})
    texts = ("I do not know", "The answer is 12") if state == "undecided" else (solution,)
    candidates = [
        Candidate(f"key-{index}", index, text, True, "12", True) for index, text in enumerate(texts)
    ]
    answered = [ProblemCandidates(problem, candidates)]
    run = CandidateRun("run", Path("run"), {}, "openai/2021", answered, 0)
    with pytest.raises(InputError, match=f"are all {state};"):
        groups_of(run, tokenizer_of(sums(8)), context, None, "process")
