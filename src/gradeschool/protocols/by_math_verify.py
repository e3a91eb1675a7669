r"""What the harnesses do with Math-Verify; runs in a child process (`gradeschool.worker`).

Each function judges `(text, reference)` and returns the extracted characters, or None, and the
verdict. A harness sets its own time-outs for Math-Verify: the limit of the worker replaces them.
The sources are in the SOURCE.md of each harness's package.
"""

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from functools import lru_cache, partial
from itertools import product
from typing import Any

from latex2sympy2_extended import NormalizationConfig
from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify
from math_verify.grader import get_pct_val

from gradeschool.answers.search import closing_brace
from gradeschool.worker import attempt

Judged = tuple[str | None, bool]
LONGEST = 1000  # characters returned of an extracted answer
THOUGHT, THOUGHT_END = "<think>", "</think>"


def read(text: str, *configs: Any) -> list[Any]:
    """Return the values that Math-Verify extracts, and their characters.

    configs: what may be extracted, and then only the first match counts; none for the defaults.
    """
    options = {"extraction_config": configs, "extraction_mode": "first_match"} if configs else {}
    extracted: list[Any] = parse(text, parsing_timeout=None, **options)
    return extracted


read_gold = lru_cache(4096)(read)


def equal(gold: list[Any], answer: list[Any]) -> bool:
    """Return whether Math-Verify finds two readings equal; the order matters to it."""
    return bool(verify(gold, answer, timeout_seconds=None))


def shown(extracted: list[Any]) -> str | None:
    """Return the extracted characters as Math-Verify cleaned them; None for nothing."""
    texts = [item for item in extracted if isinstance(item, str)]
    return (texts[0] if texts else str(extracted[0]))[:LONGEST] if extracted else None


def unparsed(gold: str) -> ValueError:
    """Return the error of a gold that the harness would skip."""
    return ValueError(f"the reference cannot be parsed: {gold[:60]!r}")


def default(text: str, gold: str) -> Judged:
    """Judge with the defaults of `parse` and `verify`, the gold as it is."""
    answer = read(text)
    return shown(answer), equal(read_gold(gold), answer)


def boxed_gold(text: str, gold: str) -> Judged:
    r"""Judge with the same defaults, the gold in a \boxed{}."""
    return default(text, boxed(gold))


def boxed(text: str) -> str:
    r"""Return a text in a \boxed{}."""
    return f"\\boxed{{{text}}}"


# TRL

TRL_LATEX = LatexExtractionConfig(
    normalization_config=NormalizationConfig(units=True),
    boxed_match_priority=0,
    try_extract_without_anchor=False,
)


def trl_accuracy_reward(text: str, gold: str) -> Judged:
    """Judge as `accuracy_reward`. Raises ValueError on a gold that it would skip."""
    if not (golds := read_gold(gold)):
        raise unparsed(gold)
    answer = read(text, TRL_LATEX)
    return shown(answer), equal(golds, answer)


def trl_reasoning_accuracy_reward(text: str, gold: str) -> Judged:
    """Judge as `reasoning_accuracy_reward`: what follows the last </think>; without it, wrong."""
    _, end, reply = text.rpartition(THOUGHT_END)
    return trl_accuracy_reward(reply, gold) if end else (None, False)


# verifiers: both sides in a box, parsed with the defaults; any failure is wrong.

BOX = "\\boxed{"
HASH_ANSWER = re.compile(r"####\s*(.+)")
MOST_CHARACTERS = 50_000  # of a response to the rubric; longer ones are wrong without being parsed


def verifiers_rubric(text: str, gold: str, whole_reply: bool = False) -> Judged:
    r"""Judge as MathRubric: without a \boxed{} no answer, or (whole_reply) the whole reply."""
    reply = text.rpartition(THOUGHT_END)[2].strip()
    box = last_box(reply)
    response = box if box is not None else reply if whole_reply else ""
    if 0 < len(response) <= MOST_CHARACTERS:
        return _judge_boxed(response, gold)
    return response[:LONGEST] or None, False


verifiers_rubric_lenient = partial(verifiers_rubric, whole_reply=True)


def verifiers_gsm8k_v1(text: str, gold: str) -> Judged:
    """Judge as verify.py of the GSM8K environment: the last "#### ...", else the whole reply."""
    extracted = HASH_ANSWER.findall(text)
    return _judge_boxed(extracted[-1] if extracted else text, gold)


