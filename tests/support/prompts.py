"""Renders the prompts of a protocol by its name, and their text."""

from collections.abc import Sequence

from gradeschool import Problem, Prompt, get_protocol, load_dataset


def render(name: str, problems: Sequence[Problem]) -> list[Prompt]:
    """The prompts of a protocol with its own shots."""
    protocol = get_protocol(name)
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    return list(protocol.render(problems, shots))


def text_of(prompt: Prompt) -> str:
    """The text of a completion prompt."""
    assert prompt.text is not None
    return prompt.text
