r"""EleutherAI lm-evaluation-harness 0.4: GSM8K, Platinum and other sets; GSM8K of 0.3.0.

A task has up to three forms. The plain one is a text. `+chat`: that text as one user message, which
`--apply_chat_template` gave up to 0.4.9. `+multiturn`: each shot a user and an assistant turn,
without the delimiters of the text; the default of `--apply_chat_template` since 0.4.10, before it
`--fewshot_as_multiturn`. The README of the Llama tasks asks for these: they gave the published
numbers of Llama 3.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gradeschool.answers.extractions import (
    HASH,
    MARKED,
    first_group,
    first_marked,
    last_group,
    last_number,
    marked_gold,
    whole_text,
)
from gradeschool.prompts import draw_in_order, draw_shuffled
from gradeschool.protocols import Decoding, Problem, Protocol, Scorer, Template
from gradeschool.protocols.lm_eval.math import MATH_PROTOCOLS, MATH_SCORERS, TASKS
from gradeschool.vote import Vote

SOURCE = f"{TASKS}/gsm8k"
LLAMA3_SOURCE = f"{TASKS}/llama3/instruct/gsm8k/gsm8k.yaml"

# The scorers and votes: filters and exact_match.

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


def whole_answer(problem: Problem) -> str:
    """Return the reference as exact_match sees it if the target is the whole solution."""
    return cleaned(problem.solution)


def gold_alone(problem: Problem) -> str:
    """Return the reference as exact_match sees it if the target is only the number."""
    return cleaned(problem.gold)


IS, FINAL_IS = "The answer is ", "final answer is "
strict = first_group(MARKED, "the first '#### N'", HASH, cleaned)
flexible = last_number(FLEXIBLE_PATTERN, clean=cleaned)
cot = first_group(COT_PATTERN, "the first 'The answer is N.'", IS, cleaned)
first_is = first_group(SELF_CONSISTENCY_PATTERN, "the first 'The answer is N'", IS, cleaned)
cot_llama = last_group(
    COT_LLAMA_PATTERN, "the last 'The final answer is N'", f"The {FINAL_IS}", cleaned
)
llama = last_group(LLAMA_PATTERN, "the last 'final answer is N'", FINAL_IS, cleaned)
COT = "the first 'The answer is N' and one more character"
RUN = "the last number-like run"
# Task, what the strict filter extracts, the reference.
FILTERS = (
    ("gsm8k", strict, "the first '#### N'", whole_answer),
    ("gsm8k-cot", cot, COT, gold_alone),
    ("gsm8k-cot-zeroshot", cot, COT, whole_answer),
    ("gsm8k-cot-llama", cot_llama, "the last 'The final answer is N'", gold_alone),
    ("gsm8k-llama", llama, "the last 'final answer is N' without a '$'", gold_alone),
)
GSM8K_SCORERS = tuple(
    Scorer(
        name=f"lm-eval/{task}/{filter}",
        summary=f"{words}, exact_match",
        source=f"{LLAMA3_SOURCE if task == 'gsm8k-llama' else f'{SOURCE}/{task}.yaml'}, "
        f"filter {filter}",
        reference=reference,
        extract=extract,
    )
    for task, extract_strict, summary, reference in FILTERS
    for filter, extract, words in (
        ("strict-match", extract_strict, summary),
        ("flexible-extract", flexible, RUN),
    )
)
OTHER_SCORERS = (
    Scorer(
        name="lm-eval/gsm8k-cot-self-consistency/score-first",
        summary="the first 'The answer is N' of the first sample, exact_match",
        source=f"{SOURCE}/gsm8k-cot-self-consistency.yaml, filter score-first",
        reference=gold_alone,
        extract=first_is,
    ),
    Scorer(
        name="lm-eval/gsm8k@0.3",
        summary="the first '#### N', equal as a string",
        source="lm-eval 0.3.0 (PyPI), lm_eval/tasks/gsm8k.py",
        reference=marked_gold,
        extract=first_marked,
    ),
)


def ballot(text: str) -> str:
    """Return the number as it is written: "1,000" and "1000" are two candidates."""
    answer = first_is(text, "")
    return INVALID if answer is None else answer.text


VOTES = tuple(
    Vote(
        name=f"lm-eval/gsm8k-cot-self-consistency/maj@{voters}",
        summary=f"the most frequent 'The answer is N' of {voters} samples, '[invalid]' among them",
        source=f"{SOURCE}/gsm8k-cot-self-consistency.yaml, filter maj@{voters}: {chain}",
        voters=voters,
        ballot=ballot,
        nothing=INVALID,
        reference=gold_alone,
        compare=lambda winner, reference: cleaned(winner) == reference,
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


MGSM_FILTERS = (
    ("mgsm-direct/remove-whitespace", "the whole text", whole_text(without_punctuation), ""),
    ("mgsm/flexible-extract", RUN, last_number(FLEXIBLE_PATTERN, clean=without_punctuation), ""),
    *(
        (
            f"mgsm-{task}/strict-match",
            f"the first {words + ' N'!r}",
            first_group(re.compile(pattern), f"the first {words!r}", clean=without_punctuation),
            language,
        )
        for task, language, pattern in (
            ("en-cot", "", ENGLISH_PATTERN),
            *((f"native-cot-{language}", language, pattern)
              for language, (*_, pattern) in MGSM_TASKS.items()),
        )
        for words in [pattern.partition("(")[0].rstrip()]
    ),
)  # fmt: skip
MGSM_SCORERS = tuple(
    Scorer(
        name=f"lm-eval/{name}",
        summary=f"{summary}, exact_match without punctuation",
        source=f"{TASKS}/mgsm, filter {name.rpartition('/')[2]}",
        reference=lambda problem: without_punctuation(problem.gold),
        extract=extract,
        dataset=f"mgsm:{language}".rstrip(":"),
    )
    for name, summary, extract, language in MGSM_FILTERS
)

# The prompts.

# Default `fewshot_seed`. Each task has one generator, and each document in turn draws from it.
SEED = 1234
# The default of max_gen_toks if a task sets none; it truncates long reasoning.
GREEDY = Decoding(temperature=0.0, max_tokens=256)
ENDS = ("</s>", "<|im_end|>")
QUESTION_ANSWER = Template(
    question="Question: {question}\nAnswer:",
    answer=" {solution}",
    rows=draw_in_order(SEED),
    count=5,
)
# A prompt that defines the protocol, verbatim; gsm8k_cot_llama ends it with a line break.
LLAMA_REQUEST = (
    "Given the following problem, reason and give a final answer to the problem.\n"
    "Problem: {question}\n"
    'Your response should end with "The final answer is [answer]" where [answer] is the response '
    "to the problem."
)
FINAL_ANSWER = "{reasoning} The final answer is {gold}"
COT_LLAMA_3_TEXT = Template(question=f"{LLAMA_REQUEST}\n", answer=f" {FINAL_ANSWER}")


def draw_others(
    problems: Sequence[Problem], shots: Sequence[Problem], count: int
) -> Iterator[list[int]]:
    """Draw one more than needed, leave out the problem itself, and keep the first ones."""
    stream = random.Random(SEED)  # noqa: S311  (reproduces a published draw)
    for problem in problems:
        rows = stream.sample(range(len(shots)), count + 1)
        yield [row for row in rows if shots[row].id != problem.id][:count]


def _both(task: str) -> tuple[str, str]:
    return f"lm-eval/{task}/strict-match", f"lm-eval/{task}/flexible-extract"


GSM8K = Protocol(
    name="lm-eval/gsm8k",
    summary="5 shots drawn for each problem, Question/Answer, greedy, 256 tokens",
    source=f"{SOURCE}/gsm8k.yaml (version 3.0; lm-eval 0.4.2 to 0.4.13)",
    render=QUESTION_ANSWER,
    decoding=replace(GREEDY, stop=("Question:", *ENDS)),
    scorers=_both("gsm8k"),
    shots="gsm8k:train",
)
GSM8K_COT = Protocol(
    name="lm-eval/gsm8k-cot",
    summary="the 8 chain-of-thought exemplars of Wei et al., Q/A, greedy, 256 tokens",
    source=f"{SOURCE}/gsm8k-cot.yaml (version 3.0; lm-eval 0.4.2 to 0.4.13)",
    render=Template(question="Q: {question}\nA:", answer=" {reasoning} The answer is {gold}."),
    decoding=replace(GREEDY, stop=("Q:", *ENDS)),
    scorers=_both("gsm8k-cot"),
    shots="wei2022",
)
COT_ZEROSHOT = Protocol(
    name="lm-eval/gsm8k-cot-zeroshot",
    summary='Q/A with "Let\'s think step by step.", greedy, 256 tokens',
    source=f"{SOURCE}/gsm8k-cot-zeroshot.yaml (version 3.0; lm-eval 0.4.2 to 0.4.13)",
    render=Template(question="Q: {question}\nA: Let's think step by step."),
    decoding=GSM8K_COT.decoding,
    scorers=_both("gsm8k-cot-zeroshot"),
)
COT_SELF_CONSISTENCY = replace(
    GSM8K_COT,
    name="lm-eval/gsm8k-cot-self-consistency",
    summary="the prompt of gsm8k-cot, 64 samples at temperature 0.2, 256 tokens",
    source=f"{SOURCE}/gsm8k-cot-self-consistency.yaml (version 2.0)",
    decoding=replace(GREEDY, temperature=0.2, stop=("Q:", "\n\n")),
    scorers=("lm-eval/gsm8k-cot-self-consistency/score-first",),
    samples=64,
    votes=tuple(vote.name for vote in VOTES),
)
COT_LLAMA = Protocol(
    name="lm-eval/gsm8k-cot-llama",
    summary="8 exemplars of Wei et al. ending in 'The final answer is N', one text, 256 tokens",
    source=f"{SOURCE}/gsm8k-cot-llama.yaml (version 4.0; lm-eval 0.4.10 to 0.4.13)",
    render=replace(COT_LLAMA_3_TEXT, shot=LLAMA_REQUEST, answer=f"\n{FINAL_ANSWER}"),
    decoding=replace(
        GREEDY, stop=("<|eot_id|>", "<|start_header_id|>user<|end_header_id|>", "Q:", *ENDS)
    ),
    scorers=_both("gsm8k-cot-llama"),
    shots="wei2022",
)
COT_LLAMA_3 = replace(
    COT_LLAMA,
    name="lm-eval/gsm8k-cot-llama@0.4.5-0.4.9.2",
    summary="the same with a space before each answer of a shot (task version 3.0)",
    source=f"{SOURCE}/gsm8k-cot-llama.yaml (version 3.0; lm-eval 0.4.5 to 0.4.9.2)",
    render=COT_LLAMA_3_TEXT,
)
LLAMA = Protocol(
    name="lm-eval/gsm8k-llama",
    summary="8 exemplars of Wei et al. ending in 'The final answer is N.', one text, 1024 tokens",
    source=f"{LLAMA3_SOURCE} (version 3.0)",
    render=Template(question=LLAMA_REQUEST, answer=f" {FINAL_ANSWER}."),
    decoding=replace(GREEDY, max_tokens=1024),
    scorers=_both("gsm8k-llama"),
    shots="wei2022",
)
GSM8K_0_3 = replace(
    GSM8K,
    name="lm-eval/gsm8k@0.3",
    summary="5 shots drawn for each problem, Question/Answer, the answer must fit on one line",
    source="lm-eval 0.3.0 (PyPI), lm_eval/tasks/gsm8k.py; shots and order: lm_eval/evaluator.py",
    render=replace(QUESTION_ANSWER, rows=draw_shuffled(42)),
    decoding=replace(GREEDY, stop=("\n",)),
    scorers=("lm-eval/gsm8k@0.3",),
)
PLAIN = (GSM8K, GSM8K_COT, COT_ZEROSHOT, COT_SELF_CONSISTENCY, COT_LLAMA, LLAMA)


def _platinum(plain: Protocol) -> Protocol:
    """Return a task of gsm8k with the labels of Platinum; its filters are gsm8k's."""
    task = plain.name.removeprefix("lm-eval/gsm8k")
    return replace(
        plain,
        name=f"lm-eval/gsm8k-platinum{task}",
        summary=f"on GSM8K-Platinum: {plain.summary}",
        source=f"lm-eval 0.4.13 (PyPI), lm_eval/tasks/gsm8k_platinum/gsm8k-platinum{task}.yaml",
        dataset="gsm8k-platinum",
    )


