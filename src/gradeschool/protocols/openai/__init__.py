"""OpenAI's release of GSM8K: prompt, scorer, and the flags of its example solutions.

`openai/2021`: prompt, extraction and comparison of the repository that released GSM8K.
`openai/example-solutions`: how the published example_model_solutions.jsonl was flagged. Those
solutions end in a last line "A: N", which the released extractor ignores.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradeschool.errors import InputError
from gradeschool.problem import Problem
from gradeschool.protocols.extractions import first_marked
from gradeschool.scorer import Answer, clip

INVALID = "[invalid]"
MARK = "A: "


def extract_answer(completion: str) -> str:
    """Return the official extraction of an answer: the first "#### N" without commas.

    Returns "[invalid]" if there is none. Keeps the official quirks: "#### 18." gives "18.",
    "#### $18" gives "[invalid]".
    """
    answer = first_marked(completion, "")
    return INVALID if answer is None else answer.value


def official_gold(problem: Problem) -> str:
    """Return the official extraction of the reference solution."""
    return extract_answer(problem.solution)


def is_correct(model_completion: str, gt_example: Mapping[str, str] | Problem) -> bool:
    """Return whether a completion is right by the official scorer: extractions are equal strings.

    gt_example: a GSM8K row (its "answer" is the reference solution) or a Problem. Raises InputError
    for anything else, and for a solution without "#### N", as the official code asserts.
    """
    try:
        solution = gt_example["answer"]
    except (TypeError, LookupError):
        raise InputError(
            f"the reference is not a GSM8K row: {clip(repr(gt_example))}; give one, or call "
            "gradeschool.judge(completion, gold, scorer='openai/2021').correct"
        ) from None
    gold = extract_answer(solution)
    if gold == INVALID:
        raise InputError(f"the reference has no '#### N': {solution[-60:]!r}; give a GSM8K row")
    return extract_answer(model_completion) == gold


def extract_last_line(text: str, reference: str) -> Answer | None:
    """Extract the text after "A: " at the start of the last line."""
    start = text.rfind("\n") + 1
    if not text.startswith(MARK, start):
        return None
    answer, span = text[start + len(MARK) :], (start + len(MARK), len(text))
    return Answer(answer, answer.replace(",", ""), span, "the last line after 'A: '")
