r"""lighteval: GSM8K by its own and by its inspect back end; MGSM, AIME, GSM-Plus, MATH-500.

`lighteval/gsm8k` and `lighteval/gsm8k-inspect`: the metric of the task and its inspect scorer.
`lighteval/mgsm`: the whole completion must be the number.

https://github.com/huggingface/lighteval, PyPI 0.13.0: src/lighteval/tasks/tasks/gsm8k.py, mgsm.py,
aime.py, gsm_plus.py, math_500.py; tasks/lighteval_task.py lines 380-396, tasks/prompt_manager.py
lines 91-172; metrics/metrics.py lines 84-110 and 262-276, metrics/dynamic_metrics.py lines 156-262,
metrics/metrics_sample.py lines 81-167 (`ExactMatches` with strip_strings).
"""

from __future__ import annotations

from dataclasses import replace

from gradeschool.completion import Decoding
from gradeschool.library_scorer import library_scorer
from gradeschool.problem import Problem
from gradeschool.prompts import Template, draw_shuffled, rationale
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer, verbatim
from gradeschool.verdict import Answer

SOURCE = "lighteval 0.13.0, src/lighteval/tasks/tasks"
GSM8K_SOURCE = f"{SOURCE}/gsm8k.py"
# One generator shuffles the problems, then draws the shots of each in the shuffled order.
SEED = 42
SHOTS = 5
FEW_SHOT = Template(
    question="Question: {question}\nAnswer:",
    answer=" {stripped solution}",
    # lighteval's shots only if the problems are the whole split in its order.
    rows=draw_shuffled(SEED),
    count=SHOTS,
)
GREEDY = Decoding(temperature=0.0, top_p=None, max_tokens=256, stop=("Question:",))
# A prompt that defines the protocol, verbatim.
TEMPLATE = (
    "Solve the following math problem step by step. The last line of your\n"
    'response should be of the form "ANSWER: $ANSWER" (without quotes)\n'
    "where $ANSWER is the answer to the problem.\n\n"
    "{question}\n\n"
    "Remember to put your answer on its own line at the end in the form\n"
    '"ANSWER: $ANSWER" (without quotes) where $ANSWER is the answer to\n'
    "the problem, and you do not need to use a \\boxed command.\n\nReasoning:"
)


PLAIN = Protocol(
    name="lighteval/gsm8k",
    summary="5 shots drawn for each problem, Question/Answer, greedy, 256 tokens",
    source=f"{GSM8K_SOURCE} (gsm8k|5)",
    render=FEW_SHOT,
    decoding=GREEDY,
    scorers=("lighteval/gsm8k",),
    shots="gsm8k:train",
    shot_count=SHOTS,
)

MULTITURN = Protocol(
    name="lighteval/gsm8k+multiturn",
    summary="as turns of a chat: 5 shots drawn for each problem, Question/Answer, greedy",
    source=f"{GSM8K_SOURCE} (gsm8k|5)",
    # An assistant turn begins with a space.
    render=replace(FEW_SHOT, answer=" {solution}", form="turns"),
    decoding=GREEDY,
    scorers=("lighteval/gsm8k",),
    shots="gsm8k:train",
    shot_count=SHOTS,
    is_chat=True,
)

INSPECT = Protocol(
    name="lighteval/gsm8k-inspect",
    summary="zero-shot chat, 'ANSWER: N' on the last line, the provider's decoding",
    source=f"{GSM8K_SOURCE} (lighteval eval: the inspect back end)",
    render=Template(question=TEMPLATE, form="message"),
    decoding=Decoding(temperature=None, top_p=None, max_tokens=None),
    scorers=("lighteval/gsm8k-inspect",),
    is_chat=True,
)


GSM8K = library_scorer(
    "lighteval/gsm8k",
    summary="extractive_match: boxes, 'answer ... N', then the last number, read by priority on "
    "both sides; the gold is read out of the whole reference solution",
    source="lighteval 0.13.0, src/lighteval/metrics/metrics.py, Metrics.expr_gold_metric",
    function=f"{__package__}.library:extractive_match",
    how="lighteval's reading",
    reference=lambda problem: f" {problem.solution}",
)
GSM8K_INSPECT = library_scorer(
    "lighteval/gsm8k-inspect",
    summary="math_scorer: the value and the characters it was read from are those of the gold",
    source="lighteval 0.13.0, src/lighteval/metrics/metrics.py, math_scorer",
    function=f"{__package__}.library:math_scorer",
    how="lighteval's reading",
)


# Strings that define the tasks, verbatim: the labels before the question and before answers.
LABELS = {
    "bn": ("প্রশ্ন:", "ধাপে ধাপে উত্তর:"),
    "de": ("Frage:", "Schritt-für-Schritt-Antwort:"),
    "en": ("Question:", "Step-by-Step Answer:"),
    "es": ("Pregunta:", "Respuesta paso a paso:"),
    "fr": ("Question:", "Réponse étape par étape :"),
    "ja": ("問題:", "ステップごとの答え:"),
    "ru": ("Задача:", "Пошаговоерешение:"),
    "sw": ("Swali:", "Jibu la Hatua kwa Hatua:"),
    "te": ("ప్రశ్న:", "దశలవారీగా సమాధానం:"),
    "th": ("โจทย์:", "คำตอบทีละขั้นตอน:"),
    "zh": ("问题:", "逐步解答:"),
}


