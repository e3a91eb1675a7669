"""The scorers and votes of lm-evaluation-harness's GSM8K and MGSM tasks: filters and exact_match.

https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/gsm8k/gsm8k.yaml
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/gsm8k/gsm8k-cot-zeroshot.yaml
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/gsm8k/gsm8k-cot-self-consistency.yaml
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/gsm8k/gsm8k-cot-llama.yaml
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/llama3/instruct/gsm8k/gsm8k.yaml
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/mgsm/utils.py
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/filters/extraction.py
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/filters/selection.py
https://pypi.org/project/lm-eval/0.3.0, lm_eval/tasks/gsm8k.py
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable

from gradeschool.answers.extractions import HASH, MARKED, first_marked, last_number
from gradeschool.answers.search import last_match_behind, mentions_answer
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer, ScorerFailure, verbatim
from gradeschool.verdict import Answer
from gradeschool.vote import Vote

TASKS = "EleutherAI/lm-evaluation-harness @ 4e7e0d47, lm_eval/tasks"
SOURCE = f"{TASKS}/gsm8k"
LLAMA3_SOURCE = f"{TASKS}/llama3/instruct/gsm8k/gsm8k.yaml"
Extract = Callable[[str, str], Answer | None]

FLEXIBLE_PATTERN = re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)")
# The last "." is not escaped upstream: it takes one more character, which may be a digit.
COT_PATTERN = re.compile(r"The answer is (\-?[0-9\.\,]+).")
# Unlike gsm8k_cot's, this pattern must end in a digit: it matches "The answer is 18" at the end.
SELF_CONSISTENCY_PATTERN = re.compile(r"The answer is (\-?[0-9\.\,]*[0-9]+)")
THE_FINAL_ANSWER_IS, FINAL_ANSWER_IS = "The final answer is ", "final answer is "
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


def whole_answer(problem: Problem) -> str:
    """Return the reference as exact_match sees it if the target is the whole solution."""
    return cleaned(problem.solution)


def gold_alone(problem: Problem) -> str:
    """Return the reference as exact_match sees it if the target is only the number."""
    return cleaned(problem.gold)


def _first(pattern: re.Pattern[str], text: str, how: str) -> Answer | None:
    match = pattern.search(text)
    return None if match is None else Answer(match[1], cleaned(match[1]), match.span(1), how)


def _last(pattern: re.Pattern[str], literal: str, text: str, how: str) -> Answer | None:
    match = last_match_behind(literal, pattern, text) if mentions_answer(text) else None
    return None if match is None else Answer(match[1], cleaned(match[1]), match.span(1), how)


def extract_strict(text: str, reference: str) -> Answer | None:
    """Extract the first "#### N"."""
    return _first(MARKED, text, "the first '#### N'") if HASH in text else None


extract_flexible = last_number(FLEXIBLE_PATTERN, clean=cleaned)


def extract_cot(text: str, reference: str) -> Answer | None:
    """Extract the first "The answer is N" and one more character."""
    if not mentions_answer(text):
        return None
    return _first(COT_PATTERN, text, "the first 'The answer is N.'")


def extract_self_consistency(text: str, reference: str) -> Answer | None:
    """Extract the first "The answer is N" up to its last digit."""
    if not mentions_answer(text):
        return None
    return _first(SELF_CONSISTENCY_PATTERN, text, "the first 'The answer is N'")


def extract_cot_llama(text: str, reference: str) -> Answer | None:
    """Extract the last "The final answer is N"; "$" and periods belong to N."""
    return _last(COT_LLAMA_PATTERN, THE_FINAL_ANSWER_IS, text, "the last 'The final answer is N'")


def extract_llama(text: str, reference: str) -> Answer | None:
    """Extract the last "final answer is N"; no "$" before N."""
    return _last(LLAMA_PATTERN, FINAL_ANSWER_IS, text, "the last 'final answer is N'")


def _scorer(
    task: str,
    filter: str,
    summary: str,
    extract: Extract,
    reference: Callable[[Problem], str] = gold_alone,
    file: str = "",
) -> Scorer:
    return Scorer(
        name=f"lm-eval/{task}/{filter}",
        summary=f"{summary}, exact_match",
        source=f"{file or f'{SOURCE}/{task}.yaml'}, filter {filter}",
        reference=reference,
        extract=extract,
        compare=verbatim,
    )


RUN = "the last number-like run"
COT = "the first 'The answer is N' and one more character"
LLAMA = "the last 'final answer is N' without a '$'"
FLEXIBLE = "flexible-extract"
GSM8K_SCORERS = (
    _scorer("gsm8k", "strict-match", "the first '#### N'", extract_strict, whole_answer),
    _scorer("gsm8k", FLEXIBLE, RUN, extract_flexible, whole_answer),
    _scorer("gsm8k-cot", "strict-match", COT, extract_cot),
    _scorer("gsm8k-cot", FLEXIBLE, RUN, extract_flexible),
    _scorer("gsm8k-cot-zeroshot", "strict-match", COT, extract_cot, whole_answer),
    _scorer("gsm8k-cot-zeroshot", FLEXIBLE, RUN, extract_flexible, whole_answer),
    _scorer("gsm8k-cot-self-consistency", "score-first",
            "the first 'The answer is N' of the first sample", extract_self_consistency),
    _scorer("gsm8k-cot-llama", "strict-match", "the last 'The final answer is N'",
            extract_cot_llama),
    _scorer("gsm8k-cot-llama", FLEXIBLE, RUN, extract_flexible),
    _scorer("gsm8k-llama", "strict-match", LLAMA, extract_llama, file=LLAMA3_SOURCE),
    _scorer("gsm8k-llama", FLEXIBLE, RUN, extract_flexible, file=LLAMA3_SOURCE),
)  # fmt: skip


def marked_gold_0_3(problem: Problem) -> str:
    """Return the gold after the same extraction, which the published code asserts."""
    gold = first_marked(problem.solution)
    if gold is None:
        raise ScorerFailure("AssertionError: the solution has no '#### N'")
    return gold.value


GSM8K_0_3_SCORER = Scorer(
    name="lm-eval/gsm8k@0.3",
    summary="the first '#### N', equal as a string",
    source="lm-eval 0.3.0 (PyPI), lm_eval/tasks/gsm8k.py",
    reference=marked_gold_0_3,
    extract=first_marked,
    compare=verbatim,
)


def ballot(text: str) -> str:
    """Return the number as it is written: "1,000" and "1000" are two candidates."""
    answer = extract_self_consistency(text, "")
    return INVALID if answer is None else answer.text


def compare_winner(winner: str, reference: str) -> bool:
    """Compare the winner by exact_match."""
    return cleaned(winner) == reference


VOTES = tuple(
    Vote(
        name=f"lm-eval/gsm8k-cot-self-consistency/maj@{voters}",
        summary=f"the most frequent 'The answer is N' of {voters} samples, '[invalid]' among them",
        source=f"{SOURCE}/gsm8k-cot-self-consistency.yaml, filter maj@{voters}: {chain}",
        voters=voters,
        ballot=ballot,
        nothing=INVALID,
        reference=gold_alone,
        compare=compare_winner,
    )
    for voters, chain in (
        (64, "regex, majority_vote over all repeats"),
        (8, "take_first_k 8, regex, majority_vote"),
    )
)

ENGLISH_ANSWER = "Step-by-Step Answer:"
ENGLISH_PATTERN = r"The answer is (\-?[0-9\.\,]+)"
# Strings that define the tasks, verbatim: labels before the question, before an answer without
# reasoning and before one with reasoning; the pattern of the answer after reasoning.
MGSM_TASKS = {
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


def without_punctuation(text: str) -> str:
    """Return the form that MGSM's exact_match compares: a sign, point and commas are lost.

    numpy drops NULs at the end.
    """
    return text.lower().translate(PUNCTUATION).rstrip("\0")


def mgsm_gold(problem: Problem) -> str:
    """Return the gold as MGSM's exact_match compares it."""
    return without_punctuation(problem.gold)


