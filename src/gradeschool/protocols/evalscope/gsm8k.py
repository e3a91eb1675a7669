"""EvalScope's GSM8K: the prompt and the scorer.

`evalscope/gsm8k`: the first four train rows as examples; the prompt asks for a box.

https://github.com/modelscope/evalscope, PyPI 1.14.1: evalscope/benchmarks/gsm8k/gsm8k_adapter.py;
decoding: evalscope/config.py.

`evalscope/gsm8k`: Math-Verify parses the output, then parses the result again, boxes first.

https://github.com/modelscope/evalscope, PyPI 1.14.1: evalscope/metrics/math/parser.py lines 60-100,
191-308; evalscope/metrics/nlp/metrics.py lines 27-60 (Accuracy, numeric=True).
"""

from __future__ import annotations

from gradeschool.completion import Decoding
from gradeschool.library_scorer import library_scorer
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol

SOURCE = "evalscope 1.14.1, evalscope/benchmarks/gsm8k/gsm8k_adapter.py"
SHOTS = 4
# Prompts that define the protocol, verbatim.
OPENING = "Here are some examples of how to solve similar problems:\n\n"
REQUEST = "\nPlease reason step by step, and put your final answer within \\boxed{}."


GSM8K_PROMPTS = Protocol(
    name="evalscope/gsm8k",
    summary="4 fixed train shots and the question in one message, a box is asked for",
    source=SOURCE,
    render=Template(
        question=f"{{question}}{REQUEST}",
        shot="{question}",
        answer="\n\nReasoning:\n{steps}\n\nANSWER: \\boxed{{gold}}",
        opening=OPENING,
        form="message",
        count=SHOTS,
    ),
    # Evalscope's settings for a service; local models are decoded greedily up to 2048 tokens.
    decoding=Decoding(temperature=0.0, top_p=None, max_tokens=None),
    scorers=("evalscope/gsm8k",),
    shots="gsm8k:train",
    shot_count=SHOTS,
    is_chat=True,
)


GSM8K = library_scorer(
    "evalscope/gsm8k",
    summary="Math-Verify, first match only, boxes first; the string it reads is parsed once more",
    source="evalscope 1.14.1, evalscope/metrics/math/parser.py and metrics/nlp/metrics.py",
    function=f"{__package__}.library:accuracy",
    how="evalscope's reading by Math-Verify",
)
