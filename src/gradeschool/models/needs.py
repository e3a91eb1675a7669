"""What a protocol needs of a server, beside what the server does."""

from __future__ import annotations

from collections.abc import Sequence

from gradeschool.models.probe import Finding, State
from gradeschool.protocol import Protocol


def obstacles(protocol: Protocol, findings: Sequence[Finding]) -> list[str]:
    """Return why a protocol cannot be run as it is defined on a server, nothing where it can."""
    prompt = protocol.example_prompt()
    found = {finding.name: finding for finding in findings}
    form = "chat" if prompt.is_chat else "completions"
    wrong = []
    if f"{form} is refused" in found["forms"].says:
        wrong.append(found["forms"].says)
    prefix = found.get("prefix")
    if prompt.prefix is not None and prefix is not None and prefix.refuses:
        wrong.append(prefix.says)
    if protocol.decoding.temperature and found["temperature"].state is State.DEVIATES:
        wrong.append(found["temperature"].says)
    return wrong
