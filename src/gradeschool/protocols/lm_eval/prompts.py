"""The prompts of lm-evaluation-harness's GSM8K tasks, plain and as chats.

`lm-eval/gsm8k-cot-llama` and `lm-eval/gsm8k-llama`: Meta's wording, exemplars as chat turns.

Their README asks for --apply_chat_template and --fewshot_as_multiturn: `+multiturn` gave the
published numbers of Llama 3; the plain form is the task without these options.

The chat forms that --apply_chat_template gives to a task.

`+chat`: one user message, the whole plain prompt. `+multiturn` (--fewshot_as_multiturn): each shot
is a user turn and an assistant turn, without the delimiters of the plain prompt.
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/api/task.py

The gsm8k_platinum tasks of lm-eval 0.4.13: the prompts and filters of gsm8k on other labels.

https://pypi.org/project/lm-eval/0.4.13, lm_eval/tasks/gsm8k_platinum. Their filters are identical
to those of the gsm8k tasks and so have no names of their own.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import (
    question_and_answer,
    question_text,
    rationale,
    shots_as_text,
    shots_as_turns,
)
from gradeschool.protocol import Protocol, Render
from gradeschool.protocols.lm_eval.scorers import LLAMA3_SOURCE, SOURCE

# Default `fewshot_seed`. Each task has one generator, and each document in turn draws from it:
# https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/api/samplers.py
SEED = 1234
# The default of max_gen_toks if a task sets none; it truncates long reasoning.
MAX_TOKENS = 256


def gsm8k_prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    r"""Render 5 shots drawn anew for each problem, then "Question: ...\nAnswer:".

    The draw depends on the number of problems before: a run over a prefix gets the same prompts, a
    run over other problems or in another order does not.
    """
    stream = random.Random(SEED)  # noqa: S311  (reproduces a published draw)
    for problem in problems:
        drawn = stream.sample(range(len(shots)), 5)
        examples = [(shots[i].question, shots[i].solution) for i in drawn]
        yield Prompt(text=question_and_answer(examples, problem.question))


def cot_prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    r"""Render the 8 exemplars of Wei et al. 2022, then "Q: ...\nA:"."""
    examples = [
        (f"Q: {shot.question}\nA:", f"{rationale(shot)} The answer is {shot.gold}.")
        for shot in shots
    ]
    for problem in problems:
        yield Prompt(text=shots_as_text(examples, f"Q: {problem.question}\nA:"))


GSM8K = Protocol(
    name="lm-eval/gsm8k",
    summary="5 shots drawn for each problem, Question/Answer, greedy, 256 tokens",
    source=f"{SOURCE}/gsm8k.yaml (version 3.0; lm-eval 0.4.2 to 0.4.13)",
    render=gsm8k_prompts,
    decoding=Decoding(
        temperature=0.0, max_tokens=MAX_TOKENS, stop=("Question:", "</s>", "<|im_end|>")
    ),
    scorers=("lm-eval/gsm8k/strict-match", "lm-eval/gsm8k/flexible-extract"),
    shots="gsm8k:train",
    shot_count=5,
)

GSM8K_COT = Protocol(
    name="lm-eval/gsm8k-cot",
    summary="the 8 chain-of-thought exemplars of Wei et al., Q/A, greedy, 256 tokens",
    source=f"{SOURCE}/gsm8k-cot.yaml (version 3.0; lm-eval 0.4.2 to 0.4.13)",
    render=cot_prompts,
    decoding=Decoding(temperature=0.0, max_tokens=MAX_TOKENS, stop=("Q:", "</s>", "<|im_end|>")),
    scorers=("lm-eval/gsm8k-cot/strict-match", "lm-eval/gsm8k-cot/flexible-extract"),
    shots="wei2022",
    shot_count=8,
)


zeroshot_prompts = question_text("Q: {question}\nA: Let's think step by step.")


COT_ZEROSHOT = Protocol(
    name="lm-eval/gsm8k-cot-zeroshot",
    summary='Q/A with "Let\'s think step by step.", greedy, 256 tokens',
    source=f"{SOURCE}/gsm8k-cot-zeroshot.yaml (version 3.0; lm-eval 0.4.2 to 0.4.13)",
    render=zeroshot_prompts,
    decoding=Decoding(temperature=0.0, max_tokens=MAX_TOKENS, stop=("Q:", "</s>", "<|im_end|>")),
    scorers=(
        "lm-eval/gsm8k-cot-zeroshot/strict-match",
        "lm-eval/gsm8k-cot-zeroshot/flexible-extract",
    ),
)

COT_SELF_CONSISTENCY = Protocol(
    name="lm-eval/gsm8k-cot-self-consistency",
    summary="the prompt of gsm8k-cot, 64 samples at temperature 0.2, 256 tokens",
    source=f"{SOURCE}/gsm8k-cot-self-consistency.yaml (version 2.0)",
    render=cot_prompts,
    decoding=Decoding(temperature=0.2, max_tokens=MAX_TOKENS, stop=("Q:", "\n\n")),
    scorers=("lm-eval/gsm8k-cot-self-consistency/score-first",),
    shots="wei2022",
    shot_count=8,
    samples=64,
    votes=(
        "lm-eval/gsm8k-cot-self-consistency/maj@64",
        "lm-eval/gsm8k-cot-self-consistency/maj@8",
    ),
)


# A prompt that defines the protocol, verbatim; gsm8k_cot_llama ends it with a line break.
TEMPLATE = (
    "Given the following problem, reason and give a final answer to the problem.\n"
    "Problem: {question}\n"
    'Your response should end with "The final answer is [answer]" where [answer] is the response '
    "to the problem."
)
COT_STOPS = ("<|eot_id|>", "<|start_header_id|>user<|end_header_id|>", "Q:", "</s>", "<|im_end|>")


def _with_request(problem: Problem, end: str) -> str:
    return TEMPLATE.replace("{question}", problem.question) + end


def _answered(shot: Problem, period: str) -> str:
    return f"{rationale(shot)} The final answer is {shot.gold}{period}"


def cot_llama_prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render exemplars and question as one text, without a delimiter before an answer."""
    examples = [f"{_with_request(shot, end='')}\n{_answered(shot, period='')}" for shot in shots]
    for problem in problems:
        yield Prompt(text="\n\n".join([*examples, _with_request(problem, end="\n")]))


