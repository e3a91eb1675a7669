"""The pages that are made from the package: protocols, scorers, commands, the Python API.

Exemplars that come from elsewhere are named, not quoted: "[question of exemplar 1 of 8]". What is
shown are problems of the shipped sample, and exemplars that the package ships.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import click

import gradeschool
from gradeschool import Problem, get_scorer, load_dataset
from gradeschool.cli import COMMANDS
from gradeschool.cli import command as root
from gradeschool.cli.protocols import (
    card_facts,
    describe_protocol,
    describe_scorer,
    describe_vote,
    find_package,
    read_source,
)
from gradeschool.datasets.load import SOURCES
from gradeschool.prompts import prompt_json
from gradeschool.protocol import Protocol
from gradeschool.protocols.registry import all_protocols, all_scorers, entries_of, packages

Card = dict[str, Any]
READER = "gradeschool/reader"
WIDTH = 92  # characters of a command's help
CODE = re.compile(r"(^(?: {4}|\t).*$|^```.*?^```|`+[^`]+`+)", re.MULTILINE | re.DOTALL)
PACKAGE_ADDRESS = re.compile(r"https://pypi\.org/project/([^/]+)/([^/]+)/?")
FILTER = """\
<input class="filter" type="search" placeholder="Filter: {words}" aria-label="Filter" hidden>
<p class="filter-count" role="status" hidden></p>
"""
INTEGRATIONS = ("rewards", "trl", "verl", "openrlhf", "verifiers",
                "for_inspect", "pytest_plugin")  # fmt: skip
EXIT_STATUS = """\
| exit status | meaning |
|---|---|
| 0 | done |
| 1 | a threshold was missed, or something was found that counts |
| 2 | bad input: the message says what was wrong and what to do |
| 3 | finished, but some samples failed; `eval` asks for those again if repeated |
| 130 | interrupted; the same command goes on |
"""


def pages() -> dict[str, str]:
    """Return the Markdown of every page by its file."""
    every = sorted(packages(), key=harness)
    protocols = [
        (f"## {harness(one)}", _protocol_table(one, f"harnesses/{slug(harness(one))}.md"))
        for one in every
        if entries_of(one, "PROTOCOLS")
    ]
    scorers = [
        (f"## {harness(one)}", _scorer_table(one, f"harnesses/{slug(harness(one))}.md"))
        for one in every
        if entries_of(one, "SCORERS")
    ]
    return {
        "protocols.md": _join(
            "# Protocols",
            "A protocol is everything between a problem and its verdict: the prompt, the decoding, "
            f"and the scorers that read the answer. {len(all_protocols())} protocols of "
            f"{len(protocols)} harnesses, each frozen under its name: where a harness changed, "
            "there are two names. All is made from the protocols themselves.",
            FILTER.format(words="chat, lm-eval, box, zero-shot"),
            *(part for section in protocols for part in section),
        ),
        "scorers.md": _join(
            "# Scorers",
            "A scorer reads a completion's text and compares what it finds with the gold; it sees "
            f"nothing else. All {len(all_scorers())} run on the same recorded completions: "
            "`gradeschool score answers.jsonl --scorer all`.",
            FILTER.format(words="boxed, last number, math-verify"),
            *(part for section in scorers for part in section),
        ),
        **{f"harnesses/{slug(harness(one))}.md": _harness_page(one) for one in every},
        "commands.md": _join(
            "# Command line",
            "Data goes to standard output, progress to standard error; `--json` gives listings to "
            "programs, and `NO_COLOR` is obeyed.",
            EXIT_STATUS,
            *_command_sections(root, "gradeschool", None, 2),
        ),
        "reference.md": _join(
            "# Python",
            "`import gradeschool` loads the standard library alone; a name loads its module when "
            "it is first used. What is not named here is not public.",
            *(f"::: gradeschool.{name}" for name in gradeschool.__all__ if name != "__version__"),
            *(f"::: gradeschool.integrations.{name}" for name in INTEGRATIONS),
            "::: gradeschool.errors",
        ),
    }


def harness(package: ModuleType) -> str:
    """Return the first part of the names that a package holds."""
    names = (*entries_of(package, "PROTOCOLS"), *entries_of(package, "SCORERS"))
    return names[0].split("/")[0]


def slug(name: str) -> str:
    """Return a name as a part of an address; a version range is told in words."""
    words = name.replace("<=", "up-to-").replace(">=", "from-")
    return re.sub(r"[^a-z0-9.]+", "-", words.lower()).strip("-")


def _harness_page(package: ModuleType) -> str:
    doc = (package.__doc__ or read_source(package).text.removeprefix("# ")).split("\n")[0]
    sample = load_dataset("sample").problems
    protocols = sorted(entries_of(package, "PROTOCOLS").values(), key=lambda one: one.name)
    scorers = sorted(entries_of(package, "SCORERS").values(), key=lambda one: one.name)
    votes = entries_of(package, "VOTES").values()
    return _join(
        f"# {harness(package)}",
        _plain(doc),
        *(["## Protocols"] if protocols else []),
        *(_protocol(one, describe_protocol(one), sample) for one in protocols),
        *(["## Scorers"] if scorers else []),
        *(_scorer(describe_scorer(one.name)) for one in scorers),
        *(["## Votes"] if votes else []),
        *(
            f"`{vote.name}`: {vote.summary}. The first {vote.voters} samples of a problem vote; "
            f"{vote.source}. Part of {', '.join(describe_vote(vote)['protocols'])}."
            for vote in votes
        ),
        "## Where it comes from",
        _source(package),
    )


def _protocol(protocol: Protocol, card: Card, sample: Sequence[Problem]) -> str:
    """Return the section of a protocol: settings, the prompt of a problem, scorers, sources."""
    dataset = "" if protocol.dataset == "gsm8k" else f" -d {protocol.dataset}"
    stops = " ".join(_code(repr(stop)) for stop in protocol.decoding.stop)
    settings = [
        (name, stops if name == "stops" and stops else text.replace("\n", "<br>"))
        for name, text in card_facts(card)
        if name not in ("scorers", "source")
    ]
    readers = ", ".join(f"[`{name}`]({_scorer_anchor(name)})" for name in protocol.scorers)
    note = "The prompt of problem 0 of the shipped dataset sample"
    rows = card["shots"]["rows"]
    if rows and SOURCES[protocol.shots].url:
        note += f"; its {len(rows)} exemplars are of {protocol.shots} and not copied here"
    return _join(
        f"### {protocol.name} {{: #{slug(protocol.name)} }}",
        f"{_sentence(protocol.summary)} Digest `{card['digest']}`.",
        f"`gradeschool eval -m http://localhost:8080/v1 -p '{protocol.name}'{dataset}`",
        _table(("setting", "value"), [*settings, ("scorers", readers)]),
        f'??? note "{note}"\n\n{_indented(_prompt(_example(protocol, card, sample), card))}',
        _links(f"{protocol.source}.", card["links"]),
    )


def _scorer_anchor(name: str) -> str:
    package = find_package(name)
    page = f"{slug(harness(package))}.md" if package else ""
    return f"{page}#scorer-{slug(name)}"


def _scorer(card: Card) -> str:
    """Return the section of a scorer, with the completions that it reads unlike the reader."""
    needs = (
        f" Calls a library: `pip install 'gradeschool[{card['extra']}]'`." if card["extra"] else ""
    )
    heads = ("completion (⏎: line break)", "gold", "says", "the reader", "what it shows")
    rows = []
    for quirk in card["quirks"]:
        text, gold = quirk["completion"], quirk["gold"]
        reader = get_scorer(READER).judge(text, Problem.from_gold(gold)).outcome.value
        shows = quirk["shows"].replace("|", "&#124;").replace("<", "&lt;")
        rows.append((_code(text), _code(gold), quirk["says"], reader, shows))
    return _join(
        f"### {card['name']} {{: #scorer-{slug(card['name'])} }}",
        f"{_sentence(card['summary'])}{needs}",
        *(["What it reads unlike a careful reader:", _table(heads, rows)] if rows else []),
        _links(f"{card['source']}.", card["links"]),
    )


def _example(protocol: Protocol, card: Card, sample: Sequence[Problem]) -> dict[str, Any]:
    """Return the prompt of the first sample problem, exemplars of others named in it."""
    if protocol.shots and not SOURCES[protocol.shots].url:
        return prompt_json(next(protocol.render(sample, load_dataset(protocol.shots).problems)))
    exemplars = []
    for at, row in enumerate(rows := card["shots"]["rows"], 1):
        where = f"of exemplar {at} of {len(rows)}: {protocol.shots}, row {row}]"
        question, answer, reasoning = (
            f"[{part} {where}" for part in ("question", "answer", "reasoning")
        )
        exemplars.append(Problem(str(row), question, answer, f"{reasoning}\n#### {answer}"))
    template = replace(protocol.render, examples=tuple(exemplars), rows=None, count=None)
    return prompt_json(next(template(sample[:1], ())))


def _prompt(shown: dict[str, Any], card: Card) -> str:
    """Return a prompt as blocks; of exemplars that are turns of the chat, only the first."""
    if "prompt" in shown:
        return _fence(shown["prompt"])
    turns, blocks = shown["messages"], []
    for at, turn in enumerate(turns, 1):
        begun = "continue_final_message" in shown and at == len(turns)
        title = f"{turn['role']}, to be continued" if begun else turn["role"]
        blocks.append(_fence(turn["content"], title))
    count = len(card["shots"]["rows"])
    if card["shots"]["place"] == "turns" and count > 2:
        first = next(at for at, turn in enumerate(turns) if turn["role"] == "user")
        note = f"*Exemplars 2 to {count} follow in the same form, two messages each.*"
        blocks[first + 2 : first + 2 * count] = [note]
    return "\n\n".join(blocks)


def _protocol_table(package: ModuleType, page: str) -> str:
    return _table(
        ("protocol", "form", "what it is"),
        (
            (f"[`{one.name}`]({page}#{slug(one.name)})", _form(one), _plain(one.summary))
            for one in sorted(entries_of(package, "PROTOCOLS").values(), key=lambda one: one.name)
        ),
    )


def _form(protocol: Protocol) -> str:
    return "chat" if protocol.is_chat else "completion"


def _scorer_table(package: ModuleType, page: str) -> str:
    return _table(
        ("scorer", "how it reads", "calls"),
        (
            (f"[`{one.name}`]({page}#scorer-{slug(one.name)})", _plain(one.summary), one.extra)
            for one in sorted(entries_of(package, "SCORERS").values(), key=lambda one: one.name)
        ),
    )


def _source(package: ModuleType) -> str:
    """Return a package's SOURCE.md below a heading of the second level."""
    text = re.sub(r"\A# .*\n", "", read_source(package).text)
    text = re.sub(r"^#", "##", text, flags=re.MULTILINE)
    text = re.sub(r"(?<=[^\n|])\n(\|.*\n\|-)", r"\n\n\1", text)
    text = re.sub(r"^((?!- |  |\n).+)\n(?=- )", r"\1\n\n", text, flags=re.MULTILINE)
    return _plain(text)


