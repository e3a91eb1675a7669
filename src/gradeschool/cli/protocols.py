"""`gradeschool protocols list | show | diff | prompts`."""

from __future__ import annotations

import json
import sys
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


@click.group(cls=VerbGroup)
def command() -> None:
    """List, show and compare protocols and scorers; print prompts.

    A protocol is a name, or your own: a TOML file.
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
        kind: list(filter(fits, entries.values()))
        for kind, entries in (
            ("protocols", all_protocols()), ("scorers", all_scorers()), ("votes", all_votes()),
        )
    }  # fmt: skip
    if as_json:
        common = ("name", "summary", "source")
        fields = {"protocols": (*common, "dataset", "samples", "scorers", "votes")}
        rows: dict[str, list[dict[str, Any]]] = {
            kind: [{name: getattr(one, name) for name in fields.get(kind, common)} for one in each]
            for kind, each in lists.items()
        }
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
    titles = {
        "protocols": "Protocols: prompt, decoding and scorers",
        "scorers": "Scorers: how an answer is extracted and compared",
        "votes": "Votes: one verdict from all samples of a problem",
    }

    def line(one: Any) -> str:
        form = getattr(one, "is_chat", None)
        before = "" if form is None else "[chat] " if form else "[completion] "
        extra = getattr(one, "extra", "")
        return f"{before}{one.summary}" + (f" [extra: {extra}]" if extra else "")

    print_lists({
        titles[kind]: [(one.name, line(one)) for one in each]
        for kind, each in lists.items() if each
    })  # fmt: skip


@command.command("show")
@click.argument("name")
@dataset_option
@click.option(
    "--problem", metavar="ID", help="Print the prompt of this problem; by default the first."
)
@json_option
def show_command(name: str, dataset: str | None, problem: str | None, as_json: bool) -> None:
    """Show everything about a protocol, a scorer or a vote.

    For a protocol: the exact parts of its prompt, the origin of its few-shot examples, decoding,
    the scorers, with completions that they read differently from a careful person, the versions it
    was compared with, sources, and the prompt of a problem with its SHA-256 (of the text in UTF-8,
    or of a chat's messages as JSON).
    """
    from gradeschool.reports.protocols import print_card

    card = _describe(name, dataset, problem)
    print_json(card) if as_json else print_card(card, stdout_console())


def _describe(
    name: str, dataset: str | None, id: str | None, usual: str | None = None
) -> dict[str, Any]:
    """Return all about a protocol, scorer or vote; of a protocol with the prompt of a problem.

    A dataset or problem (id; by default the first) that the user names is required and fetched;
    else the dataset `usual`, by default the protocol's own, is used if it is on this machine.
    """
    from gradeschool.datasets.load import is_here, load_dataset
    from gradeschool.protocols.card import describe_protocol, describe_scorer, describe_vote
    from gradeschool.protocols.registry import (
        all_protocols,
        all_scorers,
        all_votes,
        get_protocol,
    )

    if not name.endswith(".toml") and name not in all_protocols():
        if name in all_scorers():
            return describe_scorer(name)
        if name in all_votes():
            return describe_vote(all_votes()[name])
        known = {*all_protocols(), *all_scorers(), *all_votes()}
        raise UnknownNameError("protocol or scorer", name, known)
    protocol = get_protocol(name)
    named = dataset or usual or protocol.dataset
    absent = [name for name in (named, protocol.shots) if name and not is_here(name)]
    if absent and not (dataset or id):
        warn(f"no prompt is shown: {', '.join(absent)} is not on this machine; "
             f"run `gradeschool data fetch {' '.join(absent)}`")  # fmt: skip
        return describe_protocol(protocol)
    problems = load_dataset(named).problems
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    index = next((at for at, one in enumerate(problems) if id in (None, one.id)), None)
    if index is None:
        raise InputError(
            f"no problem of {named!r} has the id {id!r}; its ids go from {problems[0].id!r} "
            f"to {problems[-1].id!r}"
        )
    return describe_protocol(protocol, problems, shots, index, named)


@command.command("diff")
@click.argument("a")
@click.argument("b")
@click.option(
    "--problem", metavar="ID", help="Compare the prompts of this problem; by default the first."
)
@dataset_option
@json_option
def diff_command(a: str, b: str, problem: str | None, dataset: str | None, as_json: bool) -> None:
    """Compare two protocols, or two scorers.

    For protocols: every field that differs, and the prompts of a problem as a text diff. For
    scorers (of protocols, the first of each): the completions on which they are known to differ.

    Example: gradeschool protocols diff lm-eval/gsm8k olmes/gsm8k
    """
    from gradeschool.protocols.card import (
        describe_scorer,
        prompt_difference,
        protocol_differences,
        scorer_splits,
    )
    from gradeschool.protocols.registry import all_protocols, all_scorers, get_usable_scorer
    from gradeschool.reports import protocols as printing

    both = {a, b}
    if both <= all_scorers().keys() and not both <= all_protocols().keys():
        cards = [describe_scorer(get_usable_scorer(name).name) for name in (a, b)]
    else:
        first = _describe(a, dataset, problem)
        cards = [first, _describe(b, dataset, problem, first.get("dataset"))]
    first, second = cards
    if first["kind"] != second["kind"] or first["kind"] == "vote":
        raise InputError(f"{a!r} is a {first['kind']} and {b!r} is a {second['kind']}; "
                         "give two protocols or two scorers")  # fmt: skip
    is_protocols = first["kind"] == "protocol"
    scorers = [card["scorers"][0] if is_protocols else card for card in cards]
    names, titles = [each["name"] for each in scorers], [card["name"] for card in cards]
    fields = protocol_differences(first, second) if is_protocols else {}
    lines = prompt_difference(first, second) if is_protocols else []
    splits = scorer_splits(scorers[0], scorers[1])
    if as_json:
        facts = {
            "digests": [card["digest"] for card in cards],
            "fields": [
                {"field": field, "first": one, "second": other}
                for field, (one, other) in fields.items()
            ],
            "prompt_sha256": [card["example"] and card["example"]["sha256"] for card in cards],
            "prompt_diff": lines,
            "scorers": names,
        } if is_protocols else {"summaries": [card["summary"] for card in cards]}  # fmt: skip
        quirks = [
            {"completion": quirk["completion"], "gold": quirk["gold"], "outcomes": outcomes}
            for quirk, *outcomes in splits
        ]
        print_json({"kind": f"{first['kind']}s", "names": titles, **facts, "quirks": quirks})
        return
    console = stdout_console()
    if is_protocols:
        printing.print_differences(fields, titles, console)
        printing.print_prompt_difference(lines, first["example"], console)
        if names[0] == names[1]:
            return
        console.print("\ncompletions on which their first scorers are known to differ",
                      style="bold")  # fmt: skip
    else:
        for card in cards:
            console.print(f"{card['name']}: {card['summary']}")
    printing.print_splits(splits, names, console)


@command.command("prompts")
@click.argument("name")
@dataset_option
@click.option("-n", "--limit", type=click.IntRange(min=1), help="Use only the first N problems.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["nul", "jsonl"]),
    default="jsonl",
    show_default=True,
    help="jsonl: a JSON line for each prompt; nul: each prompt followed by a NUL byte.",
)
def prompts_command(name: str, dataset: str | None, limit: int | None, form: str) -> None:
    """Print every prompt of a protocol, in order."""
    from gradeschool.datasets.load import load_dataset
    from gradeschool.prompts import prompt_bytes, prompt_json
    from gradeschool.protocols.registry import get_protocol

    protocol = get_protocol(name)
    problems = load_dataset(dataset or protocol.dataset).problems[:limit]
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    for problem, prompt in zip(problems, protocol.render(problems, shots), strict=True):
        line = json.dumps({"id": problem.id, **prompt_json(prompt)}).encode() + b"\n"
        sys.stdout.buffer.write(line if form == "jsonl" else prompt_bytes(prompt) + b"\0")
    sys.stdout.buffer.flush()
