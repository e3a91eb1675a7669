"""`lm-eval/hrm8k-gsm8k-en`: the last box, else between "$", else after "=", else a number.

The string forms in which hrm8k compares answers: Hendrycks et al.'s `_strip_string`, and more.

https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/hrm8k/en/utils.py
Raises what upstream raises (IndexError, AssertionError); the comparison catches these, as upstream.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gradeschool.answers.extractions import last_number
from gradeschool.answers.search import TextMatch, match_of, math_box
from gradeschool.completion import Decoding, Prompt
from gradeschool.latex import braced_fractions, slash_as_fraction
from gradeschool.problem import Problem
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer
from gradeschool.verdict import Answer, answer_of

FIRST = (
    ("\n", ""),
    ("\\!", ""),
    ("\\\\", "\\"),
    ("tfrac", "frac"),
    ("dfrac", "frac"),
    ("\\left", ""),
    ("\\right", ""),
    ("^{\\circ}", ""),
    ("^\\circ", ""),
    ("\\$", ""),
)
UNIT = "\\text{ "


def hrm8k_form(text: str) -> str:
    """Return the form in which hrm8k compares an answer."""
    return slash_as_fraction(stripped(text))


def stripped(text: str) -> str:
    """Return an answer without LaTeX that makes no difference; `slash_as_fraction` follows."""
    for old, new in FIRST:
        text = text.replace(old, new)
    if UNIT in text:
        if text.count(UNIT) > 1:
            raise AssertionError(f"several {UNIT!r}")
        text = text.partition(UNIT)[0]
    text = text.replace("\\%", "").replace(" .", " 0.").replace("{.", "{0.")
    if not text:
        return text
    if text[0] == ".":
        text = "0" + text
    name, _, value = text.partition("=")
    if len(name) <= 2 and text.count("=") == 1:
        text = value
    text = braced_fractions(_braced_roots(text).replace(" ", ""), strict=True)
    return "\\frac{1}{2}" if text == "0.5" else text


def as_number(text: str) -> str:
    """Return a number without zero decimals ("18.00" -> "18", "018" -> "18"), by way of a float."""
    text = text.strip()
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else str(number)


def _braced_roots(text: str) -> str:
    r"""Write `\sqrt3` as `\sqrt{3}`; fails if nothing follows the root."""
    head, *roots = text.split("\\sqrt")
    parts = [root if root[0] == "{" else f"{{{root[0]}}}{root[1:]}" for root in roots]
    return "\\sqrt".join([head, *parts])


SOURCE = "EleutherAI/lm-evaluation-harness @ 4e7e0d47, lm_eval/tasks/hrm8k/en (version 1.1)"
# Nothing is cut off without one of the last two, and no number contains one of the letters.
LETTER_OF_WORDS = re.compile(r"[bjkmopqsuvwz]")
CUT = re.compile(r"[=\\]")
PLAIN_GOLD = re.compile(r"[0-9]+")

# Same matches as `(?:\$)?\d+(?:\.\d+)?(?![\w\d])`. A run of digits is tried once, from its start,
# since all its tails fail where it fails.
NUMBER = re.compile(r"\$?(?<!\d)\d++(?:\.\d++(?!\w)|(?!\w))")
last_number_in = last_number(NUMBER)
# A prompt that defines the protocol, verbatim.
INSTRUCTION = (
    "Solve the given question.\nAfter solving the problem, state your final answer in the "
    "following format: $\\boxed{N}$.\n\n"
)
STOPS = ("</s>", "<|end_of_text|>", "<|endoftext|>", "<|im_end|>")


def find_answer(text: str) -> tuple[TextMatch, str] | None:
    """Return the piece of text that upstream takes as the answer, and how it was found."""
    if "\\" in text:
        box = math_box(text)
        if box is not None:
            return _behind_equals(box), "the last box"
        if "\\boxed" in text:  # not closed, or without braces
            return None
    between = _between_dollars(text) if "$" in text else None
    if between is not None:
        piece = _behind_equals(between)
        if piece.text:
            return piece, "between the dollar signs of the last line that has two"
    equals = text.rfind("=")
    if equals >= 0:
        value = text[equals + 1 :].lstrip(" ")
        start = len(text) - len(value)
        value = value.rstrip(".").partition("\\n")[0]
        return match_of((value, start, start + len(value))), "after the last '='"
    number = last_number_in(text, "")
    if number is None or number.span is None:
        return None
    return TextMatch(number.text, *number.span), number.how


def _between_dollars(text: str) -> TextMatch | None:
    r"""Return the last match of group 1 of `\$(.*)\$`, found from the end."""
    end = len(text)
    while (last := text.rfind("$", 0, end)) >= 0:
        line = text.rfind("\n", 0, last) + 1
        first = text.find("$", line)
        if first < last:
            return match_of((text[first + 1 : last], first + 1, last))
        end = line
    return None


def _behind_equals(piece: TextMatch) -> TextMatch:
    text, _, end = piece
    equals = text.rfind("=")
    if equals < 0:
        return piece
    value = text[equals + 1 :].lstrip(" ")
    return match_of((value, end - len(value), end))


def extract(text: str, reference: str) -> Answer | None:
    """Extract the last box, else between "$", else after "=", else the last number."""
    answer = find_answer(text)
    if answer is None:
        return None
    (value, start, end), how = answer
    return answer_of((value, value, (start, end), how))


def reference(problem: Problem) -> str:
    """Return the gold after the same extraction, which drops the sign: "-10" becomes "10"."""
    gold = as_number(problem.gold.replace(",", ""))
    answer = find_answer(gold)
    return gold if answer is None else answer[0].text


def compare(value: str, reference: str) -> bool:
    """Compare Hendrycks' string forms; the answer is compared as a number."""
    if (
        not value.isdecimal()
        and LETTER_OF_WORDS.search(value)
        and PLAIN_GOLD.fullmatch(reference)
        and not CUT.search(value)
    ):
        return False
    try:
        return _number_form(value) == hrm8k_form(reference)
    except (AssertionError, IndexError):
        return value == reference


def _number_form(value: str) -> str:
    return as_number(hrm8k_form(value))


def prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the instruction and the question."""
    for problem in problems:
        yield Prompt(text=f"{INSTRUCTION}Question: {problem.question.strip()}\nAnswer:")


HRM8K_SCORER = Scorer(
    name="lm-eval/hrm8k-gsm8k-en",
    summary="the last box, else between '$', after '=' or the last number; Hendrycks' forms",
    source=f"{SOURCE}/utils.py, process_results",
    reference=reference,
    extract=extract,
    compare=compare,
)

HRM8K = Protocol(
    name="lm-eval/hrm8k-gsm8k-en",
    summary="zero-shot, the answer in a box, greedy, 2048 tokens",
    source=f"{SOURCE}/_hrm8k_en_yaml",
    render=prompts,
    decoding=Decoding(temperature=0.0, max_tokens=2048, stop=STOPS),
    scorers=("lm-eval/hrm8k-gsm8k-en",),
)
