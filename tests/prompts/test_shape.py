"""A prompt as a template of parts."""

from dataclasses import replace
from pathlib import Path

import pytest

from gradeschool import Problem, all_protocols, load_dataset
from gradeschool.completion import Prompt
from gradeschool.datasets.load import is_here
from gradeschool.prompts.rendering import rationale
from gradeschool.prompts.shape import SHOT_NAME, shape
from tests.conftest import SHARED
from tests.support.stand_in import protocols_here


def with_float(problem: Problem) -> Problem:
    """A problem whose gold is written as Python writes a float."""
    return replace(problem, gold=str(float(problem.gold)))


def with_period(problem: Problem) -> Problem:
    """A problem of SVAMP with a period behind its body."""
    body = problem.meta["body"]
    return replace(problem, question=f"{body.rstrip('.')}.{problem.question[len(body) :]}")


# Protocols that write a question or an answer in another way than the dataset: what they write.
REWRITTEN = {"opencompass/gsm-hard": with_float, "qwen2.5-math/svamp": with_period}


def filled(text: str, problem: Problem, shots: tuple[Problem, ...]) -> str:
    """A template with its names replaced by what they stand for."""

    def part(shot: Problem, name: str) -> str:
        return {"question": shot.question, "reasoning": rationale(shot), "answer": shot.gold}[name]

    pieces = SHOT_NAME.split(text)
    out = []
    for index, piece in enumerate(pieces):
        if index % 3 == 0:
            out.append(piece.replace("{question}", problem.question))
        elif index % 3 == 1:
            out.append(part(shots[int(pieces[index + 1])], piece))
    return "".join(out)


def needed(name: str) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """The problems and the examples of a protocol."""
    protocol = all_protocols()[name]
    if protocol.shots and not is_here(protocol.shots):
        pytest.skip(f"{protocol.shots} is not on this machine")
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    return load_dataset(protocol.dataset).problems[:40], shots


@pytest.mark.parametrize("name", list(protocols_here(SHARED)))
def test_a_template_is_the_prompt_with_names_in_it(name: str, data: Path) -> None:
    """Put what the names stand for in their place, and there is the prompt itself."""
    protocol = all_protocols()[name]
    problems, shots = needed(name)
    shown_problems, shown_shots = problems, shots
    if rewrite := REWRITTEN.get(name.removesuffix("+chat")):
        shown_problems, shown_shots = tuple(map(rewrite, problems)), tuple(map(rewrite, shots))
    for index in (0, 13):
        template = shape(protocol, problems, shots, index).template
        real = list(protocol.render(problems, shots))[index]
        created = Prompt(
            text=None
            if template.text is None
            else filled(template.text, shown_problems[index], shown_shots),
            messages=tuple(
                turn._replace(content=filled(turn.content, shown_problems[index], shown_shots))
                for turn in template.messages
            ),
            prefix=template.prefix,
        )
        if name == "helm/gsm":  # it writes solutions on one line
            created, real = (
                Prompt(text=(item.text or "").replace("\n", " ")) for item in (created, real)
            )
        assert created == real


@pytest.mark.parametrize("name", all_protocols())
def test_the_parts_make_the_prompt(name: str) -> None:
    """Opening, one shot for each row, joiners and question: nothing else is in a prompt."""
    protocol = all_protocols()[name]
    results = shape(protocol, [Problem("0", "", "", "")], (), 0)
    assert "{question}" in results.question
    assert len(results.rows) == protocol.shot_count
    blocks = []
    for row in results.rows:
        block = results.shot
        for part in ("question", "reasoning", "answer"):
            block = block.replace(f"{{{part}}}", f"{{{part} of shot {row}}}")
        blocks.append(block)
    template = results.template
    if results.place == "turns":
        turns = [f"{turn.role}: {turn.content}" for turn in template.messages]
        assert "\n".join(turns[:-1]) == "\n".join(blocks)
        assert template.messages[-1].content == results.question
    elif results.place == "system":
        assert template.messages[0].content == results.opening + results.joiner.join(blocks)
    else:
        flat = template.messages[-1].content if template.is_chat else template.text
        assert flat == results.opening + results.joiner.join([*blocks, results.question])
