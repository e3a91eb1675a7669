"""The prompts of lm-evaluation-harness's tasks: GSM8K, Platinum, MGSM, GSM-Plus, ASDiv, MATH, AIME.

A task has up to three forms. The plain one is a text. `+chat`: that text as one user message, which
`--apply_chat_template` gave up to 0.4.9. `+multiturn`: each shot a user and an assistant turn,
without the delimiters of the text; the default of `--apply_chat_template` since 0.4.10, before it
`--fewshot_as_multiturn`. The README of the Llama tasks asks for these: they gave the published
numbers of Llama 3.

https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/api/task.py
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/api/samplers.py
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/mgsm/native_cot/cot_yaml
https://pypi.org/project/lm-eval/0.3.0, lm_eval/tasks/gsm8k.py and lm_eval/evaluator.py
https://pypi.org/project/lm-eval/0.4.13, lm_eval/tasks/gsm8k_platinum
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gradeschool.completion import Decoding
from gradeschool.problem import Problem
from gradeschool.prompts import Template, as_message, draw_in_order, draw_shuffled
from gradeschool.protocol import Protocol
from gradeschool.protocols.lm_eval.scorers import LLAMA3_SOURCE, MGSM_TASKS, SOURCE, TASKS

# Default `fewshot_seed`. Each task has one generator, and each document in turn draws from it.
SEED = 1234
# The default of max_gen_toks if a task sets none; it truncates long reasoning.
MAX_TOKENS = 256
ENDS = ("</s>", "<|im_end|>")
QUESTION_ANSWER = Template(
    question="Question: {question}\nAnswer:",
    answer=" {solution}",
    rows=draw_in_order(SEED),
    count=5,
)
EXEMPLARS = Template(question="Q: {question}\nA:", answer=" {reasoning} The answer is {gold}.")
# A prompt that defines the protocol, verbatim; gsm8k_cot_llama ends it with a line break.
LLAMA_REQUEST = (
    "Given the following problem, reason and give a final answer to the problem.\n"
    "Problem: {question}\n"
    'Your response should end with "The final answer is [answer]" where [answer] is the response '
    "to the problem."
)
FINAL_ANSWER = "{reasoning} The final answer is {gold}"
LLAMA_TEXT = Template(question=LLAMA_REQUEST, answer=f" {FINAL_ANSWER}.")
COT_LLAMA_3_TEXT = Template(question=f"{LLAMA_REQUEST}\n", answer=f" {FINAL_ANSWER}")
COT_LLAMA_TEXT = replace(COT_LLAMA_3_TEXT, shot=LLAMA_REQUEST, answer=f"\n{FINAL_ANSWER}")


def draw_others(
    problems: Sequence[Problem], shots: Sequence[Problem], count: int
) -> Iterator[list[int]]:
    """Draw one more than needed, leave out the problem itself, and keep the first ones."""
    stream = random.Random(SEED)  # noqa: S311  (reproduces a published draw)
    for problem in problems:
        rows = stream.sample(range(len(shots)), count + 1)
        yield [row for row in rows if shots[row].id != problem.id][:count]


def _greedy(*stop: str, max_tokens: int = MAX_TOKENS) -> Decoding:
    return Decoding(temperature=0.0, max_tokens=max_tokens, stop=stop)


def _both(task: str) -> tuple[str, str]:
    return f"lm-eval/{task}/strict-match", f"lm-eval/{task}/flexible-extract"


GSM8K = Protocol(
    name="lm-eval/gsm8k",
    summary="5 shots drawn for each problem, Question/Answer, greedy, 256 tokens",
    source=f"{SOURCE}/gsm8k.yaml (version 3.0; lm-eval 0.4.2 to 0.4.13)",
    render=QUESTION_ANSWER,
    decoding=_greedy("Question:", *ENDS),
    scorers=_both("gsm8k"),
    shots="gsm8k:train",
    shot_count=5,
)
GSM8K_COT = Protocol(
    name="lm-eval/gsm8k-cot",
    summary="the 8 chain-of-thought exemplars of Wei et al., Q/A, greedy, 256 tokens",
    source=f"{SOURCE}/gsm8k-cot.yaml (version 3.0; lm-eval 0.4.2 to 0.4.13)",
    render=EXEMPLARS,
    decoding=_greedy("Q:", *ENDS),
    scorers=_both("gsm8k-cot"),
    shots="wei2022",
    shot_count=8,
)
COT_ZEROSHOT = Protocol(
    name="lm-eval/gsm8k-cot-zeroshot",
    summary='Q/A with "Let\'s think step by step.", greedy, 256 tokens',
    source=f"{SOURCE}/gsm8k-cot-zeroshot.yaml (version 3.0; lm-eval 0.4.2 to 0.4.13)",
    render=Template(question="Q: {question}\nA: Let's think step by step."),
    decoding=_greedy("Q:", *ENDS),
    scorers=_both("gsm8k-cot-zeroshot"),
)
COT_SELF_CONSISTENCY = replace(
    GSM8K_COT,
    name="lm-eval/gsm8k-cot-self-consistency",
    summary="the prompt of gsm8k-cot, 64 samples at temperature 0.2, 256 tokens",
    source=f"{SOURCE}/gsm8k-cot-self-consistency.yaml (version 2.0)",
    decoding=Decoding(temperature=0.2, max_tokens=MAX_TOKENS, stop=("Q:", "\n\n")),
    scorers=("lm-eval/gsm8k-cot-self-consistency/score-first",),
    samples=64,
    votes=tuple(f"lm-eval/gsm8k-cot-self-consistency/maj@{count}" for count in (64, 8)),
)
COT_LLAMA = Protocol(
    name="lm-eval/gsm8k-cot-llama",
    summary="8 exemplars of Wei et al. ending in 'The final answer is N', one text, 256 tokens",
    source=f"{SOURCE}/gsm8k-cot-llama.yaml (version 4.0; lm-eval 0.4.10 to 0.4.13)",
    render=COT_LLAMA_TEXT,
    decoding=_greedy("<|eot_id|>", "<|start_header_id|>user<|end_header_id|>", "Q:", *ENDS),
    scorers=_both("gsm8k-cot-llama"),
    shots="wei2022",
    shot_count=8,
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
    render=LLAMA_TEXT,
    decoding=_greedy(max_tokens=1024),
    scorers=_both("gsm8k-llama"),
    shots="wei2022",
    shot_count=8,
)
GSM8K_0_3 = Protocol(
    name="lm-eval/gsm8k@0.3",
    summary="5 shots drawn for each problem, Question/Answer, the answer must fit on one line",
    source="lm-eval 0.3.0 (PyPI), lm_eval/tasks/gsm8k.py; shots and order: lm_eval/evaluator.py",
    render=replace(QUESTION_ANSWER, rows=draw_shuffled(42)),
    decoding=_greedy("\n"),
    scorers=("lm-eval/gsm8k@0.3",),
    shots="gsm8k:train",
    shot_count=5,
)


def _platinum(plain: Protocol, task: str) -> Protocol:
    """Return a task of gsm8k with the labels of Platinum; its filters are gsm8k's."""
    return replace(
        plain,
        name=f"lm-eval/gsm8k-platinum{task}",
        summary=f"on GSM8K-Platinum: {plain.summary}",
        source=f"lm-eval 0.4.13 (PyPI), lm_eval/tasks/gsm8k_platinum/gsm8k-platinum{task}.yaml",
        dataset="gsm8k-platinum",
    )


