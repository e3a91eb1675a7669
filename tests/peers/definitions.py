"""Published definitions that no program at hand runs, written down as directly as they are stated.

Oracles for our scorers, which find the same in linear time and other words: each takes a completion
and a gold and returns [verdict, extracted string]. Slow on long texts, as the definitions are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

PeerAnswer = list[bool | str | None]
Read = Callable[[str], str | None]


def judge(read: Read, equal: Callable[[str, str], bool], text: str, gold: str) -> PeerAnswer:
    """Judge by what is read of a text and how it is compared; an infinite float is an error."""
    try:
        value = read(text)
    except OverflowError as error:
        return ["error", type(error).__name__]
    return [value is not None and equal(value, gold), value]


def first(pattern: str, text: str) -> str | None:
    """Return group 1 of the first match, without commas."""
    match = re.search(pattern, text)
    return None if match is None else match.group(1).strip().replace(",", "")


def last(pattern: str, text: str) -> str | None:
    """Return the last match."""
    matches = re.findall(pattern, text)
    return matches[-1] if matches else None


def last_without_commas(pattern: str, text: str) -> str | None:
    """Return the last match once commas between digits are gone."""
    return last(pattern, re.sub(r"(\d),(\d)", r"\1\2", text))


def last_of_first(patterns: tuple[str, ...], text: str) -> str | None:
    """Return the last match of the first of the patterns that matches at all, normalised."""
    number = next((found for pattern in patterns if (found := last(pattern, text))), None)
    return None if number is None else normal(number)


def normal(number: str) -> str:
    """Drop commas and trailing periods; write what floats call whole as an integer."""
    bare = number.strip().replace(",", "").rstrip(".")
    try:
        return str(int(float(bare))) if float(bare) == int(float(bare)) else bare
    except ValueError:
        return bare


def near(tolerance: float, number: str, other: str) -> bool:
    """Tell whether two numbers are equal as strings, or as floats within a tolerance."""
    try:
        return number == other or abs(float(number) - float(other)) < tolerance
    except ValueError:
        return False


def bare(text: str) -> str:
    """Write a text as nemo-evaluator's _normalize_math."""
    return re.sub("[,$% ]", "", text.strip().lower()).rstrip(".")


def nemo_line(text: str) -> str:
    """Read as nemo-evaluator's benchmark gsm8k: answer_line with a pattern of its own."""
    match = re.search(r"(?i)(?:the answer is|answer\s*:)\s*([^\n]+)", text)
    return bare(match.group(1).strip() if match else text.strip().split("\n")[-1])


def without_zeros(number: str) -> str:
    """Drop the zeros at the end, those of integers too, as nemo-evaluator's numeric_match."""
    return number.rstrip("0").rstrip(".")


def behind(label: str, text: str) -> str | None:
    """Read as simple-evals' parse_answer."""
    if label not in text:
        return None
    tail = text.split(label)[-1].strip().replace(",", "")
    return (last(r"\d+\.?\d*", tail) or "").rstrip(".")


def no_commas(gold: str) -> str:
    """Return a gold without commas."""
    return gold.replace(",", "")


def hundredfold(read: str, gold: str) -> bool:
    """Compare as the numeric part of DeepSeek-Math's math_equal."""
    label = float(no_commas(gold))
    return any(
        math.isclose(float(read), value, abs_tol=1e-3)
        for value in (label / 100, label, label * 100)
    )


