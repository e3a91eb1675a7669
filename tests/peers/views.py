"""What a rule of ours says, in the form in which the harnesses say it."""

from __future__ import annotations

import importlib.util
import re
from typing import NamedTuple

from gradeschool.problem import Problem
from gradeschool.rule import Rule
from gradeschool.verdict import Answer, Outcome

# How rules of these names write "no answer found"; the empty string says it too.
NOTHING = re.compile(
    r"""
    (?: lm-eval/gsm8k .* | openai/2021 ) = \[invalid\] | opencompass/gsm8k = NULL
""",
    re.VERBOSE,
)


class View(NamedTuple):
    """A verdict (true, false or "error") and the extracted string; None where nothing was read."""

    verdict: bool | str
    read: str | None


def missing_extra(rule: Rule) -> str:
    """Return why a rule cannot run here, as the reason of a skipped test; "" where it can."""
    if not rule.extra or importlib.util.find_spec(rule.extra.replace("-", "_")):
        return ""
    return f"{rule.name} needs {rule.extra}, which is not installed"


def view(rule: Rule, completion: str, problem: Problem) -> View:
    """Return what our rule says of a completion."""
    verdict = rule.judge(completion, problem)
    if verdict.outcome is Outcome.ERROR:
        return View("error", None)
    return View(verdict.correct, None if verdict.answer is None else _shown(rule, verdict.answer))


def _shown(rule: Rule, answer: Answer) -> str | None:
    """Return the string that the harness shows; the empty one counts as nothing read.

    lm-eval shows what its filter found, before exact_match strips it. inspect_ai shows the stripped
    completion where it compares texts, because the gold is no number.
    """
    if rule.name.startswith("lm-eval/"):
        return answer.text or None
    if rule.name.startswith("inspect/") and "the whole text" in answer.how:
        return answer.text.strip() or None
    return answer.value or None


def said(rule: str, answer: list[bool | str | None]) -> View:
    """Return what a peer says for the rule of that name: its [verdict, extracted string]."""
    verdict, read = answer
    assert isinstance(verdict, bool | str), answer
    if verdict == "error":
        return View("error", None)
    nothing = not read or NOTHING.fullmatch(f"{rule}={read}")
    return View(verdict, None if nothing else str(read))
