r"""EleutherAI lm-evaluation-harness 0.4: GSM8K, Platinum and other sets; GSM8K of 0.3.0.

A task has up to three forms. The plain one is a text. `+chat`: that text as one user message, which
`--apply_chat_template` gave up to 0.4.9. `+multiturn`: each shot a user and an assistant turn,
without the delimiters of the text; the default of `--apply_chat_template` since 0.4.10, before it
`--fewshot_as_multiturn`. The README of the Llama tasks asks for these: they gave the published
numbers of Llama 3.
"""

import re
import string
from functools import partial

from gradeschool.answers.search import TextMatch, last_match
from gradeschool.latex import hendrycks_equal, hendrycks_form, math_box, spaced_box
from gradeschool.problem import Problem
from gradeschool.prompts import draw_rows, rationale
from gradeschool.protocols import MGSM
from gradeschool.protocols.extractions import (
    HASH,
    MARKED,
    first_group,
    gold_as,
    last_group,
    last_number,
    solution_as,
    whole_text,
)
from gradeschool.scorer import Answer

# Tasks in the style of MATH.

# Same matches as `(?:\$)?\d+(?:\.\d+)?(?![\w\d])`. A run of digits is tried once, from its start,
# since all its tails fail where it fails.
NUMBER = re.compile(r"\$?(?<!\d)\d++(?:\.\d++(?!\w)|(?!\w))")
last_number_in = last_number(NUMBER)
BETWEEN_DOLLARS = re.compile(r"\$(.*)\$")


def as_number(text: str) -> str:
    """Return a number without zero decimals ("18.00" -> "18", "018" -> "18"), by way of a float."""
    text = text.strip()
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else str(number)


def extract_hrm8k(text: str, reference: str) -> Answer | None:
    """Extract the last box, else between "$", else after "=", else the last number."""
    if "\\" in text:
        if box := math_box(text):
            return _behind_equals(box, "the last box")
        if "\\boxed" in text:  # not closed, or without braces
            return None
    if between := last_match(BETWEEN_DOLLARS, text):
        piece = TextMatch(between[1], *between.span(1))
        answer = _behind_equals(piece, "between the dollar signs of the last line that has two")
        if answer.text:
            return answer
    equals = text.rfind("=")
    if equals < 0:
        return last_number_in(text, "")
    value = text[equals + 1 :].lstrip(" ")
    start = len(text) - len(value)
    value = value.rstrip(".").partition("\\n")[0]
    return Answer(value, value, (start, start + len(value)), "after the last '='")


def _behind_equals(piece: TextMatch, how: str) -> Answer:
    text, start, end = piece
    equals = text.rfind("=")
    if equals >= 0:
        text = text[equals + 1 :].lstrip(" ")
        start = end - len(text)
    return Answer(text, text, (start, end), how)


def hrm8k_reference(problem: Problem) -> str:
    """Return the gold after the same extraction, which drops the sign: "-10" becomes "10"."""
    gold = as_number(problem.gold.replace(",", ""))
    answer = extract_hrm8k(gold, "")
    return gold if answer is None else answer.text


def compare_hrm8k(value: str, reference: str) -> bool:
    """Compare Hendrycks' string forms; the answer is compared as a number."""
    try:
        return as_number(hendrycks_form(value)) == hendrycks_form(reference)
    except (AssertionError, IndexError):
        return value == reference


def extract_between_dollars(text: str, reference: str) -> Answer | None:
    """Extract the text between the first and the last "$", or everything without two of them."""
    first, last = text.find("$"), text.rfind("$")
    start, end = (first + 1, last) if first < last else (0, len(text))
    piece = text[start:end]
    return Answer(piece, piece, (start, end), "between dollar signs or all") if piece else None


def extract_aime(text: str, reference: str) -> Answer | None:
    """Extract the last box, else the text between dollar signs, or everything."""
    box = spaced_box(text)
    if box is None:
        return extract_between_dollars(text, reference)
    return Answer(box.text, box.text, (box.start, box.end), "the last box") if box.text else None