def cot_llama_spaced_prompts(
    problems: Sequence[Problem], shots: Sequence[Problem]
) -> Iterator[Prompt]:
    """Render the text of task version 3.0, with a space before each answer."""
    examples = [(_with_request(shot, end="\n"), _answered(shot, period="")) for shot in shots]
    for problem in problems:
        yield Prompt(text=shots_as_text(examples, _with_request(problem, end="\n")))


def cot_llama_turns(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render exemplars and question as turns of a chat."""
    examples = [(_with_request(shot, end="\n"), _answered(shot, period="")) for shot in shots]
    for problem in problems:
        yield Prompt(messages=shots_as_turns(examples, _with_request(problem, end="\n")))


def llama_prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render exemplars and question as one text, with a space before each answer."""
    examples = [(_with_request(shot, end=""), _answered(shot, period=".")) for shot in shots]
    for problem in problems:
        yield Prompt(text=shots_as_text(examples, _with_request(problem, end="")))


def llama_turns(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render exemplars and question as turns of a chat."""
    examples = [(_with_request(shot, end=""), _answered(shot, period=".")) for shot in shots]
    for problem in problems:
        yield Prompt(messages=shots_as_turns(examples, _with_request(problem, end="")))


COT_LLAMA = Protocol(
    name="lm-eval/gsm8k-cot-llama",
    summary="8 exemplars of Wei et al. ending in 'The final answer is N', one text, 256 tokens",
    source=f"{SOURCE}/gsm8k-cot-llama.yaml (version 4.0; lm-eval 0.4.10 to 0.4.13)",
    render=cot_llama_prompts,
    decoding=Decoding(temperature=0.0, max_tokens=MAX_TOKENS, stop=COT_STOPS),
    scorers=("lm-eval/gsm8k-cot-llama/strict-match", "lm-eval/gsm8k-cot-llama/flexible-extract"),
    shots="wei2022",
    shot_count=8,
)

COT_LLAMA_3 = replace(
    COT_LLAMA,
    name="lm-eval/gsm8k-cot-llama@0.4.5-0.4.9.2",
    summary="the same with a space before each answer of a shot (task version 3.0)",
    source=f"{SOURCE}/gsm8k-cot-llama.yaml (version 3.0; lm-eval 0.4.5 to 0.4.9.2)",
    render=cot_llama_spaced_prompts,
)

LLAMA = Protocol(
    name="lm-eval/gsm8k-llama",
    summary="8 exemplars of Wei et al. ending in 'The final answer is N.', one text, 1024 tokens",
    source=f"{LLAMA3_SOURCE} (version 3.0)",
    render=llama_prompts,
    decoding=Decoding(temperature=0.0, max_tokens=1024),
    scorers=("lm-eval/gsm8k-llama/strict-match", "lm-eval/gsm8k-llama/flexible-extract"),
    shots="wei2022",
    shot_count=8,
)


def gsm8k_turns(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the 5 shots that the plain form draws, as turns."""
    stream = random.Random(SEED)  # noqa: S311  (reproduces a published draw)
    for problem in problems:
        drawn = stream.sample(range(len(shots)), GSM8K.shot_count)
        examples = [(f"Question: {shots[i].question}\nAnswer:", shots[i].solution) for i in drawn]
        yield Prompt(messages=shots_as_turns(examples, f"Question: {problem.question}\nAnswer:"))


def cot_turns(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the 8 exemplars of Wei et al. 2022 as turns."""
    examples = [
        (f"Q: {shot.question}\nA:", f"{rationale(shot)} The answer is {shot.gold}.")
        for shot in shots
    ]
    for problem in problems:
        yield Prompt(messages=shots_as_turns(examples, f"Q: {problem.question}\nA:"))


def one_message(plain: Protocol) -> Protocol:
    """Return the `+chat` form of a plain protocol."""

    def prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
        for prompt in plain.render(problems, shots):
            yield Prompt(messages=(Message("user", prompt.text or ""),))

    return replace(
        plain,
        name=f"{plain.name}+chat",
        summary=f"as one user message: {plain.summary}",
        render=prompts,
        is_chat=True,
    )


def multiturn(plain: Protocol, turns: Render) -> Protocol:
    """Return the `+multiturn` form of a plain protocol."""
    return replace(
        plain,
        name=f"{plain.name}+multiturn",
        summary=f"shots as chat turns: {plain.summary}",
        render=turns,
        is_chat=True,
    )


CHAT_FORMS = tuple(
    one_message(plain)
    for plain in (GSM8K, GSM8K_COT, COT_ZEROSHOT, COT_SELF_CONSISTENCY, COT_LLAMA, LLAMA)
)
MULTITURN_FORMS = (
    multiturn(GSM8K, gsm8k_turns),
    multiturn(GSM8K_COT, cot_turns),
    multiturn(COT_SELF_CONSISTENCY, cot_turns),
    multiturn(COT_LLAMA, cot_llama_turns),
    multiturn(LLAMA, llama_turns),
)


SOURCE = "lm-eval 0.4.13 (PyPI), lm_eval/tasks/gsm8k_platinum"
DATASET = "gsm8k-platinum"


def _drawn(
    problems: Sequence[Problem], shots: Sequence[Problem]
) -> Iterator[tuple[list[tuple[str, str]], str]]:
    """Yield 5 shots and the question of each problem; both are rows of the test split.

    Draws six, leaves out the problem itself if it is among them, and keeps the first five.
    """
    stream = random.Random(SEED)  # noqa: S311  (reproduces a published draw)
    for problem in problems:
        drawn = [shots[i] for i in stream.sample(range(len(shots)), GSM8K.shot_count + 1)]
        others = [shot for shot in drawn if shot.id != problem.id][: GSM8K.shot_count]
        examples = [(f"Question: {shot.question}\nAnswer:", shot.solution) for shot in others]
        yield examples, f"Question: {problem.question}\nAnswer:"


def prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render 5 shots drawn anew for each problem out of the test split, as one text."""
    for examples, question in _drawn(problems, shots):
        yield Prompt(text=shots_as_text(examples, question))


def turns(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the same shots as turns."""
    for examples, question in _drawn(problems, shots):
        yield Prompt(messages=shots_as_turns(examples, question))


def _relabelled(plain: Protocol, name: str) -> Protocol:
    """Return a task of gsm8k with the labels of Platinum."""
    return replace(
        plain,
        name=f"lm-eval/gsm8k-platinum{name}",
        summary=f"on GSM8K-Platinum: {plain.summary}",
        source=f"{SOURCE}/gsm8k-platinum{name}.yaml",
        dataset=DATASET,
    )


PLATINUM = replace(
    _relabelled(GSM8K, ""),
    summary="on GSM8K-Platinum: 5 shots drawn for each problem from the test split itself",
    render=prompts,
    shots=DATASET,
)
PLATINUM_COT = _relabelled(GSM8K_COT, "-cot")
PLATINUM_ZEROSHOT = _relabelled(COT_ZEROSHOT, "-cot-zeroshot")
PLATINUM_SELF_CONSISTENCY = _relabelled(COT_SELF_CONSISTENCY, "-cot-self-consistency")
# Still version 3.0 of the task: a space before each answer of a shot.
PLATINUM_LLAMA = replace(_relabelled(COT_LLAMA, "-cot-llama"), render=cot_llama_spaced_prompts)

PLATINUM_TASKS = (
    PLATINUM,
    PLATINUM_COT,
    PLATINUM_ZEROSHOT,
    PLATINUM_SELF_CONSISTENCY,
    PLATINUM_LLAMA,
)
PLATINUM_FORMS = (
    *PLATINUM_TASKS,
    *map(one_message, PLATINUM_TASKS),
    multiturn(PLATINUM, turns),
    multiturn(PLATINUM_COT, cot_turns),
    multiturn(PLATINUM_SELF_CONSISTENCY, cot_turns),
    multiturn(PLATINUM_LLAMA, cot_llama_turns),
)
