"""What a scorer of ours says, in the form in which the harnesses say it."""

from __future__ import annotations

import importlib.util
import re
from typing import NamedTuple

from gradeschool.problem import Problem
from gradeschool.scorer import Answer, Outcome, Scorer

# How scorers of these names write "no answer found"; the empty string says it too.
NOTHING = re.compile(
    r"""
    (?: lm-eval/(?:gsm|mgsm(?!-direct)) .* | openai/2021 ) = \[invalid\] | opencompass/gsm8k = NULL
""",
    re.VERBOSE,
)


class View(NamedTuple):
    """A verdict (true, false or "error") and the extracted string; None where nothing was read."""

    verdict: bool | str
    read: str | None


def missing_extra(scorer: Scorer) -> str:
    """Return why a scorer cannot run here, as the reason of a skipped test; "" where it can."""
    if not scorer.extra or importlib.util.find_spec(scorer.extra.replace("-", "_")):
        return ""
    return f"{scorer.name} needs {scorer.extra}, which is not installed"


def view(scorer: Scorer, completion: str, problem: Problem) -> View:
    """Return what our scorer says of a completion."""
    verdict = scorer.judge(completion, problem)
    if verdict.outcome is Outcome.ERROR:
        return View("error", None)
    return View(verdict.correct, None if verdict.answer is None else _shown(scorer, verdict.answer))


def _shown(scorer: Scorer, answer: Answer) -> str | None:
    """Return the string that the harness shows; the empty one counts as nothing read.

    lm-eval shows what its filter found, before exact_match strips it. inspect_ai shows the stripped
    completion where it compares texts, because the gold is no number.
    """
    if scorer.name.startswith("lm-eval/"):
        return answer.text or None
    if scorer.name.startswith("inspect/") and "the whole text" in answer.how:
        return answer.text.strip() or None
    return answer.value or None


def peer_view(scorer: str, answer: list[bool | str | None]) -> View:
    """Return what a peer says for the scorer of that name: its [verdict, extracted string]."""
    verdict, read = answer
    assert isinstance(verdict, bool | str), answer
    if verdict == "error":
        return View("error", None)
    nothing = not read or NOTHING.fullmatch(f"{scorer}={read}")
    return View(verdict, None if nothing else str(read))
