"""Published definitions that no program at hand runs, written down as directly as they are stated.

Oracles for our scorers, which find the same in linear time and other words: each takes a completion
and a gold and returns [verdict, extracted string]. Slow on long texts, as the definitions are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

PeerAnswer = list[bool | str | None]

# The common multi-pattern parser: the last match of the first pattern that matches.
MULTI_PATTERN = (
    r"####\s*([\d,.\-]+)",
    r"\\boxed\{([^}]+)\}",
    r"[Tt]he\s+(?:final\s+)?answer\s+is[:\s]*\$?([\d,.\-]+)",
    r"(?i)answer\s*:\s*\$?([\d,.\-]+)",
    r"(-?[\d,]+\.?\d*)",
)
# Numeric equality: the last number behind "ANSWER:", else the last number.
NUMERIC_EQUALITY = (r"(?i)answer\s*:\s*\$?(-?\d[\d,]*\.?\d*)", r"(-?\d[\d,]*\.?\d*)")


def last_of_first(patterns: tuple[str, ...], text: str) -> str | None:
    """Return the last match of the first of the patterns that matches at all."""
    every = (re.findall(pattern, text) for pattern in patterns)
    return next((matches[-1] for matches in every if matches), None)


def normal(number: str) -> str:
    """Drop commas and trailing periods; write what floats call whole as an integer."""
    bare = number.strip().replace(",", "").rstrip(".")
    try:
        return str(int(float(bare))) if float(bare) == int(float(bare)) else bare
    except ValueError:
        return bare


def close(number: str, other: str) -> bool:
    """Tell whether two numbers are equal as strings, or as floats within 1e-6."""
    try:
        return number == other or abs(float(number) - float(other)) < 1e-6
    except ValueError:
        return False


def multi_pattern(completion: str, gold: str) -> PeerAnswer:
    """Judge by the documented multi-pattern parser, which an infinite float makes fail."""
    number = last_of_first(MULTI_PATTERN, completion)
    if number is None:
        return [False, None]
    try:
        value = normal(number)
    except OverflowError as error:
        return ["error", type(error).__name__]
    return [close(value, normal(gold)), value]


def numeric_equality(completion: str, gold: str) -> PeerAnswer:
    """Judge by the proposal of PostTrainBench #44."""
    number = last_of_first(NUMERIC_EQUALITY, completion)
    if number is None:
        return [False, None]
    try:
        value = normal(number)
    except OverflowError as error:
        return ["error", type(error).__name__]
    return [value == normal(gold), value]


def first_marked(pattern: str, completion: str, gold: str) -> PeerAnswer:
    """Judge by the first match of a pattern, commas gone, as the graders of 2021 do."""
    number = re.search(pattern, completion)
    if number is None:
        return [False, None]
    value = number.group(1).strip().replace(",", "")
    return [value == gold.strip().replace(",", ""), value]


def hashes(completion: str, gold: str) -> PeerAnswer:
    """Judge by `#### N` of openai/grade-school-math, dataset.py; nanochat and lm-eval 0.3.0 too."""
    return first_marked(r"#### (\-?[0-9\.\,]+)", completion, gold)


def ai_benchmarks(completion: str, gold: str) -> PeerAnswer:
    """Judge by jaimetcf/ai-benchmarks: no comma in the class, on both sides."""
    pattern = r"####\s*([\d\.\-]+)"
    match, label = re.search(pattern, completion), re.search(pattern, f"#### {gold}")
    read = None if match is None else match.group(1)
    return [read is not None and label is not None and read == label.group(1), read]


def last_number(pattern: str, completion: str, gold: str) -> PeerAnswer:
    """Judge by the last match of a pattern once commas between digits are gone, on both sides."""
    numbers = [
        re.findall(pattern, re.sub(r"(\d),(\d)", r"\1\2", text)) for text in (completion, gold)
    ]
    read, label = (matches[-1] if matches else None for matches in numbers)
    return [read is not None and read == label, read]


def olmes(completion: str, gold: str) -> PeerAnswer:
    """Judge by oe_eval: a sign belongs to decimals alone."""
    return last_number(r"[-+]?\d*\.\d+|\d+", completion, gold)


def olmo_eval(completion: str, gold: str) -> PeerAnswer:
    """Judge by olmo-eval 1.0: the sign is read."""
    return last_number(r"[-+]?\d*\.\d+|[-+]?\d+", completion, gold)


