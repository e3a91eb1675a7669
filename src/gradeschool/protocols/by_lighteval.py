"""lighteval's metrics for golds that are numbers; runs in a child process (`gradeschool.worker`).

Needs the extra `math-verify`. lighteval's own time-outs (5 s for a parse, 5 s for a comparison) are
replaced by the worker's.

PyPI 0.13.0. The search, for English: src/lighteval/metrics/utils/extractive_match_utils.py, lines
93-158 (numbers and expressions), 161-277 (LaTeX), 379-640. Patterns are tried by priority, smaller
ones first, the rightmost match first; some are quadratic. Cleaning: latex2sympy2_extended 1.0.6,
math_normalization.py, lines 262-330 (boxes), 456-509. Steps in which 1.11 differs are implemented
here, in the order of 1.0.6; the others are 1.11's. Comparison: utils/math_comparison.py, lines
483-640; a gold here is a number, a percentage or an arithmetic expression, never an equation or a
set, so lighteval's code for those is left out.
"""

import re
from collections.abc import Callable
from functools import cache, lru_cache, partial
from itertools import groupby, product
from operator import itemgetter
from typing import Any, Literal

import sympy
from latex2sympy2_extended import NormalizationConfig, latex2sympy, normalize_latex
from latex2sympy2_extended.sets import FiniteSet
from math_verify.grader import should_treat_as_complex, sympy_expr_eq
from math_verify.parser import make_latex_env_pattern
from sympy import Mul, Number, Rational
from sympy.parsing import parse_expr

from gradeschool.answers.search import closing_brace
from gradeschool.protocols.by_math_verify import Judged, shown
from gradeschool.worker import Raised, attempt, holds

BOX = re.compile(r"\\(?:boxed|fbox)\s*+")
JOINED = re.compile(r"^\s*(?:and|or|,)\s*$")
TEXT_AND_OR = re.compile(r"\\text{\s*(?:and|or)\s*}")
AND_OR = re.compile(r"(?<!\w)(?:and|or)(?!\w)")
CLEANING_PERCENT = re.compile(r"\\text{percent}|\s*percent")
TEXT_AT_THE_END = re.compile(r"(\\(?:text|mbox){.*?})(\^\d|\{\^\d\})?$")
EMPTY_TEXT = re.compile(r"\\text\s*\{\s*\}")

COMMANDS, CLEANING_OPERATORS = (
    NormalizationConfig(
        basic_latex=commands, equations=commands, malformed_operators=not commands,
        nits=not commands, units=False, boxed="none",
    )
    for commands in (True, False)
)  # fmt: skip


def cleaned(latex: str, last_box: bool) -> str:
    """Return a formula ready to parse. last_box: only the last box and those joined to it."""
    text = boxed(latex, last_box)
    text = CLEANING_PERCENT.sub(lambda _: r"\\%", text)
    text = AND_OR.sub(";", TEXT_AND_OR.sub(";", text))
    text = normalize_latex(text, COMMANDS)
    without_unit = TEXT_AT_THE_END.sub("", text).strip()
    text = EMPTY_TEXT.sub(" ", without_unit or text)
    cleaned: str = normalize_latex(text, CLEANING_OPERATORS)
    return cleaned


def boxed(text: str, last_box: bool) -> str:
    r"""Return the contents of the boxes, joined by commas; the text itself if there is no box.

    Boxes are found from the end. last_box: stop where "and", "or" or a comma does not join two.
    A box without a closing brace counts only as the last one, and extends to the end of the text.
    """
    contents, later = list[str](), len(text)
    for box in reversed(list(BOX.finditer(text))):
        inside = box.end()
        if inside >= later:
            break
        close = closing_brace(text, inside + 1, later) if text[inside] == "{" else -1
        if close < 0:
            contents = contents or [text[inside:]]
            break
        if last_box and contents and not JOINED.match(text[close + 1 : later]):
            break
        contents.append(text[inside + 1 : close].strip())
        later = box.start()
    return ",".join(reversed(contents)) if contents else text


NUMBER = (
    r"(?:(?P<integer1>-?\d{1,3}(?:[ ,]\d{3})+)(?P<decimal1>\.\d+)?"
    r"|(?P<integer2>-?\d+)(?P<decimal2>[.,]\d+)"
    r"|(?P<decimal3>\.\d+)"
    r"|(?P<integer3>-?\d+))"
    r"(?P<percent>\s*(?:%|[Pp]ercent|\s*[Pp]ercentage|\s*[Pp]ct))?"
)
PATTERNS_OPERATORS = r"\+\-\*\×\/\^\(\)\÷"
INSIDE = rf"[\d\.\s{PATTERNS_OPERATORS}]"
EXPRESSION = rf"(?P<expr>-?\(?-?\d{INSIDE}*[{PATTERNS_OPERATORS}]{INSIDE}+\)?)"
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

