"""`lm-eval/gsm8k@0.3`: the class GradeSchoolMath8K of lm-eval 0.3.0, task version 0.

https://pypi.org/project/lm-eval/0.3.0, lm_eval/tasks/gsm8k.py and lm_eval/evaluator.py
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from gradeschool.answers.extractions import first_marked
from gradeschool.completion import Decoding, Prompt
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import question_and_answer
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer, ScorerFailure, verbatim

SOURCE = "lm-eval 0.3.0 (PyPI), lm_eval/tasks/gsm8k.py"
# lm_eval/evaluator.py: one generator shuffles the documents, then draws their shots in that order.
SEED = 42
SHOTS = 5
MAX_TOKENS = 256


def reference(problem: Problem) -> str:
    """Return the gold after the same extraction, which the published code asserts."""
    gold = first_marked(problem.solution)
    if gold is None:
        raise ScorerFailure("AssertionError: the solution has no '#### N'")
    return gold.value


def prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render 5 shots drawn anew for each problem, in the order of the shuffled documents."""
    stream = random.Random(SEED)  # noqa: S311  (reproduces a published draw)
    order = list(range(len(problems)))
    stream.shuffle(order)
    drawn = {place: stream.sample(range(len(shots)), SHOTS) for place in order}
    for place, problem in enumerate(problems):
        examples = [(shots[i].question, shots[i].solution) for i in drawn[place]]
        yield Prompt(text=question_and_answer(examples, problem.question))


GSM8K_0_3_SCORER = Scorer(
    name="lm-eval/gsm8k@0.3",
    summary="the first '#### N', equal as a string",
    source=SOURCE,
    reference=reference,
    extract=first_marked,
    compare=verbatim,
)

GSM8K_0_3 = Protocol(
    name="lm-eval/gsm8k@0.3",
    summary="5 shots drawn for each problem, Question/Answer, the answer must fit on one line",
    source=f"{SOURCE}; shots and order: lm_eval/evaluator.py",
    render=prompts,
    decoding=Decoding(temperature=0.0, max_tokens=MAX_TOKENS, stop=("\n",)),
    scorers=("lm-eval/gsm8k@0.3",),
    shots="gsm8k:train",
    shot_count=SHOTS,
)