def boxed_solution(problem: Problem) -> str:
    r"""Return the reference solution; if it has no box, the gold in a box."""
    solution = rationale(problem)
    return solution if "\\boxed" in solution else f"\\boxed{{{problem.gold}}}"


compare_hendrycks = partial(hendrycks_equal, strict=True)

# GSM8K: filters and exact_match.

FLEXIBLE_PATTERN = re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)")
# The last "." is not escaped upstream: it takes one more character, which may be a digit.
COT_PATTERN = re.compile(r"The answer is (\-?[0-9\.\,]+).")
# Unlike gsm8k_cot's, this pattern must end in a digit: it matches "The answer is 18" at the end.
SELF_CONSISTENCY_PATTERN = re.compile(r"The answer is (\-?[0-9\.\,]*[0-9]+)")
# "$" and periods belong to N here, and no "$" comes before N in the other.
COT_LLAMA_PATTERN = re.compile(r"The final answer is ((-?[$0-9.,]{2,})|(-?[0-9]+))")
LLAMA_PATTERN = re.compile(r"final answer is (\-?[0-9\.\,]+)")
# The regex filter's result for a text without an answer; it votes like an answer.
INVALID = "[invalid]"


def cleaned(text: str) -> str:
    r"""Apply `regexes_to_ignore` ("," "\$" "(?s).*#### " "\.$") and ignore_case, in that order.

    Written without the third pattern, which is quadratic: it removes everything to the last "####
    ".
    """
    text = text.replace(",", "").replace("$", "")
    text = text.rpartition("#### ")[2]
    if text.endswith("."):
        text = text[:-1]
    elif text.endswith(".\n"):
        text = text[:-2] + "\n"
    return text.lower()


# The reference as exact_match sees it, if the target is the whole solution or only the number.
whole_answer, gold_alone = solution_as(cleaned), gold_as(cleaned)
IS, FINAL_IS = "The answer is ", "final answer is "
strict = first_group(MARKED, "the first '#### N'", HASH, cleaned)
flexible = last_number(FLEXIBLE_PATTERN, clean=cleaned)
cot = first_group(COT_PATTERN, "the first 'The answer is N.'", IS, cleaned)
first_is = first_group(SELF_CONSISTENCY_PATTERN, "the first 'The answer is N'", IS, cleaned)
cot_llama = last_group(
    COT_LLAMA_PATTERN, "the last 'The final answer is N'", f"The {FINAL_IS}", cleaned
)
llama = last_group(LLAMA_PATTERN, "the last 'final answer is N'", FINAL_IS, cleaned)


def ballot(text: str) -> str:
    """Return the number as it is written: "1,000" and "1000" are two candidates."""
    answer = first_is(text, "")
    return INVALID if answer is None else answer.text


def compare_winner(winner: str, reference: str) -> bool:
    """Compare as exact_match does."""
    return cleaned(winner) == reference


PUNCTUATION = str.maketrans("", "", string.punctuation)


def without_punctuation(text: str) -> str:
    """Return the form that MGSM's exact_match compares: a sign, point and commas are lost.

    numpy drops NULs at the end.
    """
    return text.lower().translate(PUNCTUATION).rstrip("\0")


gold_without_punctuation = gold_as(without_punctuation)
whole = whole_text(without_punctuation)
flexible_in_mgsm = last_number(FLEXIBLE_PATTERN, clean=without_punctuation)
strict_in_mgsm = {  # by language
    language: first_group(
        re.compile(words["lm_eval_pattern"]),
        f"the first {words['lm_eval_pattern'].partition('(')[0].rstrip()!r}",
        clean=without_punctuation,
    )
    for language, words in MGSM.items()
}

# The draws of examples. Each task has one generator, and each document in turn draws from it.

SEED = 1234  # the default `fewshot_seed`
DRAW_IN_ORDER, DRAW_OTHERS = draw_rows(SEED), draw_rows(SEED, others=True)