def _command_sections(
    command: click.Command, name: str, parent: click.Context | None, level: int
) -> list[str]:
    """Return the help of a command, and of its subcommands."""
    context = click.Context(command, info_name=name, parent=parent, max_content_width=WIDTH)
    context.terminal_width = WIDTH
    parts = [f"{'#' * level} {context.command_path}", _fence(command.get_help(context))]
    if isinstance(command, click.Group):
        for inner in COMMANDS if command is root else command.list_commands(context):
            found = command.get_command(context, inner)
            if found is not None:
                parts += _command_sections(found, inner, context, level + (parent is not None))
    return parts


def _join(*parts: str) -> str:
    return "\n\n".join(parts)


def _sentence(text: str) -> str:
    return f"{_plain(text[:1].upper() + text[1:])}."


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))


def _code(text: str) -> str:
    """Return a text as code in a cell of a table: nothing in it is Markdown, line breaks show."""
    marks = (one if one.isalnum() or one == " " else f"&#{ord(one)};"
             for one in text.replace("\n", "⏎"))  # fmt: skip
    return f"<code>{''.join(marks)}</code>"


def _fence(text: str, title: str = "") -> str:
    """Return a block of code that holds a text of any kind."""
    ticks = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", text)), 3)
    named = f' title="{title}"' if title else ""
    return f"{ticks}text{named}\n{text}\n{ticks}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _links(text: str, addresses: Iterable[str]) -> str:
    """Return a text and a list of addresses; a release of a package is named, not linked."""
    items = []
    for address in addresses:
        package = PACKAGE_ADDRESS.fullmatch(address)
        items.append(f"- PyPI {' '.join(package.groups())}" if package else f"- <{address}>")
    return "\n\n".join([_plain(text), "\n".join(items)])


def _plain(text: str) -> str:
    """Return text of a person whose `<`, `>` and lone stars outside code are characters."""
    parts = CODE.split(text)
    for at in range(0, len(parts), 2):
        shown = parts[at].replace("<", "&lt;").replace(">", "&gt;")
        parts[at] = re.sub(r"(?<=\w)\*(?=[\w:])", r"\*", shown)
    return "".join(parts)
