"""One page for each protocol: what is sent, decoded and read, from the protocol itself.

Examples that come from elsewhere are named, not quoted: "[question of exemplar 1 of 8]". What is
rendered are problems of the shipped sample, and examples that the package ships.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gradeschool import load_dataset
from gradeschool.completion import Prompt
from gradeschool.datasets.sources import SOURCES
from gradeschool.problem import Problem
from gradeschool.prompts import QUESTION
from gradeschool.protocol import Protocol
from gradeschool.protocols.card import (
    SHOT_NAME,
    ProtocolCard,
    ScorerCard,
    find_package,
    protocol_card,
)
from gradeschool.protocols.registry import all_protocols
from gradeschool.reports.protocols import facts, parts
from names import (
    code,
    fence,
    link,
    links,
    package_name,
    package_page,
    protocol_page,
    scorer_page,
    slug,
    table,
)
from scorer_pages import quirk_table

PAGE = """\
# {name}

{summary}

Harness [{package}]({package_page}), digest `{digest}`. To evaluate a server under it:

```sh
{command}
```

## What is sent

{facts}

## The prompt of a problem

{prompt_note}

<div class="prompt" markdown>

{prompt}

</div>

??? note "The parts of the prompt, to the character"

{parts}

## How the answer is read

{scorers}

## Where this is written

{source}

{links}

What is kept of upstream, which versions it holds for, published numbers and how it is tested:
[{package}]({package_page}).
"""
LEFT_TO_SECTIONS = ("scorers", "source")


def pages() -> dict[str, str]:
    """Return the Markdown of every protocol's page by its file."""
    sample = load_dataset("sample").problems
    return {protocol_page(name): page(one, sample) for name, one in all_protocols().items()}


def page(protocol: Protocol, sample: Sequence[Problem]) -> str:
    """Return the page of a protocol."""
    card = protocol_card(protocol)
    package = find_package(protocol.name)
    return PAGE.format(
        name=protocol.name,
        summary=f"{protocol.summary[:1].upper()}{protocol.summary[1:]}.",
        package=package_name(package),
        package_page=f"../{package_page(package)}",
        digest=protocol.digest(),
        command=command(protocol),
        facts=table(("setting", "value"), settings(card)),
        prompt_note=prompt_note(card),
        prompt=prompt(example(card, sample), exemplars_in_turns(card)),
        parts=indented(part_table(card)),
        scorers="\n\n".join(scorer(one, first=not at) for at, one in enumerate(card.scorers))
        + "".join(f"\n\n{vote_line(vote.name, vote.summary)}" for vote in card.votes),
        source=f"{protocol.source}.",
        links=links(card.links),
    )


def command(protocol: Protocol) -> str:
    """Return the command that evaluates a server under a protocol."""
    dataset = "" if protocol.dataset == "gsm8k" else f" -d {protocol.dataset}"
    return f"gradeschool eval -m http://localhost:8080/v1 -p '{protocol.name}'{dataset}"


def settings(card: ProtocolCard) -> list[tuple[str, str]]:
    """Return the facts of a protocol as cells; its stop strings are code."""
    stops = " ".join(code(repr(stop)) for stop in card.protocol.decoding.stop)
    found = []
    for name, text in facts(card):
        shown = stops if name == "stops" and stops else text.replace("\n", "<br>")
        if name not in LEFT_TO_SECTIONS:
            found.append((name, shown))
    return found


def prompt_note(card: ProtocolCard) -> str:
    """Say which problem it is and what stands for the examples."""
    protocol = card.protocol
    note = "Problem 0 of the shipped dataset `sample`"
    if not card.rows or not SOURCES[protocol.shots].url:
        return f"{note}:"
    drawn = ", for each problem others" if card.redrawn else ""
    return (
        f"{note}. The {len(card.rows)} exemplars are rows of `{protocol.shots}`{drawn}; they "
        "are others' texts, fetched from their origin and not copied here. "
        f"`gradeschool protocols show '{protocol.name}'` prints the prompt with them:"
    )


def example(card: ProtocolCard, sample: Sequence[Problem]) -> Prompt:
    """Return the prompt of the first sample problem, examples of others named in it."""
    protocol = card.protocol
    if protocol.shots and not SOURCES[protocol.shots].url:
        return next(protocol.render(sample, load_dataset(protocol.shots).problems))
    rows = {str(row): at for at, row in enumerate(card.rows, 1)}

    def named(match: re.Match[str]) -> str:
        part, row = match.groups()
        return f"[{part} of exemplar {rows[row]} of {len(rows)}: {protocol.shots}, row {row}]"

    def filled(text: str) -> str:
        return SHOT_NAME.sub(named, text.replace(QUESTION, sample[0].question))

    template = card.placeholders
    if template.text is not None:
        return Prompt(text=filled(template.text), prefix=template.prefix)
    turns = tuple(turn._replace(content=filled(turn.content)) for turn in template.messages)
    return Prompt(messages=turns, prefix=template.prefix)


def prompt(shown: Prompt, exemplars: int) -> str:
    """Return a prompt as blocks: one text, or a block for each message.

    Of exemplars that are turns of the chat, the first is shown: all have its form.
    """
    if shown.text is not None:
        return fence(shown.text)
    turns = shown.as_messages()
    blocks = []
    for at, turn in enumerate(turns, 1):
        begun = shown.prefix is not None and at == len(turns)
        title = f"{turn['role']}, to be continued" if begun else turn["role"]
        blocks.append(fence(turn["content"], title=title))
    if exemplars > 2:
        first = next(at for at, turn in enumerate(turns) if turn["role"] == "user")
        note = f"*Exemplars 2 to {exemplars} follow in the same form, two messages each.*"
        blocks[first + 2 : first + 2 * exemplars] = [note]
    return "\n\n".join(blocks)


def exemplars_in_turns(card: ProtocolCard) -> int:
    """Return how many exemplars are turns of the chat."""
    return len(card.rows) if card.place() == "turns" else 0


def part_table(card: ProtocolCard) -> str:
    """Return the parts of the prompt as they are in Python."""
    return table(("part", "text"), ((name, code(text)) for name, text in parts(card)))


def indented(text: str) -> str:
    """Return text as the body of a fold."""
    return "\n".join(f"    {line}" for line in text.split("\n"))


def scorer(card: ScorerCard, first: bool) -> str:
    """Return the section of a scorer, with what it reads unlike a careful reader."""
    name = card.scorer.name
    headline = "" if not first else " (headline)"
    lines = [
        f"### {name}{headline} {{: #{slug(name)} }}",
        f"{card.scorer.summary[:1].upper()}{card.scorer.summary[1:]}.",
    ]
    if card.quirks:
        lines.append(quirk_table(card))
    lines.append(f"More: {link(name, scorer_page(name))}.")
    return "\n\n".join(lines)


def vote_line(name: str, summary: str) -> str:
    """Return the section of a vote."""
    return f"### {name} {{: #{slug(name)} }}\n\n{summary}. {link('votes', 'votes.md')}"
