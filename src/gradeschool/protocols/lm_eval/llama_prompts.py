"""`lm-eval/gsm8k-cot-llama` and `lm-eval/gsm8k-llama`: Meta's wording, exemplars as chat turns.

Their README asks for --apply_chat_template and --fewshot_as_multiturn: `+multiturn` is how the
published numbers of Llama 3 were made; the plain form is what the task does without these options.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gradeschool.completion import Decoding, Prompt
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import rationale, shots_as_text, shots_as_turns
from gradeschool.protocol import Protocol
from gradeschool.protocols.lm_eval.llama_scorers import LLAMA3_SOURCE
from gradeschool.protocols.lm_eval.prompts import MAX_TOKENS
from gradeschool.protocols.lm_eval.scorers import SOURCE

# A prompt that defines the protocol, to the letter; gsm8k_cot_llama ends it with a line break.
TEMPLATE = (
    "Given the following problem, reason and give a final answer to the problem.\n"
    "Problem: {question}\n"
    'Your response should end with "The final answer is [answer]" where [answer] is the response '
    "to the problem."
)
COT_STOPS = ("<|eot_id|>", "<|start_header_id|>user<|end_header_id|>", "Q:", "</s>", "<|im_end|>")


def _asked(problem: Problem, end: str) -> str:
    return TEMPLATE.replace("{question}", problem.question) + end


def _answered(shot: Problem, period: str) -> str:
    return f"{rationale(shot)} The final answer is {shot.gold}{period}"


def cot_llama_prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render exemplars and question as one text; no delimiter stands before an answer."""
    examples = [f"{_asked(shot, end='')}\n{_answered(shot, period='')}" for shot in shots]
    for problem in problems:
        yield Prompt(text="\n\n".join([*examples, _asked(problem, end="\n")]))


def cot_llama_spaced_prompts(
    problems: Sequence[Problem], shots: Sequence[Problem]
) -> Iterator[Prompt]:
    """Render the text of task version 3.0, in which a space stands before an answer."""
    examples = [(_asked(shot, end="\n"), _answered(shot, period="")) for shot in shots]
    for problem in problems:
        yield Prompt(text=shots_as_text(examples, _asked(problem, end="\n")))


def cot_llama_turns(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render exemplars and question as turns of a chat."""
    examples = [(_asked(shot, end="\n"), _answered(shot, period="")) for shot in shots]
    for problem in problems:
        yield Prompt(messages=shots_as_turns(examples, _asked(problem, end="\n")))


def llama_prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render exemplars and question as one text; a space stands before an answer."""
    examples = [(_asked(shot, end=""), _answered(shot, period=".")) for shot in shots]
    for problem in problems:
        yield Prompt(text=shots_as_text(examples, _asked(problem, end="")))


def llama_turns(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render exemplars and question as turns of a chat."""
    examples = [(_asked(shot, end=""), _answered(shot, period=".")) for shot in shots]
    for problem in problems:
        yield Prompt(messages=shots_as_turns(examples, _asked(problem, end="")))


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
