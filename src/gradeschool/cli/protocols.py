"""`gradeschool protocols list | show | diff | prompts`."""

from __future__ import annotations

import json
from typing import Any

import click

from gradeschool.cli.options import (
    VerbGroup,
    dataset_option,
    json_option,
    print_json,
    print_lists,
    stdout_console,
    warn,
)
from gradeschool.errors import InputError, UnknownNameError
from gradeschool.reports.printable import say

TITLES = {
    "protocols": "Protocols: prompt, decoding and scorers",
    "scorers": "Scorers: how an answer is extracted and compared",
    "votes": "Votes: one verdict from all samples of a problem",
}


@click.group(cls=VerbGroup)
def command() -> None:
    """List and show protocols and scorers; compare protocols; print prompts.

    A protocol is a name, or your own: a TOML file, or an object of a Python file (mine.py:NAME).
    """


@command.command("list")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@json_option
def list_command(words: tuple[str, ...], as_json: bool) -> None:
    """List protocols, scorers and votes; with words, those whose line has all of them."""
    from gradeschool.protocols.registry import all_protocols, all_scorers, all_votes

    def fits(one: Any) -> bool:
        line = f"{one.name} {one.summary} {getattr(one, 'dataset', '')}".lower()
        return all(word.lower() in line for word in words)

    lists: dict[str, list[Any]] = {
        "protocols": list(filter(fits, all_protocols().values())),
        "scorers": list(filter(fits, all_scorers().values())),
        "votes": list(filter(fits, all_votes().values())),
    }
    if as_json:
        common = ("name", "summary", "source")
        of_protocols = (*common, "dataset", "samples", "scorers", "votes")
        rows = {
            kind: [{field: getattr(one, field)
                    for field in (of_protocols if kind == "protocols" else common)}
                   for one in each]
            for kind, each in lists.items()
        }  # fmt: skip
        for row, protocol in zip(rows["protocols"], lists["protocols"], strict=True):
            form = "chat" if protocol.is_chat else "completion"
            row |= {"digest": protocol.digest(), "form": form, "shots": protocol.shot_count}
        for row, scorer in zip(rows["scorers"], lists["scorers"], strict=True):
            row["extra"] = scorer.extra or None
        print_json(rows)
        return
    if not any(lists.values()):
        raise InputError(f"no protocol or scorer has {' and '.join(map(repr, words))} in its line; "
                         "`gradeschool protocols list` prints all")  # fmt: skip
    chat = {True: "[chat] ", False: "[completion] ", None: ""}
    print_lists({
        TITLES[kind]: [
            (one.name, f"{chat[getattr(one, 'is_chat', None)]}{one.summary}"
                       + (f" [extra: {one.extra}]" if getattr(one, "extra", "") else ""))
            for one in each
        ]
        for kind, each in lists.items() if each
    })  # fmt: skip


@command.command("show")
@click.argument("name")
@dataset_option
@json_option
def show_command(name: str, dataset: str | None, as_json: bool) -> None:
    """Show everything about a protocol, a scorer or a vote.

    For a protocol: the exact parts of its prompt, the origin of its few-shot examples, decoding,
    the scorers, with completions that they read differently from a careful person, the versions it
    was compared with, sources, and the prompt of the first problem with its SHA-256 (of the text in
    UTF-8, or of a chat's messages as JSON).
    """
    from gradeschool.reports.protocols import print_card

    card = _describe(name, dataset)
    print_json(card) if as_json else print_card(card, stdout_console())


def _describe(name: str, dataset: str | None, usual: str | None = None) -> dict[str, Any]:
    """Return all about a protocol, scorer or vote; of a protocol with its first problem's prompt.

    A dataset that the user names is required and fetched; else the dataset `usual`, by default the
    protocol's own, is used if it is on this machine.
    """
    from gradeschool.datasets.load import is_here, load_dataset
    from gradeschool.protocols.card import describe_protocol, describe_scorer, describe_vote
    from gradeschool.protocols.registry import (
        all_protocols,
        all_scorers,
        all_votes,
        get_protocol,
        is_own,
    )

    if not is_own(name) and name not in all_protocols():
        if name in all_scorers():
            return describe_scorer(name)
        if name in all_votes():
            return describe_vote(all_votes()[name])
        known = {*all_protocols(), *all_scorers(), *all_votes()}
        raise UnknownNameError("protocol or scorer", name, known)
    protocol = get_protocol(name)
    named = dataset or usual or protocol.dataset
    absent = [name for name in (named, protocol.shots) if name and not is_here(name)]
    if absent and not dataset:
        warn(f"no prompt is shown: {', '.join(absent)} is not on this machine; "
             f"run `gradeschool data fetch {' '.join(absent)}`")  # fmt: skip
        return describe_protocol(protocol)
    problems = load_dataset(named).problems
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    return describe_protocol(protocol, problems, shots, 0, named)


@command.command("diff")
@click.argument("a")
@click.argument("b")
@dataset_option
@json_option
def diff_command(a: str, b: str, dataset: str | None, as_json: bool) -> None:
    """Compare two protocols: every field that differs, and the prompts of the first problem.

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
        print_json({
            "names": [card["name"] for card in cards],
            "digests": [card["digest"] for card in cards],
            "fields": [{"field": field, "first": one, "second": other}
                       for field, (one, other) in fields.items()],
            "prompt_sha256": [card["example"] and card["example"]["sha256"] for card in cards],
            "prompt_diff": lines,
        })  # fmt: skip
    else:
        print_difference(cards, fields, lines, stdout_console())


@command.command("prompts")
@click.argument("name")
@dataset_option
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
