r"""OpenCompass: the evaluators and prompts of its GSM8K configurations, and other sets.

The answer forms are _strip_string_v2 (Hendrycks) and normalize_final_answer (Minerva) of
opencompass/datasets/math.py, with its lists of strings. Quadratic patterns of upstream are linear
scans here.
"""

import re
from functools import lru_cache

from gradeschool import latex
from gradeschool.answers.search import TextMatch, last_match, mentions_answer
from gradeschool.problem import Problem
from gradeschool.prompts import rationale
from gradeschool.protocols.extractions import COMMA, last_number
from gradeschool.scorer import Answer, ScorerFailure

MARK = "The answer is"
# A thousands comma splits a number.
PLAIN_NUMBER = re.compile(r"\-?\d+\.\d+|\-?\d+")
extract_last = last_number(PLAIN_NUMBER, before="Question:")


def solution_gold(problem: Problem) -> str:
    """Return the text after the first "#### ", without commas."""
    parts = problem.solution.split("#### ")
    return (parts[1] if len(parts) > 1 else problem.gold).replace(",", "")


def compare_numbers(value: str, reference: str) -> bool:
    """Compare as strings, then as float against int with a tolerance of 1e-6."""
    try:
        return value == reference or abs(float(value) - int(reference)) < 1e-6
    except (ValueError, OverflowError):  # upstream: except Exception
        return False


# MATHEvaluator v2

PLAIN_GOLD = re.compile(r"-?[0-9]+\Z")
DOUBLE_BRACED = re.compile(r"^\{(.*)\}$")
# Upstream looks for these in each piece between periods, in lower case.
ANNOUNCED = re.compile(r"final answer|answer is", re.IGNORECASE | re.ASCII)


def last_box(text: str) -> TextMatch | None:
    r"""Return `math_box` without a second pair of braces around the content."""
    box = latex.math_box(text) if "\\" in text else None
    inner = DOUBLE_BRACED.match(box.text) if box is not None and box.text[:1] == "{" else None
    if box is None or inner is None:
        return box
    return TextMatch(inner[1], box.start + inner.start(1), box.start + inner.end(1))


def extract_v2(text: str, reference: str) -> Answer | None:
    """Extract the last box, else the piece that announces an answer, else the first piece."""
    box = last_box(text)
    if box is not None and box.text:
        content, start, end = box
        return Answer(content, content, (start, end), "the last box")
    announced = ANNOUNCED.search(text) if mentions_answer(text) else None
    start = 0 if announced is None else text.rfind(".", 0, announced.start()) + 1
    piece = text[start:].partition(".")[0]
    value, span = minerva(piece), (start, start + len(piece))
    return Answer(piece, value, span, "a piece between periods") if value else None


def compare_v2(value: str, reference: str) -> bool:
    """Compare Hendrycks' forms, their Minerva forms, the Minerva forms, the strings."""
    if PLAIN_GOLD.match(reference):
        if PLAIN_GOLD.match(value):
            return value == reference  # each form of such a number is the number
        if not set(reference) <= {*value, "0", "-"}:
            return False  # no form adds a digit, except 0 before a period
    return value == reference or any(
        one == other is not None for one, other in zip(forms(value), forms(reference), strict=True)
    )


@lru_cache(1024)
def forms(answer: str) -> tuple[str | None, str | None, str]:
    """Return the Hendrycks form, its Minerva form, and the Minerva form of an answer.

    None where upstream's function raises, after which it goes on with the next comparison.
    """
    whole = minerva(answer)
    try:
        form = hendrycks(answer)
    except ValueError:  # "a/b"
        return None, None, whole
    return form, whole if form == answer else minerva(form), whole


BEFORE_UNIT = (
    ("\\!", ""), ("\\ ", ""), ("\\\\", "\\"), ("\\\\", "\\"), ("tfrac", "frac"), ("dfrac", "frac"),
    ("\\left", ""), ("\\right", ""),
)  # fmt: skip
AFTER_UNIT = (
    ("^{\\circ}", ""), ("^\\circ", ""), ("\\$", ""), ("$", ""), ("\\text", ""), ("x\\in", ""),
    ("\\%", ""), ("%", ""), (" .", " 0."), ("{.", "{0."), ("\\cdot", ""), ("infinity", "\\infty"),
)  # fmt: skip
LAST = (("+\\inity", "\\infty"), ("and", ""), ("\\mathbf", ""))
BARE_ROOT_WORD = re.compile(r"\\sqrt(\w+)")