MOST_FORMULAS = 6  # joined by "and", "or" or a comma into one answer
JOINT = r"\s*(?:and|or|,)\s*"
OPEN_BOX = r"(?P<first_latexBoxed>\\boxed{.+})"


def formulas(context: Literal["boxed", "plain"]) -> str:
    """Return the pattern of one to six joined formulas."""
    further = (
        rf"(?:{JOINT}{make_latex_env_pattern(f'next{number}_', context)})?"
        for number in range(1, MOST_FORMULAS)
    )
    pattern: str = make_latex_env_pattern("first_", context) + "".join(further)
    return pattern


# A priority, a pattern, and whether it finds LaTeX rather than numbers and expressions.
Patterns = tuple[tuple[int, re.Pattern[str], bool], ...]
GOLD_PATTERNS: Patterns = tuple(
    (priority, re.compile(regex), False) for regex, priority in EXPRESSIONS
)


@cache
def answer_patterns(box: int = 0) -> Patterns:
    """Return the patterns for completions: LaTeX before plain numbers of the same priority.

    box: the priority of boxes; 55 puts them after "final answer is".
    """
    plain = rf"(?:{formulas('plain')})"
    latex = (
        (rf"{FINAL_IS}\s*{plain}\.?\s?I hope", 0),
        (rf"{FINAL_LATER_IS}\s*{plain}", 50),
        (rf"{ANSWER}\s?[:].{{0,50}}?{plain}", 100),
        (rf"{ANSWER}.{{0,50}}?{plain}", 200),
        (plain, 300),
        (formulas("boxed"), box),
        (OPEN_BOX, box),
    )
    found = [(priority, re.compile(regex, re.DOTALL), True) for regex, priority in latex]
    return (*found, *GOLD_PATTERNS)


HUNDREDTH = Rational(1, 100)
SEPARATORS = str.maketrans("", "", ", ")


def extracted(text: str, patterns: Patterns, first_match: bool = False) -> list[Any]:
    """Return the extracted value and its characters: a list of zero, one or two items.

    first_match: stop after the first match, even if it cannot be parsed; else try the next ones.
    """
    values: list[Any] = []
    characters: list[str] = []
    priority = itemgetter(0)
    for _, group in groupby(sorted(patterns, key=priority), key=priority):
        matches = [(match, latex) for _, regex, latex in group for match in regex.finditer(text)]
        matches.sort(key=lambda match: (match[0].end(), -match[0].start()), reverse=True)
        for match, latex in matches:
            value, read = _formulas(match) if latex else _number(match)
            characters += [read] if read else []
            if value is not None:
                values.append(value)
            if value is not None or first_match:
                break
        if values or (matches and first_match):
            break
    return [*values, *characters[:1]]


golds_in = lru_cache(4096)(extracted)


def _number(match: re.Match[str]) -> tuple[Any, str]:
    """Read a number or an arithmetic expression."""
    groups = match.groupdict()
    integer = next((groups[name] for name in groups if name[:7] == "integer" and groups[name]), "")
    decimal = next((groups[name] for name in groups if name[:7] == "decimal" and groups[name]), "")
    if integer or decimal:
        whole = integer.translate(SEPARATORS).lstrip("0") or "0"
        written = f"{whole}{decimal.replace(',', '.')}"
        number = attempt(lambda: Number(written))
        if isinstance(number, Raised):  # digits of another script, or more than 4,300 of them
            return None, written
        return (percent(number) if groups["percent"] else number), written
    expression = groups.get("expr") or ""
    if not expression:
        return None, expression
    python = expression.replace("\n", " ").replace("^", "**")
    value = attempt(lambda: parse_expr(python, evaluate=False))
    return (None if isinstance(value, Raised) else value), expression


def percent(number: Any) -> Any:
    """Return a hundredth of a number, not multiplied out: 60 % does not equal 3/5 here."""
    return Mul(number, HUNDREDTH, evaluate=False)


def _formulas(match: re.Match[str]) -> tuple[Any, str]:
    """Read one formula, or several joined ones as a set."""
    groups = match.groupdict()
    values, texts = [], []
    for name in ("first", *(f"next{number}" for number in range(1, MOST_FORMULAS))):
        kind = next(
            (kind for kind in groups if kind.startswith(f"{name}_latex") and groups[kind]), ""
        )
        if not kind:
            continue
        text = cleaned(groups[kind], last_box=kind == "first_latexBoxed")
        texts.append(text)
        value = _parsed(text)
        values.append(
            value if value is None or not groups.get(f"{name}_percent") else percent(value)
        )
    if not texts:
        return None, ""
    if len(values) < 2 or None in values:
        return values[0], texts[0]
    members = [
        member
        for value in values
        for member in (value.args if isinstance(value, sympy.FiniteSet) else (value,))
    ]
    return FiniteSet(*members), " and ".join(texts)