def read_whole(text: str, reference: str) -> Answer | None:
    """Extract the whole completion without white space at its ends."""
    value = text.strip()
    if not value:
        return None
    start = text.find(value)
    return Answer(value, value, (start, start + len(value)), "the whole text")


MGSM_SCORER = Scorer(
    name="lighteval/mgsm",
    summary="the whole text without white space at its ends, equal as a string",
    source="lighteval 0.13.0, src/lighteval/metrics/metrics.py, Metrics.exact_match",
    reference=lambda problem: problem.gold.replace(",", "").strip(),
    extract=read_whole,
    compare=verbatim,
    dataset="mgsm",
)
MGSM = tuple(
    Protocol(
        name=f"lighteval/mgsm-{language}",
        summary="zero-shot, a label for step-by-step reasoning, the server's own length",
        source=f"{SOURCE}/mgsm.py (mgsm:{language})",
        render=Template(question=f"{labels[0]} {{question}}\n{labels[1]}"),
        decoding=Decoding(temperature=0.0, top_p=None, max_tokens=None),
        scorers=("lighteval/mgsm",),
        dataset=f"mgsm:{language}",
    )
    for language, labels in LABELS.items()
)


# Settings that no task defines are left to the server.
DECODING = Decoding(temperature=0.0, top_p=None, max_tokens=None)
# Prompts that define the protocols, verbatim.
AIME_REQUEST = (
    "\nSolve the following math problem efficiently and clearly.  The last line of your response "
    "should be of the following format: 'Therefore, the final answer is: $\\boxed{ANSWER}$. I hope "
    "it is correct' (without quotes) where ANSWER is just the final number or expression that "
    "solves the problem. Think step by step before answering.\n\n{question}\n"
)
MATH_REQUEST = (
    "Solve the following problem. The final line of your response MUST be of the following "
    'format:\n"ANSWER: $ANSWER" (without quotes) where $ANSWER is the final answer. Think step by '
    "step before answering.\n\n{question}"
)


def labelled_solution(problem: Problem) -> str:
    """Return the label and the reference solution; the gold if the solution has no box."""
    solution = rationale(problem)
    return f"ANSWER: {solution}" if "\\boxed" in solution else f"ANSWER: {problem.gold}"


AIME_SCORER = library_scorer(
    "lighteval/aime",
    summary="pass@1: 'final answer is N. I hope', boxes, 'answer ... N', the last number, read by "
    "priority on both sides",
    source="lighteval 0.13.0, src/lighteval/metrics/metrics.py, Metrics.pass_at_k_math",
    function=f"{__package__}.library:pass_at_1",
    how="lighteval's reading",
)
PLUS_SCORER = library_scorer(
    "lighteval/gsm-plus",
    summary="extractive_match: boxes, 'answer ... N', then the last number, against the gold alone",
    source="lighteval 0.13.0, src/lighteval/metrics/metrics.py, Metrics.expr_gold_metric",
    function=f"{__package__}.library:extractive_match",
    how="lighteval's reading",
)
MATH_SCORER = library_scorer(
    "lighteval/math-500",
    summary="pass@1, as lighteval/aime; the gold is read out of the whole solution",
    source="lighteval 0.13.0, src/lighteval/metrics/metrics.py, Metrics.pass_at_k_math",
    function=f"{__package__}.library:pass_at_1_of_solutions",
    how="lighteval's reading",
    reference=labelled_solution,
)
OTHER_SCORERS = (AIME_SCORER, PLUS_SCORER, MATH_SCORER)


def _aime(year: str) -> Protocol:
    return Protocol(
        name=f"lighteval/aime{year}",
        summary="zero-shot chat, 'the final answer is: $\\boxed{N}$. I hope it is correct'",
        source=f"{SOURCE}/aime.py (aime{year})",
        render=Template(question=AIME_REQUEST, form="message"),
        decoding=DECODING,
        scorers=(AIME_SCORER.name,),
        is_chat=True,
        dataset=f"aime:20{year}",
    )


def _plus(name: str, dataset: str) -> Protocol:
    return Protocol(
        name=f"lighteval/{name}",
        summary="zero-shot, Question/Answer, greedy, the server's own length",
        source=f"{SOURCE}/gsm_plus.py",
        render=Template(question="Question: {question}\n\nAnswer:"),
        decoding=DECODING,
        scorers=(PLUS_SCORER.name,),
        dataset=dataset,
    )


MATH_500 = Protocol(
    name="lighteval/math-500",
    summary="zero-shot chat, 'ANSWER: N' on the last line, 32,768 tokens",
    source=f"{SOURCE}/math_500.py",
    render=Template(question=MATH_REQUEST, form="message"),
    decoding=replace(DECODING, max_tokens=32_768),
    scorers=(MATH_SCORER.name,),
    is_chat=True,
    dataset="math500",
)
OTHER_PROTOCOLS = (
    MATH_500,
    _aime("24"),
    _aime("25"),
    _plus("gsm-plus", "gsm-plus"),
    _plus("gsm-plus-mini", "gsm-plus:mini"),
)


SCORERS = (GSM8K, GSM8K_INSPECT, MGSM_SCORER, *OTHER_SCORERS)
PROTOCOLS = (PLAIN, MULTITURN, INSPECT, *MGSM, *OTHER_PROTOCOLS)
