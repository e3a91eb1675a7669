"""A completion as the kernels see it, and how they write down what they found."""

from __future__ import annotations

from typing import NamedTuple

from gradeschool.scoring.compiled.jit import Places, kernel
from gradeschool.scoring.compiled.numbers import ASK, equal_as_is, equal_to
from gradeschool.scoring.families import ERROR, NO_ANSWER

# References that are not compared here, that a scorer cannot read, that have thousands commas.
NOT_PLAIN, UNREADABLE, WITH_COMMAS = -1, -2, -3
# Kernels by number: the scorers that they judge for, each named by one of its group.
SCORERS = (
    "openai/2021",
    "lm-eval/gsm8k@0.3",
    "nanochat/gsm8k",
    "lm-eval/gsm8k/strict-match",
    "ai-benchmarks/gsm8k",
    "oumi/gsm8k",
    "verl/gsm8k/strict",
    "verl/gsm8k/flexible",
    "lm-eval/gsm8k/flexible-extract",
    "lm-eval/gsm8k-cot/flexible-extract",
    "lm-eval/gsm8k-cot/strict-match",
    "lm-eval/gsm8k-cot-zeroshot/strict-match",
    "lm-eval/gsm8k-cot-self-consistency/score-first",
    "lm-eval/gsm8k-cot-llama/strict-match",
    "lm-eval/gsm8k-llama/strict-match",
    "openai/example-solutions",
    "olmes/gsm8k-tulu",
    "olmo-eval/gsm8k",
    "open-instruct/gsm8k",
    "helm/gsm/final-number",
    "helm/gsm/exact-match-indicator",
    "opencompass/gsm8k",
    "deepseek-math/few-shot-cot",
    "numeric-equality",
    "multi-pattern",
    "simple-evals/mgsm-en",
    "deepseek-math/zero-shot",
    "lm-eval/hrm8k-gsm8k-en",
    "opencompass/gsm8k-0shot-v2",
    "inspect/match-numeric@<=0.3.220",
    "inspect/match-numeric@0.3.221-0.3.252",
    "inspect/match-numeric@0.3.253-0.3.260",
    "inspect/match-numeric@>=0.3.253",
    "inspect/aime2025",
    "gradeschool/parse-answer",
)
(
    OFFICIAL,
    LM_EVAL_0_3,
    NANOCHAT,
    STRICT,
    AI_BENCHMARKS,
    OUMI,
    VERL_STRICT,
    VERL_FLEXIBLE,
    FLEXIBLE,
    FLEXIBLE_OF_GOLD,
    COT,
    COT_ZEROSHOT,
    SCORE_FIRST,
    COT_LLAMA,
    LLAMA,
    EXAMPLE_SOLUTIONS,
    TULU,
    OLMO_EVAL,
    OPEN_INSTRUCT,
    HELM_NUMBER,
    HELM_TOKEN,
    OPENCOMPASS,
    FEW_SHOT,
    NUMERIC_EQUALITY,
    MULTI_PATTERN,
    MGSM,
    ZERO_SHOT,
    HRM8K,
    OPENCOMPASS_V2,
    INSPECT_220,
    INSPECT_221,
    INSPECT_253,
    INSPECT_261,
    AIME,
    PARSE_ANSWER,
) = range(len(SCORERS))
# They read numbers with commas in a gold as well.
IGNORING_COMMAS = (INSPECT_221, INSPECT_253, INSPECT_261, AIME)


class Case(NamedTuple):
    """A completion and its references.

    buf[start:end]: its text. marks: see `marks`. refs[places[g]:][:sizes[g]]: the reference of
    group g. golds[g]: the same as a number, NOT_PLAIN where it is none of up to 12 digits.
    group[kernel]: the group that a kernel judges for, -1 for none. codes: what is found, by group.
    word, line: room for pieces of text that are written anew.
    """

    buf: Places
    start: int
    end: int
    marks: Places
    refs: Places
    places: Places
    sizes: Places
    golds: Places
    group: Places
    codes: Places
    word: Places
    line: Places


@kernel
def tell(case: Case, scorer: int, code: int) -> None:
    """Write down a scorer's code."""
    group = case.group[scorer]
    if group >= 0:
        case.codes[group] = ERROR if case.sizes[group] == UNREADABLE else code


@kernel
def tell_text(case: Case, scorer: int, start: int, end: int) -> None:
    """Write down how a piece compares with the reference as text; none where start is -1."""
    group = case.group[scorer]
    if group < 0:
        return
    code = NO_ANSWER
    if start >= 0:
        code = equal_as_is(case.buf, start, end, case.refs, case.places[group], case.sizes[group])
    tell(case, scorer, code)


@kernel
def tell_without_commas(case: Case, scorer: int, start: int, end: int, dollars: bool) -> None:
    """Do the same; commas, and on demand dollar signs, do not count in the piece."""
    group = case.group[scorer]
    if group < 0:
        return
    code = NO_ANSWER
    if start >= 0:
        place, size = case.places[group], case.sizes[group]
        code = equal_to(case.buf, start, end, case.refs, place, size, dollars)
    tell(case, scorer, code)


@kernel
def tell_word(case: Case, scorer: int, start: int, end: int) -> None:
    """Do the same for a piece of `case.word`."""
    group = case.group[scorer]
    if group < 0:
        return
    code = NO_ANSWER
    if start >= 0:
        code = equal_as_is(case.word, start, end, case.refs, case.places[group], case.sizes[group])
    tell(case, scorer, code)


@kernel
def gold_of(case: Case, scorer: int) -> int:
    """Return the gold that a scorer compares with as a number, NOT_PLAIN where ASK must be told."""
    group = case.group[scorer]
    if group < 0:
        return NOT_PLAIN
    if case.sizes[group] == UNREADABLE:
        case.codes[group] = ERROR
        return NOT_PLAIN
    case.codes[group] = ASK
    return int(case.golds[group])
