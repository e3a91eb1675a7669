r"""What the harnesses do with sympy; runs in a child process (`gradeschool.worker`).

Needs sympy and antlr, of the extra `math-verify`. Harnesses set time-outs of their own, which the
limit of the worker replaces. sympy's LaTeX parser builds expressions and executes no text. What it
rejects, upstream passes to `parse_expr`, which executes it as Python: here only digits and
operators are passed on.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import product
from math import isclose
from typing import Any

from sympy import N, simplify
from sympy.parsing.latex import _parse_latex_antlr as latex_parser
from sympy.parsing.sympy_parser import parse_expr

from gradeschool import latex
from gradeschool.worker import Raised, attempt, holds

# sympy asks for antlr 4.11; the serialised grammar is the same from 4.10 to 4.13.
latex_parser.version = lambda _: "4.11"
_latex: Callable[[str], Any] = latex_parser.parse_latex
ARITHMETIC = re.compile(r"[\d.+\-*/() ]+")


def _arithmetic(text: str) -> Any:
    if not ARITHMETIC.fullmatch(text):
        raise ValueError("not plain arithmetic")
    return parse_expr(text)


def _first_read(text: str, ways: Iterable[tuple[Callable[[str], Any], str]]) -> Any:
    """Return the first expression that a parser reads in a spelling, else the text."""
    for parse, spelling in ways:
        value = attempt(lambda: parse(spelling))  # noqa: B023
        if not isinstance(value, Raised):
            return value
    return text


# Qwen2.5-Math: evaluation/grader.py, lines 230-285, symbolic_equal.


def qwen_equal(value: str, reference: str) -> bool:
    """Return whether two expressions are equal: as written, symbolically, or within 1e-4."""
    first, second = _qwen_expression(value), _qwen_expression(reference)
    if isinstance(first, str) or isinstance(second, str):
        return value == reference
    return (
        holds(lambda: str(first) == str(second) or first == second)
        or holds(lambda: first.equals(second) or simplify(first - second) == 0)
        or holds(lambda: isclose(float(N(second)), float(N(first)), rel_tol=1e-4))
    )


@lru_cache(4096)
def _qwen_expression(text: str) -> Any:
    """Return the expression that a text spells, or the text itself."""
    spellings = (text.replace("\\\\", "\\"), text)
    return _first_read(text, product((_latex, _arithmetic), spellings))


# DeepSeek-Math: evaluation/eval/eval_utils.py, symbolic_equal.


def deepseek_equal(value: str, reference: str) -> bool:
    """Return whether two expressions are equal: symbolically, or within 1e-3."""
    first, second = _deepseek_expression(value), _deepseek_expression(reference)
    if isinstance(first, str) or isinstance(second, str):
        return False  # `N` would execute a text
    return holds(lambda: simplify(first - second) == 0) or holds(
        lambda: isclose(float(N(first)), float(N(second)), abs_tol=1e-3)
    )


@lru_cache(4096)
def _deepseek_expression(text: str) -> Any:
    """Return the expression that a text spells, or the text; "#" begins a comment for Python."""
    return _first_read(text, ((_latex, text), (_arithmetic, text.partition("#")[0])))


# lm-evaluation-harness: lm_eval/tasks/minerva_math/utils.py, which allows 5 s for a comparison.

ANNOUNCED = re.compile(r"Final Answer: The final answer is(.*?). I hope it is correct.")
HOPE, INVALID = "I hope it is correct.", "[invalidanswer]"
WHOLE_WORDS = tuple(
    re.compile(rf"(?<!\\)\b{word}\b") for word in latex.MINERVA_REMOVED if word.isalpha()
)
COMMAND = re.compile(r"(\\[a-zA-Z]+)")
ROOTS = (
    (re.compile(r"(sqrt)(\[[^\]]*\])(\w)"), r"\1\2{\3}"),
    (re.compile(r"(sqrt)(?!\[)([^{])"), r"sqrt{\2}"),
)
GROUPED = re.compile(r"-?\d{1,3}(,\d{3})+")


def minerva_exact_match(text: str, solution: str) -> tuple[str | None, bool]:
    """Judge as `exact_match`; solution: the reference solution, its answer in the last box."""
    announced = ANNOUNCED.search(text + HOPE)
    answer = minerva_form(announced.group(1).strip() if announced else INVALID)
    gold = _boxed_gold(solution)
    equal = (answer == gold != "") or holds(lambda: simplify(_latex(answer) - _latex(gold)) == 0)
    return (answer or None) if announced else None, equal


@lru_cache(4096)
def _boxed_gold(solution: str) -> str:
    box = latex.spaced_box(solution)
    if box is None:
        raise ValueError(f"the solution has no box: {solution[-60:]!r}")
    return minerva_form(box.text)


def minerva_form(answer: str) -> str:
    """Return the normal form of an answer (Lewkowycz et al. 2022, appendix D)."""
    answer = answer.split("=")[-1]
    for word in WHOLE_WORDS:
        answer = word.sub("", answer)
    answer = latex.replaced(answer, latex.MINERVA_SUBSTITUTIONS)
    for expression in latex.MINERVA_REMOVED:
        if expression.isalpha():  # not within a command: the "ft" of "\left" stays
            parts = COMMAND.split(answer)
            parts[::2] = [part.replace(expression, "") for part in parts[::2]]
            answer = "".join(parts)
        else:
            answer = answer.replace(expression, "")
    for pattern, replacement in (*latex.MINERVA_REWRITTEN, *ROOTS):
        answer = pattern.sub(replacement, answer)
    answer = answer.replace("$", "")
    return answer.replace(",", "") if GROUPED.fullmatch(answer) else answer
