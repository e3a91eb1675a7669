"""lighteval's GSM8K: prompts and scorers.

The prompts of lighteval's GSM8K task, five shots, and of its inspect backend, zero-shot.

https://github.com/huggingface/lighteval, PyPI 0.13.0: src/lighteval/tasks/tasks/gsm8k.py,
tasks/lighteval_task.py lines 380-396, tasks/prompt_manager.py lines 91-172.

`lighteval/gsm8k` and `lighteval/gsm8k-inspect`: the metric of the task and its inspect scorer.

https://github.com/huggingface/lighteval, PyPI 0.13.0: src/lighteval/tasks/tasks/gsm8k.py,
metrics/metrics.py lines 84-110 and 262-276, metrics/dynamic_metrics.py lines 156-262.
"""

from __future__ import annotations

from dataclasses import replace

from gradeschool.completion import Decoding
from gradeschool.library_scorer import library_scorer
from gradeschool.prompts import Template, draw_shuffled
from gradeschool.protocol import Protocol

SOURCE = "lighteval 0.13.0, src/lighteval/tasks/tasks/gsm8k.py"
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
    source=f"{SOURCE} (gsm8k|5)",
    render=FEW_SHOT,
    decoding=GREEDY,
    scorers=("lighteval/gsm8k",),
    shots="gsm8k:train",
    shot_count=SHOTS,
)

MULTITURN = Protocol(
    name="lighteval/gsm8k+multiturn",
    summary="as turns of a chat: 5 shots drawn for each problem, Question/Answer, greedy",
    source=f"{SOURCE} (gsm8k|5)",
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
    source=f"{SOURCE} (lighteval eval: the inspect back end)",
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