def hendrycks(answer: str) -> str:
    """Return the Hendrycks form, second version.

    Raises ValueError on an `a/b` that is not a fraction of integers, as upstream does.
    """
    answer = answer.strip().replace("\n", "").rstrip(".")
    answer = latex.replaced(latex.without_unit(latex.replaced(answer, BEFORE_UNIT)), AFTER_UNIT)
    answer = latex.right_side(latex.plain_symbols(answer, LAST))
    answer = BARE_ROOT_WORD.sub(r"\\sqrt{\1}", answer).replace(" ", "")
    return latex.slash_as_fraction(latex.braced_fractions(answer), strict=True)


WRAPPERS = (("\\text{(", ")}"), ("\\text{", "}"), ("\\textbf{", "}"), ("\\overline{", "}"))
FINAL_ANSWER = "finalansweris"
ANSWER_IS = re.compile(r"answer?is:?")
BARE_FRACTION = re.compile(r"(frac)([^{])(.)")
BARE_ROOT = re.compile(r"(sqrt)([^{])")
PHRASES = (
    *latex.MINERVA_SUBSTITUTIONS,
    ("\\le", "<"),
    *((text, "") for text in (*latex.MINERVA_REMOVED, *"\n\r\f")),
)
WORDS = tuple(pair for pair in PHRASES if "\\" not in pair[0])


def minerva(answer: str) -> str:
    """Return the Minerva form: units, spaces and LaTeX wrappers removed."""
    answer = latex.replaced(answer, PHRASES if "\\" in answer else WORDS)
    if "{" in answer:
        for opening, closing in WRAPPERS:
            answer = latex.unwrapped(answer, opening, closing)
        start, end = answer.find("\\boxed{"), answer.rfind("}")
        inside = start + len("\\boxed{")
        if 0 <= start <= inside <= end:  # the first box to the last brace
            answer = answer[:start] + answer[inside:end] + answer[end + 1 :]
    if "answe" in answer:
        answer = answer.partition(FINAL_ANSWER)[2] if FINAL_ANSWER in answer else answer
        announced = ANSWER_IS.search(answer)
        if announced is not None:
            answer = answer[announced.end() :]
    answer = last_between(last_between(answer, "oxed{", "}"), "$", "$").strip()
    if "rac" in answer:
        if "\\frac" not in answer:
            answer = answer.replace("rac", "\\frac")
        answer = BARE_FRACTION.sub(r"frac{\2}{\3}", answer)
    answer = BARE_ROOT.sub(r"sqrt{\2}", answer).replace("$", "")
    digits = answer.replace(",", "")
    return digits if digits.isdigit() else answer


def last_between(text: str, opening: str, closing: str) -> str:
    """Return the text inside the last pair of marks; the whole text if there is no pair."""
    between, place = text, 0
    while (start := text.find(opening, place)) >= 0:
        inside = start + len(opening)
        end = text.find(closing, inside)
        if end < 0:
            break
        between, place = text[inside:end], end + len(closing)
    return between


# Other sets

HARD_NUMBER = re.compile(r"-?\d*\.?/?\d+|\d+")


def extract_gsm_hard(text: str, reference: str) -> Answer | None:
    """Extract the first number after the first "The answer is", else the last number, else all."""
    _, mark, behind_mark = text.partition(MARK)
    piece = COMMA.sub(r"\1\2", behind_mark.partition(MARK)[0].strip() if mark else text)
    match = HARD_NUMBER.search(piece) if mark else last_match(HARD_NUMBER, piece)
    value = piece if match is None else match.group()
    if not value:
        return None
    start = text.find(value, text.find(MARK)) if mark else text.rfind(value)
    span = None if start < 0 else (start, start + len(value))
    return Answer(value, value, span, "the number after 'The answer is', else the last")


def float_gold(problem: Problem) -> str:
    """Return the gold as Python writes a float, as in the published file."""
    try:
        return str(float(problem.gold))
    except ValueError:
        raise ScorerFailure(f"no number: {problem.gold[:60]!r}") from None


def float_fields(problem: Problem) -> dict[str, str]:
    """Return the fields of the prompt of GSM-Hard."""
    try:
        gold = float_gold(problem)
    except ScorerFailure:
        gold = problem.gold
    return {"question": problem.question, "gold": gold}


def boxed_gold(problem: Problem) -> str:
    """Return the last box of the reference solution, else the gold."""
    box = last_box(rationale(problem))
    return problem.gold if box is None else box.text
