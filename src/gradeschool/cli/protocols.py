"""`gradeschool protocols list | show | diff | prompts`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from gradeschool.cli import options as cli
from gradeschool.cli.options import switch
from gradeschool.errors import InputError, UnknownNameError
from gradeschool.printable import printable, say

if TYPE_CHECKING:
    from rich.console import Console

TITLES = {
    "protocols": "Protocols: prompt, decoding and scorers",
    "scorers": "Scorers: how an answer is extracted and compared",
    "votes": "Votes: one verdict from all samples of a problem",
}
PLACES = {
    "text": ", in the text before the question",
    "system": ", in the system message",
    "user": ", in the user's message before the question",
    "turns": ", as turns of the chat",
}
PART_NAMES = {"shot": "one shot", "joiner": "between", "prefix": "answer begun", "template": ""}
Card = Mapping[str, Any]


@click.group(cls=cli.CommandGroup)
def protocols_command() -> None:
    """List and show protocols and scorers; compare protocols; print prompts.

    A protocol is a name, or your own: a TOML file, or an object of a Python file (mine.py:NAME).
    """


@protocols_command.command("list")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@switch("--all whole", "List every protocol, scorer and vote.")
@cli.json_option
def list_command(words: tuple[str, ...], whole: bool, as_json: bool) -> None:
    """List the harnesses, or the protocols, scorers and votes with these words in their name.

    If no name has them, or with --all, those with them in their line.
    """
    from gradeschool.protocol import Protocol
    from gradeschool.protocols.registry import all_protocols, all_scorers, all_votes
    from gradeschool.scorer import Scorer

    lists: dict[str, list[dict[str, Any]]] = {}
    lower = [word.lower() for word in words]
    registered: Sequence[Mapping[str, Any]] = (all_protocols(), all_scorers(), all_votes())
    for kind, every in zip(TITLES, registered, strict=True):
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
            if all(word in line for word in lower):
                lists[kind].append(row)
    named = {kind: [row for row in rows if all(word in row["name"].lower() for word in lower)]
             for kind, rows in lists.items()}  # fmt: skip
    others = sum(map(len, lists.values())) - sum(map(len, named.values()))
    if not whole and any(named.values()):
        lists = named
    if as_json:
        cli.print_json(lists)
    elif not any(lists.values()):
        raise InputError(f"no protocol or scorer has {' and '.join(map(repr, words))} in its line; "
                         "`gradeschool protocols list --all` prints all")  # fmt: skip
    elif words or whole:
        cli.print_lists({
            TITLES[kind]: [
                (row["name"], (f"[{row['form']}] " if "form" in row else "") + row["summary"]
                              + (f" [extra: {row['extra']}]" if row.get("extra") else ""))
                for row in rows
            ]
            for kind, rows in lists.items() if rows
        })  # fmt: skip
        if lists is named and others:
            say(f"\n{others} more have it in their line: --all {' '.join(words)}")
    else:
        found: dict[str, tuple[Counter[str], set[str]]] = {}  # by harness
        for kind in ("protocols", "scorers"):
            for row in lists[kind]:
                harness = row["name"].partition("/")[0]
                numbers, datasets = found.setdefault(harness, (Counter(), set()))
                numbers[kind] += 1
                datasets.add(row.get("dataset", "").partition(":")[0])
        width = max(map(len, found)) + 2
        say(f"{'harness':{width}}protocols  scorers  datasets")
        for harness, (numbers, datasets) in sorted(found.items()):
            line = f"{harness:{width}}{numbers['protocols']:9}  {numbers['scorers']:7}  "
            line += ", ".join(sorted(filter(None, datasets)))
            say(line[: cli.stdout_width()].rstrip())
        say("\nWith a WORD: those with it in their name; with --all: every one.\n"
            "`gradeschool protocols show NAME` shows all about one.")  # fmt: skip


@protocols_command.command("show")
@click.argument("name")
@cli.dataset_option
@cli.json_option
def show_command(name: str, dataset: str, as_json: bool) -> None:
    """Show everything about a protocol, a scorer or a vote.

    For a protocol: the exact parts of its prompt, the origin of its few-shot examples, decoding,
    the scorers, with completions that they read differently from a careful person, the versions it
    was compared with, sources, and the prompt of the first problem with its SHA-256 (of the text in
    UTF-8, or of a chat's messages as JSON).
    """
    card = _describe(name, dataset)
    if as_json:
        cli.print_json(card)
        return
    from gradeschool.protocols.card import prompt_lines

    console = cli.stdout_console()
    is_protocol = card["kind"] == "protocol"
    about = f"protocol, digest {card['digest']}" if is_protocol else card["kind"]
    _print_part(card, about, card_facts(card), console)
    if not is_protocol:
        return
    console.print("\nParts of the prompt", style="bold")
    parts = ((PART_NAMES.get(key, key), part) for key, part in card["prompt"].items())
    _print_fields([(key, repr(part)) for key, part in parts if key and part], console)
    for scorer in card["scorers"]:
        console.print()
        _print_part({**scorer, "links": ()}, "scorer", [("source", scorer["source"])], console)
    if example := card["example"]:
        id, size = printable(example["problem"], keep=""), f"{example['bytes']:,} bytes"
        console.print(f"\nPrompt of problem {id} of {example['dataset']}, {size}", style="bold")
        console.print(f"SHA-256 {example['sha256']}", style="dim")
        console.rule(style="dim")
        console.print(printable("\n".join(prompt_lines(example))), soft_wrap=True)
        console.rule(style="dim")


def card_facts(card: Card) -> list[tuple[str, str]]:
    """Return the settings of a protocol beside its prompt, or facts of a scorer or vote, in words.

    A fact that is not known is "".
    """
    from gradeschool.reports.measured import temperature_words

    users, source = "\n".join(card.get("protocols", ())), ("source", card["source"])
    if card["kind"] == "vote":
        return [
            source,
            ("voters", f"the first {card['voters']} samples of each problem"),
            ("no answer", f"votes {card['nothing']!r}, which may win"),
            ("part of", users),
        ]
    if card["kind"] == "scorer":
        extra = card["extra"]
        state = "installed" if card["available"] else f"pip install 'gradeschool[{extra}]'"
        return [
            source,
            ("verified", card["verified"]),
            ("part of", users or "no protocol"),
            ("calls", f"{extra} ({state})" if extra else ""),
        ]
    names = [each["name"] for each in card["scorers"]]
    names[0] += " (headline)"
    names += [f"{vote['name']} (vote)" for vote in card["votes"]]
    decoding, shots = card["decoding"], card["shots"]
    how, limit = temperature_words(decoding["temperature"]), decoding["max_tokens"]
    if decoding["temperature"] and decoding["top_p"] is not None:
        how += f", top_p {decoding['top_p']:g}"
    examples = f"{shots['count']} of your own" if shots["count"] else "none"
    if rows := shots["rows"]:
        drawn = shots["drawn_for_each_problem"]
        examples = f"{len(rows)} of {shots['source']}{PLACES.get(shots['place'] or '', '')}, "
        examples += "drawn anew for each problem" if drawn else "the same for every problem"
        if card["example"] or not drawn:
            listed = ", ".join(map(str, rows))
            examples += f"\n{'rows of this problem' if drawn else 'rows'} {listed}"
    return [
        ("form", "chat: messages" if card["form"] == "chat" else "completion: one text"),
        ("dataset", card["dataset"]),
        ("shots", examples),
        ("decoding", f"{how}, {'no length limit' if limit is None else f'{limit} tokens'}"),
        ("stops", " ".join(map(repr, decoding["stop"])) or "none"),
        ("samples", f"{card['samples']} of each problem"),
        ("scorers", "\n".join(names)),
        source,
        ("verified", card["verified"]),
    ]


def _print_part(card: Card, about: str, facts: Iterable[tuple[str, str]], console: Console) -> None:
    """Print a heading, facts, links, and texts that a scorer reads otherwise than a person."""
    from rich.text import Text

    from gradeschool.reports.terminal import simple_table

    console.print(Text.assemble((card["name"], "bold"), (f"  {about}", "dim")), soft_wrap=True)
    console.print(card["summary"])
    _print_fields(facts, console)
    for link in card["links"]:  # without line breaks, so that a terminal can open them
        console.print(f"  {link}", style="dim", soft_wrap=True)
    if quirks := card.get("quirks"):
        table = simple_table(["  completion", "gold", "says", "what it shows"])
        for quirk in quirks:
            says = "no answer" if quirk["says"] == "nothing read" else quirk["says"]
            text = f"  {printable(quirk['completion'], keep='')}"
            table.add_row(text, quirk["gold"], says, quirk["shows"])
        console.print(table)


def _print_fields(rows: Iterable[tuple[str, str]], console: Console) -> None:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        if value:
            table.add_row(f"  {name}", printable(value))
    console.print(table)


def _describe(name: str, dataset: str, usual: str = "") -> dict[str, Any]:
    """Return all about a protocol, scorer or vote; of a protocol with its first problem's prompt.

    A dataset that the user names is fetched; else the dataset `usual`, by default the protocol's
    own, is used if it is on this machine.
    """
    from gradeschool.datasets.load import is_here, load_dataset
    from gradeschool.protocols import card, registry

    protocols, scorers, votes = (
        registry.all_protocols(), registry.all_scorers(), registry.all_votes(),
    )  # fmt: skip
    if name in scorers and name not in protocols:
        return card.describe_scorer(name)
    if name in votes:
        return card.describe_vote(votes[name])
    if name not in protocols and not registry.is_own(name):
        raise UnknownNameError("protocol or scorer", name, {*protocols, *scorers, *votes})
    protocol = registry.get_protocol(name)
    named = dataset or usual or protocol.dataset
    absent = [each for each in (named, protocol.shots) if each and not is_here(each)]
    if absent and not dataset:
        cli.warn(f"no prompt is shown: {', '.join(absent)} is not on this machine; "
             f"run `gradeschool data fetch {' '.join(absent)}`")  # fmt: skip
        return card.describe_protocol(protocol)
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    return card.describe_protocol(protocol, load_dataset(named).problems, shots, named)


@protocols_command.command("diff")
@click.argument("a")
@click.argument("b")
@cli.dataset_option
@cli.json_option
def diff_command(a: str, b: str, dataset: str, as_json: bool) -> None:
    """Compare two protocols, and their prompts of the first problem.

    Example: gradeschool protocols diff lm-eval/gsm8k olmes/gsm8k
    """
    from gradeschool.protocols.card import prompt_difference, protocol_differences

    first = _describe(a, dataset)
    cards = [first, _describe(b, dataset, first.get("dataset", ""))]
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
        return
    if not fields:
        say("every field is the same")
    else:
        from gradeschool.reports.terminal import folded, simple_table

        console = cli.stdout_console()
        width = (console.width - max(map(len, fields)) - 6) // 2
        table = simple_table(["", *(folded(card["name"], width) for card in cards)])
        for field, values in fields.items():
            table.add_row(field, *(
                "none" if value in (None, "", [])
                else "\n".join(folded(str(item), width) for item in value)
                if isinstance(value, list)
                else printable(repr(value) if field.startswith("prompt") else str(value))
                for value in values
            ))  # fmt: skip
        console.print(table)
    if example := first["example"]:
        where = f"problem {example['problem']} of {example['dataset']}"
        say(f"prompts of {where}" if lines else f"the prompts of {where} are the same")
        say("\n".join(lines), end="\n" if lines else "")


@protocols_command.command("prompts")
@click.argument("name")
@cli.dataset_option
@cli.limit_option
def prompts_command(name: str, dataset: str, limit: int | None) -> None:
    """Print every prompt of a protocol as a JSON line, in order."""
    from gradeschool.datasets.load import load_dataset
    from gradeschool.prompts import prompt_json
    from gradeschool.protocols.registry import get_protocol

    protocol = get_protocol(name)
    problems = load_dataset(dataset or protocol.dataset).problems[:limit]
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    for problem, prompt in zip(problems, protocol.render(problems, shots), strict=True):
        say(json.dumps({"id": problem.id, **prompt_json(prompt)}))
