"""lighteval's GSM8K: prompts and scorers.

The prompts of lighteval's GSM8K task, five shots, and of its inspect backend, zero-shot.

https://github.com/huggingface/lighteval, PyPI 0.13.0: src/lighteval/tasks/tasks/gsm8k.py,
tasks/lighteval_task.py lines 380-396, tasks/prompt_manager.py lines 91-172.

`lighteval/gsm8k` and `lighteval/gsm8k-inspect`: the metric of the task and its inspect scorer.

https://github.com/huggingface/lighteval, PyPI 0.13.0: src/lighteval/tasks/tasks/gsm8k.py,
metrics/metrics.py lines 84-110 and 262-276, metrics/dynamic_metrics.py lines 156-262.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from gradeschool.completion import Decoding, Prompt
from gradeschool.library_scorer import library_scorer
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import question_message, shots_as_text, shots_as_turns
from gradeschool.protocol import Protocol

SOURCE = "lighteval 0.13.0, src/lighteval/tasks/tasks/gsm8k.py"
# One generator shuffles the problems, then draws the shots of each in the shuffled order.
SEED = 42
SHOTS = 5
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


def drawn(problems: int, shots: int) -> list[list[int]]:
    """Return the rows of the shots of each problem, in the problems' own order."""
    stream = random.Random(SEED)  # noqa: S311  (reproduces a published draw)
    order = list(range(problems))
    stream.shuffle(order)
    rows: list[list[int]] = [[] for _ in order]
    for problem in order:
        rows[problem] = stream.sample(range(shots), SHOTS)
    return rows


def plain_prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    r"""Render shots and question as one text, "Question: ...\nAnswer:".

    The shots are lighteval's only if the problems are the whole split in its order.
    """
    for problem, rows in zip(problems, drawn(len(problems), len(shots)), strict=True):
        examples = [(_question(shots[row]), shots[row].solution.strip()) for row in rows]
        yield Prompt(text=shots_as_text(examples, _question(problem)))


def turns(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the same shots as turns; an assistant turn begins with a space."""
    for problem, rows in zip(problems, drawn(len(problems), len(shots)), strict=True):
        examples = [(_question(shots[row]), f" {shots[row].solution}") for row in rows]
        yield Prompt(messages=shots_as_turns(examples, _question(problem)))


inspect_prompts = question_message(TEMPLATE)  # of the inspect backend


def _question(problem: Problem) -> str:
    return f"Question: {problem.question}\nAnswer:"


PLAIN = Protocol(
    name="lighteval/gsm8k",
    summary="5 shots drawn for each problem, Question/Answer, greedy, 256 tokens",
    source=f"{SOURCE} (gsm8k|5)",
    render=plain_prompts,
    decoding=GREEDY,
    scorers=("lighteval/gsm8k",),
    shots="gsm8k:train",
    shot_count=SHOTS,
)

MULTITURN = Protocol(
    name="lighteval/gsm8k+multiturn",
    summary="as turns of a chat: 5 shots drawn for each problem, Question/Answer, greedy",
    source=f"{SOURCE} (gsm8k|5)",
    render=turns,
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
    render=inspect_prompts,
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