PLATINUM = replace(
    _platinum(GSM8K, ""),
    summary="on GSM8K-Platinum: 5 shots drawn for each problem from the test split itself",
    render=replace(QUESTION_ANSWER, rows=draw_others),
    shots="gsm8k-platinum",
)
PLATINUM_COT = _platinum(GSM8K_COT, "-cot")
PLATINUM_SELF_CONSISTENCY = _platinum(COT_SELF_CONSISTENCY, "-cot-self-consistency")
# Still version 3.0 of the task: a space before each answer of a shot.
PLATINUM_LLAMA = replace(_platinum(COT_LLAMA, "-cot-llama"), render=COT_LLAMA_3_TEXT)
PLATINUM_TASKS = (
    PLATINUM, PLATINUM_COT, _platinum(COT_ZEROSHOT, "-cot-zeroshot"), PLATINUM_SELF_CONSISTENCY,
    PLATINUM_LLAMA,
)  # fmt: skip


def _chat(plain: Protocol) -> Protocol:
    """Return the `+chat` form of a plain protocol."""
    return replace(
        plain,
        name=f"{plain.name}+chat",
        summary=f"as one user message, as lm-eval up to 0.4.9 sends a chat: {plain.summary}",
        render=as_message(plain.template),
        is_chat=True,
    )