def extract_whole(text: str, reference: str) -> Answer | None:
    """Extract the whole completion without white space at its ends."""
    value = text.strip()
    if not value:
        return None
    start = text.find(value)
    return Answer(value, without_punctuation(value), (start, start + len(value)), "the whole text")


def first_match(pattern: str) -> Extract:
    """Return a function that extracts group 1 of the first match of a pattern."""
    compiled = re.compile(pattern)
    words = pattern.partition("(")[0].rstrip()

    def extract(text: str, reference: str) -> Answer | None:
        match = compiled.search(text)
        if match is None:
            return None
        value = match.group(1)
        return Answer(value, without_punctuation(value), match.span(1), f"the first {words!r}")

    return extract


def _mgsm(name: str, summary: str, extract: Extract, language: str = "") -> Scorer:
    return Scorer(
        name=f"lm-eval/{name}",
        summary=f"{summary}, exact_match without punctuation",
        source=f"{TASKS}/mgsm, filter {name.rpartition('/')[2]}",
        reference=mgsm_gold,
        extract=extract,
        compare=verbatim,
        dataset=f"mgsm:{language}" if language else "mgsm",
    )


MGSM_SCORERS = (
    _mgsm("mgsm-direct/remove-whitespace", "the whole text", extract_whole),
    _mgsm("mgsm/flexible-extract", RUN, last_number(FLEXIBLE_PATTERN, clean=without_punctuation)),
    _mgsm("mgsm-en-cot/strict-match", "the first 'The answer is N'", first_match(ENGLISH_PATTERN)),
    *(
        _mgsm(
            f"mgsm-native-cot-{language}/strict-match",
            f"the first {pattern.partition('(')[0].rstrip() + ' N'!r}",
            first_match(pattern),
            language,
        )
        for language, (_, _, _, pattern) in MGSM_TASKS.items()
    ),
)
