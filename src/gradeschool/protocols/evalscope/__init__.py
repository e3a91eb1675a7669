r"""EvalScope: GSM8K, MATH-500, AIME, MGSM and CMATH; prompts ask for a box, Math-Verify parses it.

`evalscope/gsm8k`: Math-Verify parses the output, then parses the result again, boxes first; the
first four train rows are the examples. `evalscope/aime`: the same, but the answer must be written
as an integer.

evalscope/metrics/math/parser.py lines 60-100, 191-308; evalscope/metrics/nlp/metrics.py lines 27-60
(Accuracy, numeric=True); decoding: evalscope/config.py.
"""

from __future__ import annotations

from dataclasses import replace

from gradeschool.protocols import MGSM, Decoding, Protocol, Template, library_scorer

SOURCE = "evalscope 1.14.1, evalscope/benchmarks"
METRICS = "evalscope 1.14.1, evalscope/metrics/math/parser.py"
# Evalscope's settings for a service; local models are decoded greedily up to 2048 tokens.
DECODING = Decoding(temperature=0.0, top_p=None, max_tokens=None)
# Prompts that define the protocols, verbatim.
REQUEST = "\nPlease reason step by step, and put your final answer within \\boxed{}."
AIME_REQUEST = (
    "\nSolve the following math problem step by step. Put your answer inside \\boxed{}.\n\n"
    "{question}\n\nRemember to put your answer inside \\boxed{}."
)
CMATH_REQUEST = "{question}\n请一步一步推理，最后将答案放在\\boxed{}中。\n"
FEW_SHOT = Template(
    question=f"{{question}}{REQUEST}",
    shot="{question}",
    answer="\n\nReasoning:\n{steps}\n\nANSWER: \\boxed{{gold}}",
    opening="Here are some examples of how to solve similar problems:\n\n",
    form="message",
    count=4,
)
MGSM_TEMPLATE = replace(
    FEW_SHOT,
    question=f"{{question}}{REQUEST}\n\n",
    answer="\n\nReasoning:\n{reasoning}\n\nANSWER: {gold}",
)

SCORERS = tuple(
    library_scorer(
        f"evalscope/{name}",
        summary=summary,
        source=source,
        function=f"gradeschool.protocols.by_math_verify:{function}",
        how="evalscope's reading by Math-Verify",
    )
    for name, summary, source, function in (
        (
            "gsm8k",
            "Math-Verify, first match only, boxes first; the string it reads is parsed once more",
            f"{METRICS} and metrics/nlp/metrics.py",
            "evalscope_accuracy",
        ),
        (
            "aime",
            "Math-Verify, boxes first; what it reads must be written as an integer, and equal",
            f"{METRICS}: compare_answers(integer_only=True)",
            "evalscope_integer_accuracy",
        ),
    )
)
PROTOCOLS = (
    Protocol(
        name="evalscope/gsm8k",
        summary="4 fixed train shots and the question in one message, a box is asked for",
        source=f"{SOURCE}/gsm8k/gsm8k_adapter.py",
        render=FEW_SHOT,
        decoding=DECODING,
        scorers=("evalscope/gsm8k",),
        shots="gsm8k:train",
    ),
    *(
        Protocol(
            name=f"evalscope/{name}",
            summary="zero-shot chat, a box is asked for, the server's own length",
            source=f"{SOURCE}/{folder}/{folder}_adapter.py",
            render=Template(question=template, form="message"),
            decoding=DECODING,
            scorers=(f"evalscope/{scorer}",),
            dataset=dataset,
        )
        for name, folder, dataset, template, scorer in (
            ("math-500", "math_500", "math500", FEW_SHOT.question, "gsm8k"),
            ("aime24", "aime", "aime:2024", AIME_REQUEST, "aime"),
            ("aime25", "aime", "aime:2025", AIME_REQUEST, "aime"),
            ("cmath", "cmath", "cmath", CMATH_REQUEST, "gsm8k"),
        )
    ),
    *(
        Protocol(
            name=f"evalscope/mgsm-{language}",
            summary="the first 4 exemplars of the language and the question, a box is asked for",
            source=f"{SOURCE}/mgsm/mgsm_adapter.py",
            render=MGSM_TEMPLATE,
            decoding=DECODING,
            scorers=("evalscope/gsm8k",),
            shots=f"mgsm:{language}:exemplars",
            dataset=f"mgsm:{language}",
        )
        for language in MGSM
    ),
)