# The common multi-pattern parser: the last match of the first pattern that matches.
MULTI_PATTERN = (
    r"####\s*([\d,.\-]+)", r"\\boxed\{([^}]+)\}",
    r"[Tt]he\s+(?:final\s+)?answer\s+is[:\s]*\$?([\d,.\-]+)",
    r"(?i)answer\s*:\s*\$?([\d,.\-]+)", r"(-?[\d,]+\.?\d*)",
)  # fmt: skip
# PostTrainBench #44: the last number behind "ANSWER:", else the last number.
NUMERIC_EQUALITY = (r"(?i)answer\s*:\s*\$?(-?\d[\d,]*\.?\d*)", r"(-?\d[\d,]*\.?\d*)")
MARKED = partial(first, r"#### (\-?[0-9\.\,]+)")  # openai/grade-school-math, dataset.py
DIGITS = partial(first, r"####\s*([\d\.\-]+)")  # jaimetcf/ai-benchmarks: no comma in the class
OLMES = partial(last_without_commas, r"[-+]?\d*\.\d+|\d+")  # a sign belongs to decimals alone
OLMO_EVAL = partial(last_without_commas, r"[-+]?\d*\.\d+|[-+]?\d+")
OPEN_INSTRUCT = partial(last_without_commas, r"[-+]?(?:\d*\.\d+|\d+)")
PAL = partial(last, r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?")
# simple-evals' LANG_TO_ANSWER_PREFIX.
MGSM_LABELS = {
    "en": "Answer", "bn": "উত্তর", "de": "Antwort", "es": "Respuesta", "fr": "Réponse",
    "ja": "答え", "ru": "Ответ", "sw": "Jibu", "te": "సమాధానం", "th": "คำตอบ", "zh": "答案",
}  # fmt: skip
# Scorers -> what is read, and how it is compared with the gold.
TABLE: dict[str, tuple[Read, Callable[[str, str], bool]]] = {
    "multi-pattern": (
        partial(last_of_first, MULTI_PATTERN), lambda read, gold: near(1e-6, read, normal(gold))
    ),
    "numeric-equality": (
        partial(last_of_first, NUMERIC_EQUALITY), lambda read, gold: read == normal(gold)
    ),
    **dict.fromkeys(
        ("openai/2021", "nanochat/gsm8k", "lm-eval/gsm8k@0.3"),
        (MARKED, lambda read, gold: read == no_commas(gold.strip())),
    ),
    "ai-benchmarks/gsm8k": (DIGITS, lambda read, gold: read == DIGITS(f"#### {gold}")),
    "olmes/gsm8k-tulu": (OLMES, lambda read, gold: read == OLMES(gold)),
    "olmo-eval/gsm8k": (OLMO_EVAL, lambda read, gold: read == OLMO_EVAL(gold)),
    "open-instruct/gsm8k": (
        OPEN_INSTRUCT, lambda read, gold: read.lower() == no_commas(gold).lower()
    ),
    **{
        f"simple-evals/mgsm-{code}": (
            partial(behind, label),
            lambda read, gold: (without_zeros(read) if "." in read else read) == no_commas(gold),
        )
        for code, label in MGSM_LABELS.items()
    },
    "pal/gsm-hard": (
        PAL, lambda read, gold: abs(float(no_commas(read)) - float(no_commas(gold))) < 1e-3
    ),
    "deepseek-math/few-shot-cot": (
        lambda text: last(r"-?\d+\.?\d*", text.split("Q: ", 1)[0]), hundredfold
    ),
    "nemo-evaluator/gsm8k": (nemo_line, lambda read, gold: read == bare(no_commas(gold))),
    "nemo-evaluator/mgsm": (
        lambda text: without_zeros(last(r"-?\d+\.?\d*", no_commas(text)) or ""),
        lambda read, gold: read == without_zeros(no_commas(gold).strip()),
    ),
}  # fmt: skip
DEFINITIONS: dict[str, Callable[[str, str], PeerAnswer]] = {
    name: partial(judge, read, equal) for name, (read, equal) in TABLE.items()
}


class Definitions:
    """Answers as a peer does."""

    name = "the definitions"

    def ask(self, requests: Iterable[dict[str, Any]]) -> Iterator[dict[str, PeerAnswer]]:
        """Yield what the definitions say of each completion."""
        for row in requests:
            yield {
                name: DEFINITIONS[name](row["completion"], row["gold"]) for name in row["scorers"]
            }
