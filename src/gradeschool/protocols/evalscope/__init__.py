r"""EvalScope: GSM8K, MATH-500, AIME, MGSM and CMATH; prompts ask for a box, Math-Verify parses it.

`evalscope/gsm8k`: Math-Verify parses the output, then parses the result again, boxes first; the
first four train rows are the examples. `evalscope/aime`: the same, but the answer must be written
as an integer.

https://github.com/modelscope/evalscope, PyPI 1.14.1: evalscope/benchmarks/gsm8k/gsm8k_adapter.py,
math_500/math_500_adapter.py, aime/aime_adapter.py, mgsm/mgsm_adapter.py, cmath/cmath_adapter.py;
evalscope/metrics/math/parser.py lines 60-100, 191-308; evalscope/metrics/nlp/metrics.py lines 27-60
(Accuracy, numeric=True); decoding: evalscope/config.py.
"""

from __future__ import annotations

from gradeschool.completion import Decoding
from gradeschool.library_scorer import library_scorer
from gradeschool.prompts import MGSM, Template
from gradeschool.protocol import Protocol

SOURCE = "evalscope 1.14.1, evalscope/benchmarks"
# Evalscope's settings for a service; local models are decoded greedily up to 2048 tokens.
DECODING = Decoding(temperature=0.0, top_p=None, max_tokens=None)
SHOTS = 4
# Prompts that define the protocol, verbatim.
OPENING = "Here are some examples of how to solve similar problems:\n\n"
REQUEST = "\nPlease reason step by step, and put your final answer within \\boxed{}."


GSM8K_PROMPTS = Protocol(
    name="evalscope/gsm8k",
    summary="4 fixed train shots and the question in one message, a box is asked for",
    source=f"{SOURCE}/gsm8k/gsm8k_adapter.py",
    render=Template(
        question=f"{{question}}{REQUEST}",
        shot="{question}",
        answer="\n\nReasoning:\n{steps}\n\nANSWER: \\boxed{{gold}}",
        opening=OPENING,
        form="message",
        count=SHOTS,
    ),
    decoding=DECODING,
    scorers=("evalscope/gsm8k",),
    shots="gsm8k:train",
    shot_count=SHOTS,
    is_chat=True,
)


GSM8K = library_scorer(
    "evalscope/gsm8k",
    summary="Math-Verify, first match only, boxes first; the string it reads is parsed once more",
    source="evalscope 1.14.1, evalscope/metrics/math/parser.py and metrics/nlp/metrics.py",
    function="gradeschool.protocols.by_math_verify:evalscope_accuracy",
    how="evalscope's reading by Math-Verify",
)


# Prompts that define the protocols, verbatim.
AIME_REQUEST = (
    "\nSolve the following math problem step by step. Put your answer inside \\boxed{}.\n\n"
    "{question}\n\nRemember to put your answer inside \\boxed{}."
)
CMATH_REQUEST = "{question}\n请一步一步推理，最后将答案放在\\boxed{}中。\n"


MGSM_TEMPLATE = Template(
    question=f"{{question}}{REQUEST}\n\n",
    shot="{question}",
    answer="\n\nReasoning:\n{reasoning}\n\nANSWER: {gold}",
    opening=OPENING,
    form="message",
    count=SHOTS,
)


AIME_SCORER = library_scorer(
    "evalscope/aime",
    summary="Math-Verify, boxes first; what it reads must be written as an integer, and equal",
    source="evalscope 1.14.1, evalscope/metrics/math/parser.py: compare_answers(integer_only=True)",
    function="gradeschool.protocols.by_math_verify:evalscope_integer_accuracy",
    how="evalscope's reading by Math-Verify",
)


def _zero_shot(name: str, file: str, dataset: str, template: str, scorer: str) -> Protocol:
    return Protocol(
        name=f"evalscope/{name}",
        summary="zero-shot chat, a box is asked for, the server's own length",
        source=f"{SOURCE}/{file}",
        render=Template(question=template, form="message"),
        decoding=DECODING,
        scorers=(scorer,),
        is_chat=True,
        dataset=dataset,
    )


def _mgsm(language: str) -> Protocol:
    return Protocol(
        name=f"evalscope/mgsm-{language}",
        summary="the first 4 exemplars of the language and the question, a box is asked for",
        source=f"{SOURCE}/mgsm/mgsm_adapter.py",
        render=MGSM_TEMPLATE,
        decoding=DECODING,
        scorers=(GSM8K.name,),
        shots=f"mgsm:{language}:exemplars",
        shot_count=SHOTS,
        is_chat=True,
        dataset=f"mgsm:{language}",
    )


MATH_500 = "{question}" + REQUEST
OTHER_PROTOCOLS = (
    _zero_shot("math-500", "math_500/math_500_adapter.py", "math500", MATH_500, GSM8K.name),
    *(
        _zero_shot(f"aime{year}", "aime/aime_adapter.py", f"aime:20{year}", AIME_REQUEST,
                   AIME_SCORER.name)
        for year in ("24", "25")
    ),
    _zero_shot("cmath", "cmath/cmath_adapter.py", "cmath", CMATH_REQUEST, GSM8K.name),
    *map(_mgsm, MGSM),
)  # fmt: skip


SCORERS = (GSM8K, AIME_SCORER)
PROTOCOLS = (GSM8K_PROMPTS, *OTHER_PROTOCOLS)