def open_instruct(completion: str, gold: str) -> PeerAnswer:
    """Judge by GSM8KVerifier: the label is the gold without commas, as it stands."""
    _, read = last_number(r"[-+]?(?:\d*\.\d+|\d+)", completion, gold)
    return [read is not None and str(read).lower() == gold.replace(",", "").lower(), read]


# simple-evals' LANG_TO_ANSWER_PREFIX.
MGSM_LABELS = {
    "en": "Answer", "bn": "উত্তর", "de": "Antwort", "es": "Respuesta", "fr": "Réponse",
    "ja": "答え", "ru": "Ответ", "sw": "Jibu", "te": "సమాధానం", "th": "คำตอบ", "zh": "答案",
}  # fmt: skip


def mgsm(label: str) -> Callable[[str, str], PeerAnswer]:
    """Return what judges by simple-evals' parse_answer and score_mgsm."""

    def judge(completion: str, gold: str) -> PeerAnswer:
        if label not in completion:
            return [False, None]
        behind = completion.split(label)[-1].strip().replace(",", "")
        numbers = re.findall(r"\d+\.?\d*", behind)
        read = numbers[-1].rstrip(".") if numbers else ""
        compared = read.rstrip("0").rstrip(".") if "." in read else read
        return [compared == gold.replace(",", ""), read]

    return judge


def deepseek_few_shot(completion: str, gold: str) -> PeerAnswer:
    """Judge by extract_gsm_few_shot_cot_answer and the numeric part of math_equal."""
    numbers = re.findall(r"-?\d+\.?\d*", completion.split("Q: ", 1)[0])
    if not numbers:
        return [False, None]
    label, read = float(gold.replace(",", "")), float(numbers[-1])
    near = (math.isclose(read, value, abs_tol=1e-3) for value in (label / 100, label, label * 100))
    return [any(near), numbers[-1]]


def pal(completion: str, gold: str) -> PeerAnswer:
    """Judge the last number of a text as PAL judges what a program returns."""
    numbers = re.findall(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?", completion)
    if not numbers:
        return [False, None]
    label, read = (float(text.replace(",", "")) for text in (gold, numbers[-1]))
    return [abs(read - label) < 1e-3, numbers[-1]]


def bare(text: str) -> str:
    """Write a text as nemo-evaluator's _normalize_math."""
    text = text.strip().lower()
    for character in (",", "$", "%", " "):
        text = text.replace(character, "")
    return text.rstrip(".")


def nemo_gsm8k(completion: str, gold: str) -> PeerAnswer:
    """Judge by nemo-evaluator's benchmark gsm8k: answer_line with a pattern of its own."""
    match = re.search(r"(?i)(?:the answer is|answer\s*:)\s*([^\n]+)", completion)
    read = match.group(1).strip() if match else completion.strip().split("\n")[-1]
    return [bare(read) == bare(gold.replace(",", "")), bare(read)]


def nemo_mgsm(completion: str, gold: str) -> PeerAnswer:
    """Judge by nemo-evaluator's numeric_match: zeros at the end of integers are lost too."""
    numbers = re.findall(r"-?\d+\.?\d*", completion.replace(",", ""))
    read = numbers[-1].rstrip("0").rstrip(".") if numbers else ""
    return [read == gold.replace(",", "").strip().rstrip("0").rstrip("."), read]


DEFINITIONS: dict[str, Callable[[str, str], PeerAnswer]] = {
    "multi-pattern": multi_pattern,
    "numeric-equality": numeric_equality,
    "openai/2021": hashes,
    "nanochat/gsm8k": hashes,
    "lm-eval/gsm8k@0.3": hashes,
    "ai-benchmarks/gsm8k": ai_benchmarks,
    "olmes/gsm8k-tulu": olmes,
    "olmo-eval/gsm8k": olmo_eval,
    "open-instruct/gsm8k": open_instruct,
    **{f"simple-evals/mgsm-{code}": mgsm(label) for code, label in MGSM_LABELS.items()},
    "pal/gsm-hard": pal,
    "deepseek-math/few-shot-cot": deepseek_few_shot,
    "nemo-evaluator/gsm8k": nemo_gsm8k,
    "nemo-evaluator/mgsm": nemo_mgsm,
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
