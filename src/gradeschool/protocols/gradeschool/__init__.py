"""gradeschool's own scorers and prompts, with examples shipped in the package.

`gradeschool/parse-answer`: the patterns of multi-pattern without its faults, compared exactly.

`gradeschool/reader`: the answer that a careful person would read, compared exactly.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gradeschool.answers.numbers import answers_match, normalize
from gradeschool.answers.regions import Marks
from gradeschool.answers.search import last_match
from gradeschool.problem import Problem
from gradeschool.protocols.extractions import gold_as
from gradeschool.scorer import Answer, ScorerFailure, clip

# The extractor compiles its patterns for 0.2 s when it is imported: where it is used.
if TYPE_CHECKING:
    from gradeschool.answers.extractor import ExtractedAnswer
    from gradeschool.answers.parse import ParsedAnswer


def parse_answer(text: str, reference: str) -> Answer | None:
    """Extract the answer that the completion states."""
    from gradeschool.answers.parse import read_answer

    return _answer(text, read_answer(text))


gold_of = gold_as(normalize)  # without commas; its sign stays
compare_answers = answers_match
# Golds that the extractor can match: an integer, a decimal, a fraction, a time or a ratio.
NUMERIC = re.compile(r"-?\d+(?:\.\d+|/\d+)?|\d+(?::\d+)+")


class GoldAndQuestion(str):
    """A gold answer with its question, from which the extractor infers the requested unit."""

    __slots__ = ("question",)
    question: str


def gold_and_question(problem: Problem) -> GoldAndQuestion:
    """Return the gold in the form of an extracted value, with the question.

    Raises ScorerFailure for a gold that is not a number, such as half of MATH's.
    """
    from gradeschool.answers.quantities import canonical_gold

    value = canonical_gold(problem.gold)
    if value != NO_SOLUTION and NUMERIC.fullmatch(value) is None:
        raise ScorerFailure(
            f"{clip(value)!r} is not a number; use a scorer of expressions, as math-verify/default"
        )
    gold = GoldAndQuestion(value)
    gold.question = problem.question
    return gold


# The gold of a question that cannot be answered (GSM-Plus), and the texts that say so: "None" in
# the place of an answer, or a sentence near the end.
NO_SOLUTION = "None"
NONE_STATED = re.compile(
    r"(?:\#{4}|\banswer(?: is)?:?|\\boxed\{)\s*\**(?:\\text\{)?none\b", re.IGNORECASE
)
CANNOT_ANSWER = re.compile(
    r"""
    \b (?: cannot | can[ ]not | can['’]t | could[ ]not | unable[ ]to | impossible[ ]to
        | not[ ]possible[ ]to | no[ ]way[ ]to ) [ ] (?: be[ ] )?
        (?: accurately[ ] | definitively[ ] )?
        (?: determin | calculat | comput | answer | solv | know | find | figur | tell | conclu )
    | (?: \b not | n['’]t | \b without ) [ ]
        (?: have[ ] | give[ ] | provide[ ] | contain[ ] | the[ ] )?
        (?: enough | sufficient | necessary ) [ ] (?: information | data | detail )
    | \b (?: insufficient | missing ) [ ] (?: information | data | detail )
    | \b (?: does | do | did | is | are | was | were ) (?: [ ]not | n['’]t ) [ ]
        (?: specif | provid | stat | mention | given | know | tell )
    """,
    re.IGNORECASE | re.VERBOSE,
)
NEAR_END = 400  # characters at the end in which such a sentence counts


def extract_answer(text: str, reference: str, marks: Marks = ()) -> Answer | None:
    """Extract the answer that the completion commits to.

    If the gold is that there is no answer, a completion that says so and states no number is right.
    marks: further pairs of marks of thinking.
    """
    from gradeschool.answers.extractor import Confidence, extract_final_answer

    question = getattr(reference, "question", "")
    reading = extract_final_answer(text, question, marks)
    if reference == NO_SOLUTION and (reading is None or reading.confidence is Confidence.GUESSED):
        how, match = "'None' as the answer", last_match(NONE_STATED, text)
        if match is None:
            how = "a sentence that says that it cannot be answered"
            match = CANNOT_ANSWER.search(text, max(0, len(text) - NEAR_END))
        if match is not None:
            return Answer(match.group(), NO_SOLUTION, match.span(), how)
    return _answer(text, reading)


def compare_exactly(value: str, reference: str) -> bool:
    """Return whether an extracted value is the gold (`answers.quantities.same_answer`)."""
    from gradeschool.answers.quantities import same_answer

    return same_answer(value, reference)


def _answer(text: str, reading: ParsedAnswer | ExtractedAnswer | None) -> Answer | None:
    if reading is None:
        return None
    start, end = reading.start, reading.end
    return Answer(text[start:end], reading.value, (start, end), reading.how)


def with_completion(problem: Problem) -> dict[str, str]:
    """Return the fields of the judge's prompt; the completion is in the problem's meta."""
    completion = problem.meta.get("completion", "(the completion)")
    return {"question": problem.question, "completion": completion}
