"""gradeschool's own scorers and prompts, with examples shipped in the package."""

from __future__ import annotations

from gradeschool.completion import Decoding
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol
from gradeschool.protocols.gradeschool.scorers import PARSE_ANSWER, READER

FEW_SHOT = Protocol(
    name="gradeschool/few-shot-cot",
    summary="8 examples of our own with '#### N', greedy; nothing to download",
    source="gradeschool/datasets/sample/exemplars.jsonl",
    render=Template(question="Question: {question}\nAnswer:", answer=" {reasoning}\n#### {gold}"),
    decoding=Decoding(temperature=0.0, max_tokens=512, stop=("Question:",)),
    scorers=("gradeschool/reader",),
    shots="exemplars",
    shot_count=8,
)


SCORERS = (READER, PARSE_ANSWER)
PROTOCOLS = (FEW_SHOT,)
