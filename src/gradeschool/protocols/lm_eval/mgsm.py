r"""MGSM in 11 languages: the answer alone, reasoning in the language, reasoning in English.

The tasks use no examples unless a number of them is set. `exact_match` ignores case and punctuation
on both sides, so that a sign, a decimal point and commas are lost.

https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/mgsm/utils.py
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/mgsm/native_cot/cot_yaml
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Sequence

from gradeschool.answers.extractions import last_number
from gradeschool.completion import Decoding, Prompt
from gradeschool.problem import Problem
from gradeschool.protocol import Protocol, Render
from gradeschool.protocols.lm_eval.prompts import MAX_TOKENS
from gradeschool.protocols.lm_eval.scorers import FLEXIBLE_PATTERN
from gradeschool.scorer import Scorer, verbatim
from gradeschool.verdict import Answer

SOURCE = "EleutherAI/lm-evaluation-harness @ 4e7e0d47, lm_eval/tasks/mgsm"
ENGLISH_ANSWER = "Step-by-Step Answer:"
ENGLISH_PATTERN = r"The answer is (\-?[0-9\.\,]+)"
# Strings that define the tasks, verbatim: labels before the question, before an answer without
# reasoning and before one with reasoning; the pattern of the answer after reasoning.
TASKS = {
    "bn": ("প্রশ্ন: ", "Answer:", "ধাপে ধাপে উত্তর:", ENGLISH_PATTERN),
    "de": ("Frage: ", "Antwort:", "Schritt-für-Schritt-Antwort:",
           r"Die Antwort lautet (\-?[0-9\.\,]+)"),
    "en": ("Question: ", "Answer:", ENGLISH_ANSWER, ENGLISH_PATTERN),
    "es": ("Pregunta: ", "Respuesta:", "Respuesta paso a paso:",
           r"La respuesta es (\-?[0-9\.\,]+)"),
    "fr": ("Question : ", "Réponse :", "Réponse étape par étape :",
           r"La réponse est (\-?[0-9\.\,]+)"),
    "ja": ("問題： ", "Answer:", "ステップごとの答え:", r"答えは(\-?[0-9\.\,]+)です。"),
    "ru": ("Задача: ", "Answer:", "Пошаговоерешение:", r"Ответ — (\-?[0-9\.\,]+)"),
    "sw": ("Swali: ", "Answer:", "Jibu la Hatua kwa Hatua:", r"Jibu ni (\-?[0-9\.\,]+)"),
    "te": ("ప్రశ్న: ", "Answer:", "దశలవారీగా సమాధానం:", r"సమాధానం (\-?[0-9\.\,]+)"),
    "th": ("โจทย์: ", "Answer:", "คำตอบทีละขั้นตอน:", r"คำตอบคือ (\-?[0-9\.\,]+)"),
    "zh": ("问题： ", "Answer:", "逐步解答:", r"答案是 (\-?[0-9\.\,]+)。"),
}  # fmt: skip
PUNCTUATION = str.maketrans("", "", string.punctuation)


def compared(text: str) -> str:
    """Return the form that exact_match compares; numpy drops NULs at the end."""
    return text.lower().translate(PUNCTUATION).rstrip("\0")


def gold_number(problem: Problem) -> str:
    """Return the gold as an integer without commas; later steps drop its sign as well."""
    return compared(problem.gold)


def extract_whole(text: str, reference: str) -> Answer | None:
    """Extract the whole completion without white space at its ends."""
    value = text.strip()
    if not value:
        return None
    start = text.find(value)
    return Answer(value, compared(value), (start, start + len(value)), "the whole text")


extract_last_number = last_number(FLEXIBLE_PATTERN, clean=compared)


def first_match(pattern: str) -> Callable[[str, str], Answer | None]:
    """Return a function that extracts group 1 of the first match of a pattern."""
    compiled = re.compile(pattern)
    words = pattern.partition("(")[0].rstrip()

    def extract(text: str, reference: str) -> Answer | None:
        match = compiled.search(text)
        if match is None:
            return None
        return Answer(
            match.group(1), compared(match.group(1)), match.span(1), f"the first {words!r}"
        )

    return extract


def _scorer(
    name: str, summary: str, extract: Callable[[str, str], Answer | None], language: str = ""
) -> Scorer:
    return Scorer(
        name=f"lm-eval/{name}",
        summary=f"{summary}, exact_match without punctuation",
        source=f"{SOURCE}, filter {name.rpartition('/')[2]}",
        reference=gold_number,
        extract=extract,
        compare=verbatim,
        dataset=f"mgsm:{language}" if language else "mgsm",
    )


MGSM_SCORERS = (
    _scorer("mgsm-direct/remove-whitespace", "the whole text", extract_whole),
    _scorer("mgsm/flexible-extract", "the last number-like run", extract_last_number),
    _scorer(
        "mgsm-en-cot/strict-match", "the first 'The answer is N'", first_match(ENGLISH_PATTERN)
    ),
    *(
        _scorer(
            f"mgsm-native-cot-{language}/strict-match",
            f"the first {pattern.partition('(')[0].rstrip() + ' N'!r}",
            first_match(pattern),
            language,
        )
        for language, (_, _, _, pattern) in TASKS.items()
    ),
)


def _prompts(before: str, behind: str) -> Render:
    def prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
        for problem in problems:
            yield Prompt(text=f"{before}{problem.question}\n{behind}")

    return prompts


def _task(kind: str, language: str, summary: str, behind: str, strict: str) -> Protocol:
    before = TASKS[language][0]
    return Protocol(
        name=f"lm-eval/mgsm-{kind}-{language}",
        summary=f"zero-shot, {summary}, greedy, 256 tokens",
        source=f"{SOURCE}/{kind.replace('-', '_')}/mgsm_{kind.replace('-', '_')}_{language}.yaml",
        render=_prompts(before, behind),
        decoding=Decoding(
            temperature=0.0, max_tokens=MAX_TOKENS, stop=(before.rstrip(), "</s>", "<|im_end|>")
        ),
        scorers=(f"lm-eval/{strict}", "lm-eval/mgsm/flexible-extract"),
        dataset=f"mgsm:{language}",
    )


MGSM_PROTOCOLS = tuple(
    protocol
    for language, (_, answer, reasoning, _) in TASKS.items()
    for protocol in (
        _task("direct", language, "the answer alone", answer, "mgsm-direct/remove-whitespace"),
        _task("native-cot", language, "reasoning in the language of the problem", reasoning,
              f"mgsm-native-cot-{language}/strict-match"),
        _task("en-cot", language, "reasoning in English", ENGLISH_ANSWER,
              "mgsm-en-cot/strict-match"),
    )
)  # fmt: skip