def _multiturn(plain: Protocol) -> Protocol:
    """Return the `+multiturn` form of a plain protocol."""
    answer = plain.template.answer.lstrip()
    turns = replace(plain.template, shot="", answer=answer, form="turns")
    return replace(
        plain,
        name=f"{plain.name}+multiturn",
        summary=f"shots as chat turns, as lm-eval from 0.4.10 sends a chat: {plain.summary}",
        render=turns,
        is_chat=True,
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
HRM8K = Protocol(
    name="lm-eval/hrm8k-gsm8k-en",
    summary="zero-shot, the answer in a box, greedy, 2048 tokens",
    source=f"{TASKS}/hrm8k/en (version 1.1)/_hrm8k_en_yaml",
    render=Template(
        question="Solve the given question.\nAfter solving the problem, state your final answer in "
        "the following format: $\\boxed{N}$.\n\nQuestion: {stripped question}\nAnswer:"
    ),
    decoding=_greedy("</s>", "<|end_of_text|>", "<|endoftext|>", "<|im_end|>", max_tokens=2048),
    scorers=("lm-eval/hrm8k-gsm8k-en",),
)
HENDRYCKS_MATH500 = Protocol(
    name="lm-eval/hendrycks-math500",
    summary="zero-shot, Problem/Answer, greedy, 256 tokens",
    source=f"{TASKS}/hendrycks_math/hendrycks_math500.yaml (version 1.0)",
    render=Template(question="Problem: {question}\nAnswer:"),
    decoding=_greedy("Problem:"),
    scorers=("lm-eval/hendrycks-math500",),
    dataset="math500",
)
MINERVA = Protocol(
    name="lm-eval/minerva-math500",
    summary="the 4 examples of Lewkowycz et al., Problem/Solution, greedy, 256 tokens",
    source=f"{TASKS}/minerva_math/minerva_math500.yaml (version 3.1)",
    render=Template(question="Problem:\n{question}\n\nSolution:", answer=" {reasoning}"),
    decoding=_greedy("Problem:"),
    scorers=("lm-eval/minerva-math500", "lm-eval/minerva-math500/math-verify"),
    shots="minerva:shots",
    shot_count=4,
    dataset="math500",
)
AIME = tuple(
    Protocol(
        name=f"lm-eval/aime{year}",
        summary="zero-shot, Question/Answer, greedy, 32,768 tokens",
        source=f"{TASKS}/aime/aime{year}.yaml (version 0.0)",
        render=Template(question="Question: {question}\nAnswer:"),
        decoding=_greedy("Question:", *ENDS, "<|eot_id|>", max_tokens=32_768),
        scorers=("lm-eval/aime",),
        dataset=f"aime:20{year}",
    )
    for year in ("24", "25")
)


def _mgsm(language: str) -> Iterator[Protocol]:
    """Yield the three tasks of a language; they use no examples unless a number is set."""
    before, direct, reasoning, _ = MGSM_TASKS[language]
    english = MGSM_TASKS["en"][2]
    for kind, summary, behind, scorer in (
        ("direct", "the answer alone", direct, "mgsm-direct/remove-whitespace"),
        ("native-cot", "reasoning in the language of the problem", reasoning,
         f"mgsm-native-cot-{language}/strict-match"),
        ("en-cot", "reasoning in English", english, "mgsm-en-cot/strict-match"),
    ):  # fmt: skip
        task = kind.replace("-", "_")
        yield Protocol(
            name=f"lm-eval/mgsm-{kind}-{language}",
            summary=f"zero-shot, {summary}, greedy, 256 tokens",
            source=f"{TASKS}/mgsm/{task}/mgsm_{task}_{language}.yaml",
            render=Template(question=f"{before}{{question}}\n{behind}"),
            decoding=_greedy(before.rstrip(), *ENDS),
            scorers=(f"lm-eval/{scorer}", "lm-eval/mgsm/flexible-extract"),
            dataset=f"mgsm:{language}",
        )


PLAIN = (GSM8K, GSM8K_COT, COT_ZEROSHOT, COT_SELF_CONSISTENCY, COT_LLAMA, LLAMA)
FEW_SHOT = (
    GSM8K, GSM8K_COT, COT_SELF_CONSISTENCY, COT_LLAMA, LLAMA, PLATINUM, PLATINUM_COT,
    PLATINUM_SELF_CONSISTENCY, PLATINUM_LLAMA,
)  # fmt: skip
PROTOCOLS = (
    *PLAIN, COT_LLAMA_3, GSM8K_0_3, *PLATINUM_TASKS,
    *map(_chat, (*PLAIN, *PLATINUM_TASKS)), *map(_multiturn, FEW_SHOT),
    HRM8K, GSM_PLUS, GSM_PLUS_MINI, ASDIV, HENDRYCKS_MATH500, MINERVA, *AIME,
    *(protocol for language in MGSM_TASKS for protocol in _mgsm(language)),
)  # fmt: skip
