r"""The prompts of DeepSeek-Math's evaluation of GSM8K: instruction form and eight shots.

https://github.com/deepseek-ai/DeepSeek-Math/blob/b8b0f8ce093d80bf8e9a641e44142f06d092c305/evaluation/infer/run_cot_eval.py
https://github.com/deepseek-ai/DeepSeek-Math/blob/b8b0f8ce093d80bf8e9a641e44142f06d092c305/evaluation/few_shot_prompts/cot_gsm_8_shot.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import rationale, shots_as_text
from gradeschool.protocol import Protocol
from gradeschool.protocols.deepseek_math.gsm8k import SOURCE

# A prompt that defines the protocol, to the letter.
INSTRUCTION = "\nPlease reason step by step, and put your final answer within \\boxed{}."
# The end-of-text token of DeepSeek's tokenizer; upstream stops at the tokenizer's own.
EOS = "<｜end▁of▁sentence｜>"
MAX_TOKENS = 1024


def zero_shot_prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the dialogue text that the instruction models were trained on."""
    for problem in problems:
        asked = f"{problem.question}{INSTRUCTION}".strip()
        yield Prompt(text=f"User: {asked}\n\nAssistant:")


def zero_shot_chat(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the user message; the tokenizer's chat template adds "User:" and "Assistant:"."""
    for problem in problems:
        yield Prompt(messages=(Message("user", f"{problem.question}{INSTRUCTION}".strip()),))


def few_shot_prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the 8 exemplars of Wei et al. 2022, two blank lines between them."""
    examples = [
        (f"Q: {shot.question}\nA:", f"{rationale(shot)} The answer is {shot.gold}.")
        for shot in shots
    ]
    for problem in problems:
        text = shots_as_text(examples, f"Q: {problem.question}\nA:", joiner="\n\n\n")
        yield Prompt(text=text)


ZERO_SHOT = Protocol(
    name="deepseek-math/zero-shot",
    summary="for the instruction models: User/Assistant text, a box is asked for, greedy",
    source=f"{SOURCE}/infer/run_cot_eval.py, prompt_format sft",
    render=zero_shot_prompts,
    decoding=Decoding(temperature=0.0, top_p=1.0, max_tokens=MAX_TOKENS, stop=(EOS,)),
    scorers=("deepseek-math/zero-shot",),
)

ZERO_SHOT_CHAT = Protocol(
    name="deepseek-math/zero-shot+chat",
    summary="the question and the request for a box as one user message, greedy",
    source=f"{SOURCE}/infer/run_cot_eval.py, prompt_format sft",
    render=zero_shot_chat,
    decoding=Decoding(temperature=0.0, top_p=1.0, max_tokens=MAX_TOKENS),
    scorers=("deepseek-math/zero-shot",),
    is_chat=True,
)

FEW_SHOT_COT = Protocol(
    name="deepseek-math/few-shot-cot",
    summary="for base models: the 8 exemplars of Wei et al., Q/A, greedy, 1024 tokens",
    source=f"{SOURCE}/few_shot_prompts/cot_gsm_8_shot.py",
    render=few_shot_prompts,
    decoding=Decoding(temperature=0.0, top_p=1.0, max_tokens=MAX_TOKENS, stop=(EOS, "\nQ:")),
    scorers=("deepseek-math/few-shot-cot",),
    shots="wei2022",
    shot_count=8,
)
