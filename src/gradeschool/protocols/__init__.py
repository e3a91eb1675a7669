"""One package for each published harness: its prompts, scorers, golden cases and source.

A harness is a package here, or one named by the entry-point group `gradeschool.protocols`, with

    SCORERS: tuple[Scorer, ...]      how the harness extracts and compares answers
    PROTOCOLS: tuple[Protocol, ...]  how it prompts and decodes
    SOURCE.md                        repository, commit, files, version range, known quirks
    golden.jsonl                     completions with the verdicts of the real harness

It does not import another harness's package: quirks must not be shared by accident. What all of
them are written in can be imported from here.
"""

from gradeschool.completion import SERVERS_OWN, Decoding
from gradeschool.library_scorer import library_scorer
from gradeschool.problem import Problem
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer, ScorerFailure
from gradeschool.verdict import Answer, answer_of

__all__ = [
    "SERVERS_OWN",
    "Answer",
    "Decoding",
    "Problem",
    "Protocol",
    "Scorer",
    "ScorerFailure",
    "Template",
    "answer_of",
    "library_scorer",
]