PLATINUM = replace(
    _platinum(GSM8K),
    summary="on GSM8K-Platinum: 5 shots drawn for each problem from the test split itself",
    render=replace(QUESTION_ANSWER, rows=draw_others),
    shots="gsm8k-platinum",
)
PLATINUM_TASKS = (
    PLATINUM,
    *map(_platinum, (GSM8K_COT, COT_ZEROSHOT, COT_SELF_CONSISTENCY)),
    # Still version 3.0 of the task: a space before each answer of a shot.
    replace(_platinum(COT_LLAMA), render=COT_LLAMA_3_TEXT),
)


def _chat_forms(plain: Protocol) -> Iterator[Protocol]:
    """Yield the `+chat` form of a plain protocol, and with shots the `+multiturn` form."""
    yield replace(
        plain,
        name=f"{plain.name}+chat",
        summary=f"as one user message, as lm-eval up to 0.4.9 sends a chat: {plain.summary}",
        render=replace(plain.template, form="message"),
    )
    if plain.shots:
        answer = plain.template.answer.lstrip()
        yield replace(
            plain,
            name=f"{plain.name}+multiturn",
            summary=f"shots as chat turns, as lm-eval from 0.4.10 sends a chat: {plain.summary}",
            render=replace(plain.template, shot="", answer=answer, form="turns"),
        )


