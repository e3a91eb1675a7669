"""Tasks of inspect_ai: `inspect eval gradeschool/gsm8k -T protocol=olmes/gsm8k-tulu`.

Prompts, decoding and scorers are those of the named protocol. Inspect decides what the protocol
leaves open (temperature, length), and inspect's options on the command line override ours.
"""

from collections.abc import Sequence
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample, hf_dataset
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
)
from inspect_ai.scorer import Scorer
from inspect_ai.solver import generate

from gradeschool.completion import Decoding, Prompt
from gradeschool.datasets.load import load_dataset
from gradeschool.errors import InputError
from gradeschool.integrations.inspect_scorers import NUMERIC_EQUALITY, SCORERS
from gradeschool.problem import Problem
from gradeschool.protocol import Protocol
from gradeschool.protocols.registry import all_protocols, get_protocol, get_scorer

TURNS = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
# vLLM's and llama.cpp's options to continue the last assistant message.
CONTINUE = {"continue_final_message": True, "add_generation_prompt": False}
# inspect_evals 0.26.0, src/inspect_evals/aime2025/aime2025.py
AIME_PATH = "math-ai/aime25"
AIME_REVISION = "563bb8404243c5f09de6ec262f2db674fe5bce9b"


@task
def gsm8k(
    protocol: str = "inspect/gsm8k",
    dataset: str = "gsm8k",
    scorers: str | list[str] = "",
) -> Task:
    """GSM8K under a named protocol.

    protocol: a chat protocol from `gradeschool protocols list`. dataset: a name or file as for `-d`
    ("sample" needs no download). scorers: names; by default those of the protocol.
    """
    return _task(protocol, load_dataset(dataset).problems, scorers)


@task
def aime2025(
    protocol: str = "inspect/aime2025",
    dataset: str = "",
    scorers: str | list[str] = NUMERIC_EQUALITY,
) -> Task:
    """AIME 2025, scored by numeric equality: 711 is not 11, 149 is not 49.

    Replaces inspect_evals/aime2025. dataset: a file with the columns id, problem and answer; by
    default math-ai/aime25 at the revision that inspect_evals uses.
    """
    problems = load_dataset(dataset).problems if dataset else _aime()
    return _task(protocol, problems, scorers)


def _task(name: str, problems: Sequence[Problem], scorers: str | Sequence[str]) -> Task:
    protocol = get_protocol(name)
    if not protocol.is_chat:
        chat = [protocol.name for protocol in all_protocols().values() if protocol.is_chat]
        raise InputError(f"{name!r} is not a chat protocol; give one of {', '.join(chat)}")
    prompts = list(_prompts(protocol, problems))
    return Task(
        dataset=MemoryDataset(
            [_sample(*pair) for pair in zip(problems, prompts, strict=True)], name=name
        ),
        solver=generate(),
        scorer=_scorers(scorers or list(protocol.scorers)),
        config=_config(protocol.decoding, any(prompt.prefix for prompt in prompts)),
        version=protocol.digest(),
        metadata={"protocol": name, "protocol_digest": protocol.digest()},
    )


def _scorers(scorers: str | Sequence[str]) -> list[Scorer]:
    names = scorers.split(",") if isinstance(scorers, str) else scorers
    return [SCORERS[get_scorer(name.strip()).name]() for name in names]


def _prompts(protocol: Protocol, problems: Sequence[Problem]) -> list[Prompt]:
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    return list(protocol.render(problems, shots))


def _sample(problem: Problem, prompt: Prompt) -> Sample:
    turns: list[ChatMessage] = [TURNS[turn.role](content=turn.content) for turn in prompt.messages]
    if prompt.prefix:
        turns.append(ChatMessageAssistant(content=prompt.prefix))
    facts = {"question": problem.question, "solution": problem.solution}
    return Sample(id=problem.id, input=turns, target=problem.gold, metadata=facts)


def _config(decoding: Decoding, continues: bool) -> GenerateConfig:
    """Return the decoding of a protocol; None leaves a setting to the provider."""
    options: dict[str, Any] = {
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "max_tokens": decoding.max_tokens,
        "stop_seqs": list(decoding.stop) or None,
        "seed": decoding.seed,
        "extra_body": CONTINUE if continues else None,
    }
    return GenerateConfig(**options)


def _aime() -> list[Problem]:
    samples = hf_dataset(
        AIME_PATH,
        split="test",
        revision=AIME_REVISION,
        sample_fields=lambda row: Sample(
            id=str(row["id"]), input=row["problem"], target=str(row["answer"])
        ),
    )
    return [
        Problem.from_row(str(sample.id), str(sample.input), f"#### {sample.target}")
        for sample in samples
    ]
