"""One package for each published harness: its prompts, scorers, golden cases and source.

A harness is a package here, or one named by the entry-point group `gradeschool.protocols`, with

    SCORERS: tuple[Scorer, ...]      how the harness extracts and compares answers
    PROTOCOLS: tuple[Protocol, ...]  how it prompts and decodes
    SOURCE.md                        repository, commit, files, version range, known quirks
    golden.jsonl                     completions with the verdicts of the real harness

It does not import another harness's package: quirks must not be shared by accident. What all of
them are written in can be imported from here.
"""

import json
from pathlib import Path

from gradeschool.completion import SERVERS_OWN, Decoding
from gradeschool.library_scorer import library_scorer
from gradeschool.problem import Problem
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer, ScorerFailure
from gradeschool.verdict import Answer, make_answer

__all__ = [
    "MGSM",
    "SERVERS_OWN",
    "Answer",
    "Decoding",
    "Problem",
    "Protocol",
    "Scorer",
    "ScorerFailure",
    "Template",
    "library_scorer",
    "make_answer",
    "mgsm_message",
]

# By language the label before the answer and the instruction of simple-evals for MGSM, which other
# harnesses use as well, verbatim.
# https://github.com/openai/simple-evals/blob/ee3b0318d8d1d9d72755a4120879be65f7c07e9e/mgsm_eval.py
MGSM: dict[str, tuple[str, str]] = {
    language: (label, instruction)
    for language, (label, instruction) in json.loads(
        Path(__file__).with_name("mgsm.json").read_text("utf-8")
    ).items()
}


def mgsm_message(language: str) -> Template:
    """Return the template of the instruction and the question as one user message."""
    return Template(question=f"{MGSM[language][1]}\n\n{{question}}", form="message")
