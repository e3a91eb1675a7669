"""Filters for lm-evaluation-harness: `!function filters.reader` after `function: custom`.

Written against lm-eval 0.4.13 (lm_eval/filters/custom.py): a filter gets the responses of every
document and returns one text for each. It needs no `take_first` after it.
"""

import warnings
from collections.abc import Mapping, Sequence

from gradeschool.errors import InputError
from gradeschool.printable import count
from gradeschool.protocols.registry import get_usable_scorer
from gradeschool.scorer import DEFAULT_SCORER, Outcome, Verdict
from gradeschool.scoring.table import problem_of

INVALID = "[invalid]"  # lm-eval's name for no answer
REMOVED = "#### "  # exact_match removes a gold up to this mark, and nothing without the space
Responses = Sequence[Sequence[str]]
Documents = Sequence[Mapping[str, object]]


def reader(resps: Responses, docs: Documents) -> list[str]:
    """Return the extracted answer of each document's first response."""
    return _read(DEFAULT_SCORER, resps, docs)


def numeric_equality(resps: Responses, docs: Documents) -> list[str]:
    """Return the number after "ANSWER:", else the last number, of each first response."""
    return _read("numeric-equality", resps, docs)


def _read(scorer_name: str, resps: Responses, docs: Documents) -> list[str]:
    """Return a scorer's extracted answers, or the gold if its verdict is correct ("18.0", "18").

    This makes lm-eval's exact_match equal to the scorer's verdict. The gold is a document's
    "answer", a solution or a number; for a gold that cannot be read, the answer is INVALID,
    with a warning.
    """
    scorer = get_usable_scorer(scorer_name)
    answers, unread = [], []
    for responses, doc in zip(resps, docs, strict=True):
        try:
            verdict = scorer.judge(responses[0], problem_of(doc))
        except InputError as error:
            verdict = Verdict(scorer.name, Outcome.ERROR, None, str(error))
        if verdict.outcome is Outcome.ERROR:
            unread.append(verdict.reason)
        if verdict.correct:
            answers.append(str(doc["answer"]).rpartition(REMOVED)[2])
        else:
            answers.append(verdict.answer.value if verdict.answer else INVALID)
    if unread:
        documents = count(len(unread), "document scores", "documents score")
        warnings.warn(f"{documents} 0: {unread[0]}", stacklevel=3)
    return answers
