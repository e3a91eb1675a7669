"""MGSM of simple-evals in 11 languages: one instruction, the last number after the last "Answer".

The English protocol works for any problems, with GSM8K as its dataset.

https://github.com/openai/simple-evals/blob/ee3b0318d8d1d9d72755a4120879be65f7c07e9e/mgsm_eval.py
"""

from __future__ import annotations

import re

from gradeschool.answers.extractions import gold_without_commas, last_number_behind
from gradeschool.completion import Decoding
from gradeschool.prompts import MGSM, mgsm_message
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer

SOURCE = "openai/simple-evals @ ee3b0318, mgsm_eval.py"
# No sign: -10 is read as 10.
NUMBER = re.compile(r"\d+\.?\d*")


def compare(value: str, reference: str) -> bool:
    """Compare as strings; zero decimals are cut off the answer only."""
    return (value.rstrip("0").rstrip(".") if "." in value else value) == reference


def _scorer(language: str) -> Scorer:
    label = MGSM[language][0]
    return Scorer(
        name=f"simple-evals/mgsm-{language}",
        summary=f"the last number (no sign) after the last {label!r}, equal as a string",
        source=f"{SOURCE}, parse_answer and score_mgsm",
        reference=gold_without_commas,
        extract=last_number_behind(NUMBER, label),
        compare=compare,
        dataset="" if language == "en" else f"mgsm:{language}",
    )


def _protocol(language: str) -> Protocol:
    label = MGSM[language][0]
    return Protocol(
        name=f"simple-evals/mgsm-{language}",
        summary=f"zero-shot chat, '{label}:' on the last line, temperature 0.5, 1024 tokens",
        source=f"{SOURCE}; decoding: sampler/chat_completion_sampler.py",
        render=mgsm_message(language),
        decoding=Decoding(temperature=0.5, top_p=None, max_tokens=1024),
        scorers=(f"simple-evals/mgsm-{language}",),
        is_chat=True,
        dataset="gsm8k" if language == "en" else f"mgsm:{language}",
    )


SCORERS = tuple(map(_scorer, MGSM))
PROTOCOLS = tuple(map(_protocol, MGSM))