def _parsed(latex: str) -> Any:
    value = attempt(
        lambda: latex2sympy(
            latex,
            is_real=not should_treat_as_complex(latex),
            convert_degrees=False,
            normalization_config=None,
        )
    )
    if isinstance(value, Raised):
        return None
    if isinstance(value, Mul) and value.args[1:] == (sympy.UnevaluatedExpr(HUNDREDTH),):
        return percent(value.args[0])  # the newer parser keeps the hundredth separate
    return value


# Comparison

Equal = Callable[[Any, Any], bool]


def numbers_equal(gold: Any, reading: Any, decimals: int = 5) -> bool:
    """Return whether a number equals a value; decimals: to which they are rounded first."""
    if isinstance(reading, sympy.And) and all(isinstance(it, sympy.Eq) for it in reading.args):
        reading = reading.args[-1] if reading.args else reading
    if isinstance(reading, sympy.Eq):
        reading = reading.rhs
    first, second = _evaluated(gold), _evaluated(reading)
    if holds(lambda: first == second or str(first).strip() == str(second).strip()):
        return True
    if isinstance(reading, sympy.Set | sympy.Tuple):  # only with one member can it be a number
        single = sympy.FiniteSet(gold)
        if single == reading:
            return True
        if isinstance(reading, sympy.Set) and single.symmetric_difference(reading).is_empty:
            return True
        if isinstance(reading, sympy.FiniteSet | sympy.Tuple) and len(reading) == 1:
            return numbers_equal(single.args[0], reading.args[0], decimals)
        return False
    if isinstance(reading, sympy.Symbol):
        return bool(gold == reading)
    both, same = (gold, reading), False  # fractions were compared above
    if isinstance(gold, sympy.MatrixBase) or not any(_is(Number, each) for each in both):
        same = holds(lambda: (gold - reading).evalf(chop=True) == 0)
    elif any(_is(sympy.Float, each) for each in both):
        numbers = isinstance(first, Number) and isinstance(second, Number)
        same = numbers and bool(first.round(decimals) == second.round(decimals))
    if same:
        return True

    def vanishes() -> Any:
        rest = sympy.simplify(gold - reading)
        if isinstance(rest, sympy.MatrixBase):
            return rest.is_zero_matrix
        return isinstance(rest, sympy.Basic) and rest.is_zero

    return holds(vanishes)


def _evaluated(value: Any) -> Any:
    evaluated = attempt(lambda: value.doit())
    return value if isinstance(evaluated, Raised) else evaluated


def _is(kind: type, value: Any) -> bool:
    """Return whether a value is of a kind of number, or a percentage of one."""
    if isinstance(value, Mul) and len(value.args) == 2 and value.args[1] == HUNDREDTH:
        return isinstance(value.args[0], kind)
    return isinstance(value, kind)


# The metrics

LATE_BOX = 55  # the priority of boxes where no other is set
to_six_decimals = partial(numbers_equal, decimals=6)


def extractive_match(text: str, choice: str) -> Judged:
    """Judge as `Metrics.expr_gold_metric`; `choice` is the whole reference solution."""
    return _judge(text, choice, answer_patterns(), GOLD_PATTERNS, numbers_equal)


def pass_at_1(text: str, choice: str, equal: Equal = to_six_decimals) -> Judged:
    """Judge one completion as `Metrics.pass_at_k_math`; the gold is a number."""
    patterns = answer_patterns(LATE_BOX)
    return _judge(text.strip(), choice.strip(), patterns, patterns, equal)


def pass_at_1_of_solutions(text: str, choice: str) -> Judged:
    """Judge one completion as `Metrics.pass_at_k_math`; the gold is extracted from a solution."""
    return pass_at_1(
        text, choice, lambda gold, reading: sympy_expr_eq(gold, reading, 6, 15, True) is True
    )


def math_scorer(text: str, target: str) -> Judged:
    """Judge as `math_scorer`: the items extracted from both must be equal lists."""
    answers = extracted(text, answer_patterns(), first_match=True)
    return shown(answers), answers == golds_in(target, GOLD_PATTERNS, True)


def _judge(text: str, gold: str, patterns: Patterns, of_gold: Patterns, equal: Equal) -> Judged:
    """Judge whether a gold equals an extracted item: values as values, texts as texts."""
    answers = extracted(text, patterns)
    for right, reading in product(golds_in(gold, of_gold) or [gold], answers):
        if isinstance(right, str) and isinstance(reading, str):
            same: Any = right.strip() == reading.strip() != ""
        else:
            one_text = isinstance(right, str) or isinstance(reading, str)
            same = not one_text and attempt(lambda: equal(right, reading))  # noqa: B023
        if same is True:
            return shown(answers), True
    return shown(answers), False