# 5 shots from the set itself, drawn as gsm8k_platinum draws them; its filters are gsm8k's.
GSM_PLUS = replace(
    PLATINUM,
    name="lm-eval/gsm-plus",
    summary="5 shots drawn for each problem from GSM-Plus itself, greedy, 256 tokens",
    source=f"{TASKS}/gsm_plus/gsm_plus.yaml (version 1.0)",
    shots="gsm-plus",
    dataset="gsm-plus",
)
GSM_PLUS_MINI = replace(
    GSM_PLUS,
    name="lm-eval/gsm-plus-mini",
    summary="5 shots drawn for each problem from the 2,400 of testmini, greedy, 256 tokens",
    source=f"{TASKS}/gsm_plus/gsm_plus_mini.yaml (version 1.0)",
    shots="gsm-plus:mini",
    dataset="gsm-plus:mini",
)
# The prompt of gsm8k_cot_llama 3.0; the examples have no body, so there are two spaces.
ASDIV_SHOT = LLAMA_REQUEST.replace("{question}", " {question}") + "\n"
ASDIV = replace(
    COT_LLAMA,
    name="lm-eval/asdiv-cot-llama",
    source=f"{TASKS}/asdiv/asdiv-cot-llama.yaml (version 1.0)",
    render=replace(COT_LLAMA_3_TEXT, shot=ASDIV_SHOT),
    dataset="asdiv",
)
# The three tasks of a language; they use no examples unless a number is set.
MGSM = tuple(
    Protocol(
        name=f"lm-eval/mgsm-{kind}-{language}",
        summary=f"zero-shot, {summary}, greedy, 256 tokens",
        source=f"{TASKS}/mgsm/{task}/mgsm_{task}_{language}.yaml",
        render=Template(question=f"{before}{{question}}\n{behind}"),
        decoding=replace(GREEDY, stop=(before.rstrip(), *ENDS)),
        scorers=(f"lm-eval/{scorer}", "lm-eval/mgsm/flexible-extract"),
        dataset=f"mgsm:{language}",
    )
    for language, (before, direct, reasoning, _) in MGSM_TASKS.items()
    for kind, task, summary, behind, scorer in (
        ("direct", "direct", "the answer alone", direct, "mgsm-direct/remove-whitespace"),
        ("native-cot", "native_cot", "reasoning in the language of the problem", reasoning,
         f"mgsm-native-cot-{language}/strict-match"),
        ("en-cot", "en_cot", "reasoning in English", ENGLISH_ANSWER, "mgsm-en-cot/strict-match"),
    )
)  # fmt: skip

SCORERS = (*GSM8K_SCORERS, *OTHER_SCORERS, *MGSM_SCORERS, *MATH_SCORERS)
PROTOCOLS = (
    *PLAIN, COT_LLAMA_3, GSM8K_0_3, *PLATINUM_TASKS,
    *(form for plain in (*PLAIN, *PLATINUM_TASKS) for form in _chat_forms(plain)),
    GSM_PLUS, GSM_PLUS_MINI, ASDIV, *MATH_PROTOCOLS, *MGSM,
)  # fmt: skip
