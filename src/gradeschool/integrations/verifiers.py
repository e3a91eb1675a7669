"""The environment `gsm8k-olmes`: gsm8k::tulu for verifiers, with OLMES's prompts and scorer.

The prompt has eight examples as turns and begins the assistant's answer with "Answer:"; decoding is
greedy; the last number of the reply (after "</think>", if any) must equal that of the gold.
`load_environment` is for verifiers 0.1.14 to 0.3.0; `verifiers_v1` has the taskset for its version
1.
"""

from collections.abc import Sequence
from typing import Any

from gradeschool.answers.parse import THOUGHT_END
from gradeschool.completion import CONTINUE, completion_text
from gradeschool.datasets.load import load_dataset
from gradeschool.errors import InputError, require_packages
from gradeschool.integrations.rewards import Grader
from gradeschool.protocols.registry import get_protocol

ENVIRONMENT = "gsm8k-olmes"
PROTOCOL = "olmes/gsm8k-tulu"
Completion = Sequence[object] | str | None


def load_environment(system_prompt: str | None = None, dataset: str = "gsm8k") -> Any:
    """Return the environment for `vf-eval gsm8k-olmes`.

    system_prompt: a system message before the examples; OLMES has none. dataset: a name or file, as
    for `gradeschool eval -d`. Raises DataError if the problems or examples are not available, and
    InputError for verifiers 0.4 and later, whose environments are tasksets.
    """
    require_packages(f"the environment {ENVIRONMENT!r}", "verifiers", "verifiers", "datasets")
    import verifiers as vf
    from datasets import Dataset

    if not hasattr(vf, "SingleTurnEnv"):
        raise InputError(
            f"verifiers {vf.__version__} has no load_environment; pip install 'verifiers<0.4', or "
            "use the taskset of environments/gsm8k_olmes"
        )
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(rows(dataset, system_prompt)),
        parser=vf.MaybeThinkParser(),
        rubric=vf.Rubric(funcs=[exact_match]),
        sampling_args=sampling(),
    )


def rows(dataset: str = "gsm8k", system_prompt: str | None = None) -> list[dict[str, Any]]:
    """Return one row per problem: prompt (messages), answer (the gold) and info (id)."""
    protocol, problems = get_protocol(PROTOCOL), load_dataset(dataset).problems
    system = [] if system_prompt is None else [{"role": "system", "content": system_prompt}]
    prompts = protocol.render(problems, load_dataset(protocol.shots).problems)
    return [
        {
            "prompt": [*system, *prompt.as_messages()],
            "answer": problem.gold,
            "info": {"id": problem.id},
        }
        for problem, prompt in zip(problems, prompts, strict=True)
    ]


def sampling() -> dict[str, Any]:
    """Return OLMES's decoding, with the option to continue the last message."""
    decoding = get_protocol(PROTOCOL).decoding
    return {
        "temperature": decoding.temperature,
        "max_tokens": decoding.max_tokens,
        "stop": list(decoding.stop),
        "extra_body": CONTINUE,
    }


def exact_match(completion: Completion, answer: str, **_: object) -> float:
    """Return 1.0 if the last number of the reply equals the gold, by OLMES's scorer.

    A completion is the text without its thinking; None has no text.
    """
    if completion is not None and not isinstance(completion, str):
        completion = list(completion)
    text = (completion_text(completion) or "").rpartition(THOUGHT_END)[2].strip()
    return float(Grader(PROTOCOL).grade(text, answer).correct)
