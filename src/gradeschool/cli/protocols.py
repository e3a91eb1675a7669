"""`gradeschool protocols list | show | diff | prompts`."""

from __future__ import annotations

import json
from typing import Any

import click

from gradeschool.cli import options as cli
from gradeschool.errors import InputError, UnknownNameError
from gradeschool.reports.printable import say

TITLES = {
    "protocols": "Protocols: prompt, decoding and scorers",
    "scorers": "Scorers: how an answer is extracted and compared",
    "votes": "Votes: one verdict from all samples of a problem",
}


@click.group(cls=cli.VerbGroup)
def command() -> None:
    """List and show protocols and scorers; compare protocols; print prompts.

    A protocol is a name, or your own: a TOML file, or an object of a Python file (mine.py:NAME).
    """


@command.command("list")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@cli.json_option
def list_command(words: tuple[str, ...], as_json: bool) -> None:
    """List protocols, scorers and votes, or those with these words in their line."""
    from gradeschool.protocol import Protocol
    from gradeschool.protocols.registry import all_protocols, all_scorers, all_votes
    from gradeschool.scorer import Scorer

    lists: dict[str, list[dict[str, Any]]] = {}
    for kind, every in (
        ("protocols", all_protocols()), ("scorers", all_scorers()), ("votes", all_votes()),
    ):  # fmt: skip
        lists[kind] = []
        for one in every.values():
            row: dict[str, Any] = {"name": one.name, "summary": one.summary, "source": one.source}
            if isinstance(one, Protocol):
                form = "chat" if one.is_chat else "completion"
                row |= {"dataset": one.dataset, "samples": one.samples, "scorers": one.scorers,
                        "votes": one.votes, "digest": one.digest() if as_json else "",
                        "form": form, "shots": one.shot_count}  # fmt: skip
            elif isinstance(one, Scorer):
                row["extra"] = one.extra or None
            line = f"{one.name} {one.summary} {getattr(one, 'dataset', '')}".lower()
            if all(word.lower() in line for word in words):
                lists[kind].append(row)
    if as_json:
        cli.print_json(lists)
        return
    if not any(lists.values()):
        raise InputError(f"no protocol or scorer has {' and '.join(map(repr, words))} in its line; "
                         "`gradeschool protocols list` prints all")  # fmt: skip
    cli.print_lists({
        TITLES[kind]: [
            (row["name"], (f"[{row['form']}] " if "form" in row else "") + row["summary"]
                          + (f" [extra: {row['extra']}]" if row.get("extra") else ""))
            for row in rows
        ]
        for kind, rows in lists.items() if rows
    })  # fmt: skip


@command.command("show")
@click.argument("name")
@cli.dataset_option
@cli.json_option
def show_command(name: str, dataset: str | None, as_json: bool) -> None:
    """Show everything about a protocol, a scorer or a vote.

    For a protocol: the exact parts of its prompt, the origin of its few-shot examples, decoding,
    the scorers, with completions that they read differently from a careful person, the versions it
    was compared with, sources, and the prompt of the first problem with its SHA-256 (of the text in
    UTF-8, or of a chat's messages as JSON).
    """
    from gradeschool.reports.protocols import print_card

    card = _describe(name, dataset)
    cli.print_json(card) if as_json else print_card(card, cli.stdout_console())


def _describe(name: str, dataset: str | None, usual: str | None = None) -> dict[str, Any]:
    """Return all about a protocol, scorer or vote; of a protocol with its first problem's prompt.

    A dataset that the user names is required and fetched; else the dataset `usual`, by default the
    protocol's own, is used if it is on this machine.
    """
    from gradeschool.datasets.load import is_here, load_dataset
    from gradeschool.protocols import registry
    from gradeschool.protocols.card import describe_protocol, describe_scorer, describe_vote

    protocols, scorers, votes = (
        registry.all_protocols(), registry.all_scorers(), registry.all_votes(),
    )  # fmt: skip
    if name in scorers and name not in protocols:
        return describe_scorer(name)
    if name in votes:
        return describe_vote(votes[name])
    if name not in protocols and not registry.is_own(name):
        raise UnknownNameError("protocol or scorer", name, {*protocols, *scorers, *votes})
    protocol = registry.get_protocol(name)
    named = dataset or usual or protocol.dataset
    absent = [name for name in (named, protocol.shots) if name and not is_here(name)]
    if absent and not dataset:
        cli.warn(f"no prompt is shown: {', '.join(absent)} is not on this machine; "
             f"run `gradeschool data fetch {' '.join(absent)}`")  # fmt: skip
        return describe_protocol(protocol)
    problems = load_dataset(named).problems
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    return describe_protocol(protocol, problems, shots, 0, named)


@command.command("diff")
@click.argument("a")
@click.argument("b")
@cli.dataset_option
@cli.json_option
def diff_command(a: str, b: str, dataset: str | None, as_json: bool) -> None:
    """Compare two protocols, and their prompts of the first problem.

    Example: gradeschool protocols diff lm-eval/gsm8k olmes/gsm8k
    """
    from gradeschool.protocols.card import prompt_difference, protocol_differences
    from gradeschool.reports.protocols import print_difference

    first = _describe(a, dataset)
    cards = [first, _describe(b, dataset, first.get("dataset"))]
    for card in cards:
        if card["kind"] != "protocol":
            raise InputError(f"{card['name']!r} is a {card['kind']}; give two protocols, or see "
                             "where scorers differ with `gradeschool explain FILE "
                             "--scorer A B`")  # fmt: skip
    fields, lines = protocol_differences(*cards), prompt_difference(*cards)
    if as_json:
        cli.print_json({
            "names": [card["name"] for card in cards],
            "digests": [card["digest"] for card in cards],
            "fields": [{"field": field, "first": one, "second": other}
                       for field, (one, other) in fields.items()],
            "prompt_sha256": [card["example"] and card["example"]["sha256"] for card in cards],
            "prompt_diff": lines,
        })  # fmt: skip
    else:
        print_difference(cards, fields, lines, cli.stdout_console())


@command.command("prompts")
@click.argument("name")
@cli.dataset_option
@click.option("-n", "--limit", type=click.IntRange(min=1), help="Use only the first N problems.")
def prompts_command(name: str, dataset: str | None, limit: int | None) -> None:
    """Print every prompt of a protocol as a JSON line, in order."""
    from gradeschool.datasets.load import load_dataset
    from gradeschool.prompts import prompt_json
    from gradeschool.protocols.registry import get_protocol

    protocol = get_protocol(name)
    problems = load_dataset(dataset or protocol.dataset).problems[:limit]
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    for problem, prompt in zip(problems, protocol.render(problems, shots), strict=True):
        say(json.dumps({"id": problem.id, **prompt_json(prompt)}))
