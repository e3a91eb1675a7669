"""One package for each published harness: its prompts, scorers, golden cases and source.

A harness is a package here, or one named by the entry-point group `gradeschool.protocols`, with

    SCORERS: tuple[Scorer, ...]      how the harness extracts and compares answers
    protocols.toml                   how it prompts and decodes (`gradeschool.protocols.registry`)
    PROTOCOLS: tuple[Protocol, ...]  more of them, made by code
    VOTES: tuple[Vote, ...]          how it combines samples
    SOURCE.md                        repository, commit, files, version range, known quirks
    golden.jsonl                     completions with the verdicts of the real harness

It does not import another harness's package: quirks must not be shared by accident. What all of
them are written in can be imported from here.
"""

import json
from pathlib import Path

from gradeschool.problem import Problem
from gradeschool.scorer import Scorer, ScorerFailure, library_scorer
from gradeschool.verdict import Answer, make_answer

__all__ = ["MGSM", "Answer", "Problem", "Scorer", "ScorerFailure", "library_scorer", "make_answer"]

# By language what harnesses write for MGSM, verbatim. label, instruction: the word before the
# answer and the instruction of simple-evals, which others use as well. lm_eval_..., lighteval_...:
# the labels of question and answer; lm_eval_pattern: of the answer after reasoning.
# https://github.com/openai/simple-evals/blob/ee3b0318d8d1d9d72755a4120879be65f7c07e9e/mgsm_eval.py
MGSM: dict[str, dict[str, str]] = json.loads(
    Path(__file__).with_name("mgsm.json").read_text("utf-8")
)
