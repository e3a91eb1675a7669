"""Questions and solutions as tokens; labels; the items of a training."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("transformers", reason="needs transformers, which make test-all installs")

from gradeschool import Problem
from gradeschool.errors import InputError
from gradeschool.scoring.at_k import (
    Candidate,
    CandidateRun,
    ProblemCandidates,
    count_labels,
    describe_labels,
)
from gradeschool.verifier.data import (
    QuestionSolution,
    SolutionTokens,
    encode_pairs,
    language_items,
    line_ends,
    step_ends,
    use_chat,
    verifier_items,
)
from tests.support.trainees import sums, tokenizer_of

pytestmark = pytest.mark.slow

TOKENIZER = tokenizer_of(sums(20))
PROBLEMS = sums(3)


def run_of(*labels: str) -> CandidateRun:
    """A run with these completions of each problem: r for right, w for wrong."""
    answered = []
    for problem, marks in zip(PROBLEMS, labels, strict=False):
        candidates = [
            Candidate(f"{problem.id}-{place}", place, f"He has {mark}.\n#### 7", True, "7",
                      mark == "r")
            for place, mark in enumerate(marks)
        ]  # fmt: skip
        answered.append(ProblemCandidates(problem, candidates))
    return CandidateRun("run", Path("run"), {}, "openai/2021", answered, 0)


def encode(tokenizer: Any, question: str, solution: str) -> SolutionTokens:
    """The tokens of one pair."""
    return encode_pairs(tokenizer, [QuestionSolution(question, solution)])[0]


def test_a_text_is_question_line_break_solution_end() -> None:
    text = encode(TOKENIZER, "Why?", "So.\n#### 1")
    assert TOKENIZER.decode(text.question) == "Why?\n"
    assert TOKENIZER.decode(text.solution[:-1]) == "So.\n#### 1"
    assert text.solution[-1] == TOKENIZER.eos_token_id
    [unfinished] = encode_pairs(TOKENIZER, [QuestionSolution("Why?", "So.\n#### 1", False)])
    assert unfinished.solution == text.solution[:-1]


def test_a_chat_model_reads_the_question_as_a_turn() -> None:
    tokenizer = tokenizer_of(sums(20))
    with pytest.raises(InputError, match="has no chat template, which --chat needs"):
        use_chat(tokenizer, "folder")
    tokenizer.chat_template = "{% for turn in messages %}[{{ turn.content }}]{% endfor %}:"
    use_chat(tokenizer, "folder")
    question, solution = encode(tokenizer, "Why?", "So.")
    assert tokenizer.decode(question) == "[Why?]:"
    assert tokenizer.decode(solution[:-1]) == "So."


def test_steps_end_behind_their_line_breaks() -> None:
    solution = "He has 3+4=7.\n\n#### 7"
    text = encode(TOKENIZER, "Why?", solution)
    ends = line_ends(TOKENIZER, solution, text.solution)
    parts = [TOKENIZER.decode(text.solution[start:end], skip_special_tokens=True)
             for start, end in zip([0, *ends], ends, strict=False)]  # fmt: skip
    assert parts[0].startswith("He has 3+4=7.") and parts[-1].strip() == "#### 7"
    assert ends[-1] == len(text.solution)
    steps = ["One.\nMore.", "", "Two."]
    text = encode(TOKENIZER, "Why?", "\n".join(steps))
    ends = step_ends(TOKENIZER, steps, text.solution)
    assert TOKENIZER.decode(text.solution[: ends[0]]) == "One.\nMore.\n"
    assert ends[0] < ends[1] < ends[2] == len(text.solution)


def test_labels_are_counted_by_problem() -> None:
    labels = count_labels(run_of("rrw", "ww", "r").answered)
    names = ("completions", "right", "solved", "mixed", "different")
    assert [labels[name] for name in names] == [6, 3, 2, 1, 4]
    assert "6 completions of 3 problems, 4 of them different, 50.0 % right" in describe_labels(
        labels
    )


def test_each_distinct_solution_comes_with_the_reference() -> None:
    items, _ = verifier_items(run_of("rrw", "w"), TOKENIZER, 500)
    assert [len(item) for item in items] == [2, 2, 2]
    assert [item[0].weight for item in items] == [2, 1, 1]
    assert [item[0].is_right for item in items] == [True, False, False]
    assert all(item[1].language_start == item[1].start and not item[1].weight for item in items)
    by_right, _ = verifier_items(run_of("rw"), TOKENIZER, 500, language="right")
    assert [row.language_start is not None for (row,) in by_right] == [True, False]


def test_pairs_are_of_one_problem() -> None:
    items, _ = verifier_items(run_of("rw", "ww", "rrw"), TOKENIZER, 500, objective="pairwise")
    assert len(items) == 2
    assert all(right.is_right and not wrong.is_right for right, wrong in items)


@pytest.mark.parametrize(
    ("run", "options", "message"),
    [
        (run_of("r", "rr"), {}, "are all right; a verifier learns from right and wrong ones"),
        (run_of("w"), {}, "are all wrong"),
        (run_of("rw"), {"context": 5}, "are all too long or undecided"),
        (run_of("r", "w"), {"objective": "pairwise"}, "are never both for one problem"),
        (run_of("rw"), {"supervision": "process"}, "is not a fresh problem"),
    ],
)
def test_labels_that_teach_nothing_are_refused(run: Any, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        verifier_items(run, TOKENIZER, **{"context": 500, **options})


def test_problems_beyond_the_context_are_left_out() -> None:
    long = Problem.from_row("long", "Why? " * 300, "#### 1")
    items, left_out = language_items(TOKENIZER, [*PROBLEMS, long], 500, whole=True)
    assert (len(items), left_out) == (3, ["long"])
    assert all(item[0].language_start == 1 for item in items)
    with pytest.raises(InputError, match="no example to train on"):
        language_items(TOKENIZER, [long], 500, whole=False)