def verifiers_boxed_answer(text: str, gold: str) -> Judged:
    r"""Judge as `verify_boxed_math_answer`: the last \boxed{} after thinking that has ended."""
    if THOUGHT in text and THOUGHT_END not in text:
        return None, False
    answer = (last_box(text.rpartition(THOUGHT_END)[2]) or "").strip()
    label = (last_box(gold) or gold).strip()
    return _judge_boxed(answer, label) if answer and label else (answer[:LONGEST] or None, False)


def last_box(text: str) -> str | None:
    r"""Return the content of the last \boxed{}; None if there is none or it is not closed."""
    start = text.rfind(BOX)
    inside = start + len(BOX)
    close = closing_brace(text, inside) if start >= 0 else -1
    return None if close < 0 else text[inside:close]


def _judge_boxed(response: str, gold: str) -> Judged:
    answer = attempt(lambda: read(boxed(response)))
    same = attempt(lambda: equal(read_gold(boxed(gold)), answer)) is True
    return response[:LONGEST] or None, same


# OpenCompass forks a process for each completion, with a limit of ten seconds.

OPENCOMPASS_LATEX = LatexExtractionConfig(
    normalization_config=NormalizationConfig(
        nits=False, malformed_operators=False, basic_latex=True, equations=True, boxed="all",
        units=True,
    ),
    boxed_match_priority=0,
    try_extract_without_anchor=False,
)  # fmt: skip


def opencompass(text: str, gold: str) -> Judged:
    """Judge as MATHVerifyEvaluator, which passes the completion in the place of the gold."""
    golds = read_gold(f"${gold}$", LatexExtractionConfig(), ExprExtractionConfig())
    if not golds:
        raise unparsed(gold)
    answer = read(text, OPENCOMPASS_LATEX)
    return shown(answer), equal(answer, golds)


# evalscope forks a child for each of two steps, with a deadline of 30 s each. A step that exceeds
# it, or in which Math-Verify raises, leaves the sample out of the score: outcome `error` here.

EXPONENT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+")
FORMULA_STARTS = ("$", r"\(", r"\[", r"\boxed", r"\fbox")
BOX_FIRST = (LatexExtractionConfig(boxed_match_priority=0), ExprExtractionConfig())


def evalscope_accuracy(
    text: str, gold: str, allowed: Callable[[str], bool] = lambda text: True
) -> Judged:
    """Judge as the metric `acc` with numeric=True: extract the answer, then parse it again."""
    _, extracted = _evalscope_read(text, whole_output=True)
    values, display = _evalscope_read(extracted, whole_output=False)
    golds, gold_display = _evalscope_gold(gold, whole_output=False)
    if not golds or not allowed(gold_display):
        raise unparsed(gold)
    same = allowed(display) and any(
        verify([first], [second], timeout_seconds=None, raise_on_error=True)
        for first, second in product(golds, values)
    )
    return extracted[:LONGEST] or None, same


def _is_integer(text: str) -> bool:
    try:
        value = Decimal(text.replace(",", "").strip())
    except InvalidOperation:
        return False
    return value.is_finite() and value == value.to_integral_value()


# The AIME benchmarks: the answer must be written as an integer, as the gold is.
evalscope_integer_accuracy = partial(evalscope_accuracy, allowed=_is_integer)


def _evalscope_read(text: str, whole_output: bool) -> tuple[list[Any], str]:
    """Return the values and the text to show; unless `whole_output`, `text` is one formula."""
    text = text.strip()
    if not text:
        return [], ""
    source = text
    number_alone = EXPONENT.fullmatch(text) is not None
    if number_alone:
        source = f"${text.replace('e', 'E')}$"  # a small e would be Euler's number
    if not whole_output and not source.startswith(FORMULA_STARTS):
        source = f"${source}$"
    values, display = _values(source, *BOX_FIRST)
    if values and "e" in display and EXPONENT.fullmatch(display):
        values, _ = _values(f"${display.replace('e', 'E')}$", LatexExtractionConfig())
    if number_alone:
        display = text
    if len(values) == 1 and "%" not in display and get_pct_val(values[0]) is not None:
        display += "%"
    return values, display


_evalscope_gold = lru_cache(4096)(_evalscope_read)


def _values(text: str, *configs: Any) -> tuple[list[Any], str]:
    extracted = read(text, *configs)
    texts = [item for item in extracted if isinstance(item, str)]
    return [item for item in extracted if not isinstance(item, str)], texts[0] if texts else ""
