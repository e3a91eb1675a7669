"""Checks of a server before a run, for faults that would spoil it unnoticed."""

from __future__ import annotations

from collections.abc import Sequence

from gradeschool.errors import FatalModelError, TransientError
from gradeschool.models.base import Model
from gradeschool.models.probe import FindingState, ServerFinding
from gradeschool.protocol import Protocol


async def check(model: Model, protocol: Protocol) -> dict[str, str]:
    """Return the findings about a server by name; {} where no check applies.

    A protocol whose prompts begin the assistant's answer is run on a server only if that continues
    it: one that takes the field and begins a new turn gives answers to another prompt. Raises
    FatalModelError there. A server that fails now is asked nothing more here: the run will tell.
    """
    from gradeschool.models.endpoint import Endpoint

    if not isinstance(model, Endpoint) or protocol.example_prompt().prefix is None:
        return {}
    from gradeschool.models.doctor import continues_prefix

    try:
        finding = await continues_prefix(model)
    except TransientError as error:
        return {"prefix": f"not known: {error}"}
    if finding.refuses:
        raise FatalModelError(
            "no assistant prefix",
            f"{protocol.name} begins the assistant's answer, and this server does not continue it: "
            f"{finding.says}; use another server or protocol",
        )
    return {finding.name: finding.says}


def obstacles(protocol: Protocol, findings: Sequence[ServerFinding]) -> list[str]:
    """Return why a protocol cannot be run as it is defined on a server, nothing where it can."""
    prompt = protocol.example_prompt()
    by_name = {finding.name: finding for finding in findings}
    form = "chat" if prompt.is_chat else "completions"
    wrong = []
    if f"{form} is refused" in by_name["forms"].says:
        wrong.append(by_name["forms"].says)
    prefix = by_name.get("prefix")
    if prompt.prefix is not None and prefix is not None and prefix.refuses:
        wrong.append(prefix.says)
    if protocol.decoding.temperature and by_name["temperature"].state is FindingState.DEVIATES:
        wrong.append(by_name["temperature"].says)
    return wrong
