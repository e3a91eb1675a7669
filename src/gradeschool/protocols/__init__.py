"""One folder for each published harness: its prompts, scorers, golden cases and source.

A harness is a folder here, or a package that the entry-point group `gradeschool.protocols` names.
It has

    scorers.toml                     how the harness extracts and compares answers, by the names of
                                     functions (`gradeschool.protocols.registry`)
    protocols.toml                   how it prompts and decodes
    votes.toml                       how it combines samples
    SCORERS, PROTOCOLS, VOTES        more of them, made by code: tuples of Scorer, Protocol, Vote
    SOURCE.md                        repository, commit, files, version range, known quirks
    golden.jsonl                     completions with the verdicts of the real harness
    __init__.py                      its functions; those of a few lines are in `extractions`

It does not import another harness's package: quirks must not be shared by accident.
"""

import json
from pathlib import Path

# By language what harnesses write for MGSM, verbatim. label, instruction: the word before the
# answer and the instruction of simple-evals, which others use as well. lm_eval_..., lighteval_...:
# the labels of question and answer; lm_eval_pattern: of the answer after reasoning.
# https://github.com/openai/simple-evals/blob/ee3b0318d8d1d9d72755a4120879be65f7c07e9e/mgsm_eval.py
MGSM: dict[str, dict[str, str]] = json.loads(
    Path(__file__).with_name("mgsm.json").read_text("utf-8")
)
