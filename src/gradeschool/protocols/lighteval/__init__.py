r"""lighteval: GSM8K by its own and by its inspect back end; MGSM, AIME, GSM-Plus, MATH-500.

`lighteval/gsm8k` and `lighteval/gsm8k-inspect`: the metric of the task and its inspect scorer.
`lighteval/mgsm`: the whole completion must be the number.

PyPI 0.13.0: tasks/lighteval_task.py lines 380-396, tasks/prompt_manager.py lines 91-172;
metrics/metrics.py lines 84-110 and 262-276, metrics/dynamic_metrics.py lines 156-262,
metrics/metrics_sample.py lines 81-167 (`ExactMatches` with strip_strings).
"""

from __future__ import annotations

from dataclasses import replace

from gradeschool.answers.extractions import gold_as_it_is, gold_without_commas, whole_text
from gradeschool.prompts import draw_shuffled, rationale
from gradeschool.protocols import (
    SERVERS_OWN,
    Decoding,
    Problem,
    Protocol,
    Scorer,
    Template,
    library_scorer,
)

TASKS = "lighteval 0.13.0, src/lighteval/tasks/tasks"
METRICS = "lighteval 0.13.0, src/lighteval/metrics/metrics.py"


def labelled_solution(problem: Problem) -> str:
    """Return the label and the reference solution; the gold if the solution has no box."""
    solution = rationale(problem)
    return f"ANSWER: {solution}" if "\\boxed" in solution else f"ANSWER: {problem.gold}"


SCORERS = (
    *(
        library_scorer(
            f"lighteval/{name}",
            summary=summary,
            source=f"{METRICS}, {metric}",
            function=f"{__package__}.library:{function}",
            how="lighteval's reading",
            reference=reference,
        )
        for name, summary, metric, function, reference in (
            (
                "gsm8k",
                "extractive_match: boxes, 'answer ... N', then the last number, read by priority "
                "on both sides; the gold is read out of the whole reference solution",
                "Metrics.expr_gold_metric",
                "extractive_match",
                lambda problem: f" {problem.solution}",
            ),
            (
                "gsm8k-inspect",
                "math_scorer: the value and the characters it was read from are those of the gold",
                "math_scorer",
                "math_scorer",
                gold_as_it_is,
            ),
            (
                "aime",
                "pass@1: 'final answer is N. I hope', boxes, 'answer ... N', the last number, read "
                "by priority on both sides",
                "Metrics.pass_at_k_math",
                "pass_at_1",
                gold_as_it_is,
            ),
            (
                "gsm-plus",
                "extractive_match: boxes, 'answer ... N', then the last number, against the gold "
                "alone",
                "Metrics.expr_gold_metric",
                "extractive_match",
                gold_as_it_is,
            ),
            (
                "math-500",
                "pass@1, as lighteval/aime; the gold is read out of the whole solution",
                "Metrics.pass_at_k_math",
                "pass_at_1_of_solutions",
                labelled_solution,
            ),
        )
    ),
    Scorer(
        name="lighteval/mgsm",
        summary="the whole text without white space at its ends, equal as a string",
        source=f"{METRICS}, Metrics.exact_match",
        reference=lambda problem: gold_without_commas(problem).strip(),
        extract=whole_text(),
        dataset="mgsm",
    ),
)

# Settings that no task defines are left to the server.
GREEDY = Decoding(temperature=0.0, top_p=None, max_tokens=None)
# Prompts that define the protocols, verbatim.
INSPECT_REQUEST = (
    "Solve the following math problem step by step. The last line of your\n"
    'response should be of the form "ANSWER: $ANSWER" (without quotes)\n'
    "where $ANSWER is the answer to the problem.\n\n"
    "{question}\n\n"
    "Remember to put your answer on its own line at the end in the form\n"
    '"ANSWER: $ANSWER" (without quotes) where $ANSWER is the answer to\n'
    "the problem, and you do not need to use a \\boxed command.\n\nReasoning:"
)
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
GSM8K = Protocol(
    name="lighteval/gsm8k",
    summary="5 shots drawn for each problem, Question/Answer, greedy, 256 tokens",
    source=f"{TASKS}/gsm8k.py (gsm8k|5)",
    render=Template(
        question="Question: {question}\nAnswer:",
        answer=" {stripped solution}",
        # One generator shuffles the problems, then draws the shots of each in the shuffled order:
        # lighteval's shots only if the problems are the whole split in its order.
        rows=draw_shuffled(42),
        count=5,
    ),
    decoding=replace(GREEDY, max_tokens=256, stop=("Question:",)),
    scorers=("lighteval/gsm8k",),
    shots="gsm8k:train",
)
MULTITURN = replace(
    GSM8K,
    name="lighteval/gsm8k+multiturn",
    summary="as turns of a chat: 5 shots drawn for each problem, Question/Answer, greedy",
    # An assistant turn begins with a space.
    render=replace(GSM8K.template, answer=" {solution}", form="turns"),
)
INSPECT = Protocol(
    name="lighteval/gsm8k-inspect",
    summary="zero-shot chat, 'ANSWER: N' on the last line, the provider's decoding",
    source=f"{TASKS}/gsm8k.py (lighteval eval: the inspect back end)",
    render=Template(question=INSPECT_REQUEST, form="message"),
    decoding=SERVERS_OWN,
    scorers=("lighteval/gsm8k-inspect",),
)
MATH_500 = Protocol(
    name="lighteval/math-500",
    summary="zero-shot chat, 'ANSWER: N' on the last line, 32,768 tokens",
    source=f"{TASKS}/math_500.py",
    render=Template(question=MATH_REQUEST, form="message"),
    decoding=replace(GREEDY, max_tokens=32_768),
    scorers=("lighteval/math-500",),
    dataset="math500",
)
PROTOCOLS = (
    *(GSM8K, MULTITURN, INSPECT, MATH_500),
    *(
        Protocol(
            name=f"lighteval/aime{year}",
            summary="zero-shot chat, 'the final answer is: $\\boxed{N}$. I hope it is correct'",
            source=f"{TASKS}/aime.py (aime{year})",
            render=Template(question=AIME_REQUEST, form="message"),
            decoding=GREEDY,
            scorers=("lighteval/aime",),
            dataset=f"aime:20{year}",
        )
        for year in ("24", "25")
    ),
    *(
        Protocol(
            name=f"lighteval/{name}",
            summary="zero-shot, Question/Answer, greedy, the server's own length",
            source=f"{TASKS}/gsm_plus.py",
            render=Template(question="Question: {question}\n\nAnswer:"),
            decoding=GREEDY,
            scorers=("lighteval/gsm-plus",),
            dataset=dataset,
        )
        for name, dataset in (("gsm-plus", "gsm-plus"), ("gsm-plus-mini", "gsm-plus:mini"))
    ),
    *(
        Protocol(
            name=f"lighteval/mgsm-{language}",
            summary="zero-shot, a label for step-by-step reasoning, the server's own length",
            source=f"{TASKS}/mgsm.py (mgsm:{language})",
            render=Template(question=f"{asked} {{question}}\n{answered}"),
            decoding=GREEDY,
            scorers=("lighteval/mgsm",),
            dataset=f"mgsm:{language}",
        )
        for language, (asked, answered) in LABELS.items()
    ),
)
