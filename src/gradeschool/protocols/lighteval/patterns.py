r"""The patterns by which lighteval finds an answer, for English, with their priorities.

https://github.com/huggingface/lighteval, PyPI 0.13.0,
src/lighteval/metrics/utils/extractive_match_utils.py, lines 93-158 (numbers and expressions) and
161-277 (LaTeX). Smaller priorities are tried first. Runs in a child process: some are quadratic.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

NUMBER = (
    r"(?:(?P<integer1>-?\d{1,3}(?:[ ,]\d{3})+)(?P<decimal1>\.\d+)?"
    r"|(?P<integer2>-?\d+)(?P<decimal2>[.,]\d+)"
    r"|(?P<decimal3>\.\d+)"
    r"|(?P<integer3>-?\d+))"
    r"(?P<percent>\s*(?:%|[Pp]ercent|\s*[Pp]ercentage|\s*[Pp]ct))?"
)
OPERATORS = r"\+\-\*\×\/\^\(\)\÷"
INSIDE = rf"[\d\.\s{OPERATORS}]"
EXPRESSION = rf"(?P<expr>-?\(?-?\d{INSIDE}*[{OPERATORS}]{INSIDE}+\)?)"
CURRENCY = re.escape("$€£¥₹₽₪₩₫฿₡₢₣₤₥₦₧₨₩₪₫₭₮₯₰₱₲₳₴₵₶₷₸₹₺₻₼₽₾₿")
BEFORE = r"(?:^|(?:\s|\ )|\=)(?:\*\*)?"
AFTER = r"(?:\*\*)?(?:[\.]|[,]|\s?[:]|(?:\s|\ )|\)|\$|$)"
WHOLE_EXPRESSION = rf"(?:{BEFORE}{EXPRESSION}{AFTER})"
WHOLE_NUMBER = rf"(?:{BEFORE}[{CURRENCY}]?{NUMBER})"
EITHER = rf"(?:{WHOLE_EXPRESSION}|{WHOLE_NUMBER})"
ANSWER = r"(?i:answer)"
FINAL_IS = r"(?i:final answer is)\:?"
FINAL_LATER_IS = r"(?i:final answer.{0,100}?)\s+is\:?"

EXPRESSIONS = (
    (rf"{FINAL_IS}\s*{EITHER}\.?\s?I hope", 0),
    (rf"{FINAL_LATER_IS}{EITHER}", 50),
    (rf"{ANSWER}\s?[:](?:.{{0,100}}=\s*|.{{0,50}}?){EITHER}(?!\s*=)", 100),
    (rf"{ANSWER}(?:.{{0,100}}=\s*|.{{0,50}}?){EITHER}(?!\s*=)", 200),
    (WHOLE_EXPRESSION, 300),
    (WHOLE_NUMBER, 300),
)

# (group, before, one character of what stands inside, behind) of each kind of formula
ENVIRONMENTS = (
    ("DisplayDollar", r"(?<!\\)\$\$", r"(?:[^$]|\$(?!\$))", r"(?<!\\)\$\$"),
    ("DisplayBracket", r"(?<!\\)\\\[", r"(?:[^\\]|\\(?!\]))", r"(?<!\\)\\\]"),
    ("InlineDollar", r"(?<!\\|\d)\$", r"(?:\\[$]|[^\n$])", r"(?<!\\)\$"),
    ("InlineParenthesis", r"(?<!\\)\\\(", r"(?:[^\\\n]|\\(?!\)))", r"(?<!\\)\\\)"),
    ("InlineBracket", r"\s\[", r"[^\n\]\[]", r"\]\s"),
)
DIGITS = r"-?\d+(?:[.,]\d+)?"
PERCENT = r"(?:\\?%|[Pp]ercent|[Pp]ercentage|[Pp]ct)"
MOST_FORMULAS = 6  # that "and", "or" or a comma joins into one answer
JOINT = r"\s*(?:and|or|,)\s*"
OPEN_BOX = r"(?P<first_latexBoxed>\\boxed{.+})"


def formula(name: str, boxed: bool) -> str:
    r"""Return the pattern of one formula whose groups begin with `name`; `boxed`: with a \boxed."""
    kinds = []
    for kind, before, inside, behind in ENVIRONMENTS:
        body = rf"{inside}*?\\boxed{{{inside}+?}}{inside}*?" if boxed else rf"{inside}+?"
        kinds.append(rf"{before}(?P<{name}_latex{kind}>{body}){behind}")
    if not boxed:
        kinds.append(rf"(?P<{name}_latexFraction>-?\\frac{{{DIGITS}}}{{{DIGITS}}})")
    return rf"(?:(?:{'|'.join(kinds)})\s*(?P<{name}_percent>{PERCENT})?)"


def formulas(boxed: bool) -> str:
    """Return the pattern of one to six joined formulas."""
    further = [
        rf"(?:{JOINT}{formula(f'next{number}', boxed)})?" for number in range(1, MOST_FORMULAS)
    ]
    return formula("first", boxed) + "".join(further)


class Pattern(NamedTuple):
    """A pattern, its priority, and whether it finds LaTeX rather than numbers and expressions."""

    regex: re.Pattern[str]
    priority: int
    latex: bool


@cache
def expression_patterns() -> tuple[Pattern, ...]:
    """Return the patterns for golds."""
    return tuple(Pattern(re.compile(regex), priority, False) for regex, priority in EXPRESSIONS)


@cache
def answer_patterns() -> tuple[Pattern, ...]:
    """Return the patterns for completions: LaTeX before plain numbers of the same priority."""
    plain = rf"(?:{formulas(boxed=False)})"
    latex = (
        (rf"{FINAL_IS}\s*{plain}\.?\s?I hope", 0),
        (rf"{FINAL_LATER_IS}\s*{plain}", 50),
        (rf"{ANSWER}\s?[:].{{0,50}}?{plain}", 100),
        (rf"{ANSWER}.{{0,50}}?{plain}", 200),
        (plain, 300),
        (formulas(boxed=True), 0),
        (OPEN_BOX, 0),
    )
    found = [Pattern(re.compile(regex, re.DOTALL), priority, True) for regex, priority in latex]
    return (*found, *expression_patterns())
