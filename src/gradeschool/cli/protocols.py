"""`gradeschool protocols list | show | diff | prompts`.

`show` and `diff` print cards: all about a protocol, a scorer or a vote, as JSON values.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from difflib import unified_diff
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gradeschool.cli import options as cli
from gradeschool.cli.options import switch
from gradeschool.datasets.load import is_here, load_dataset
from gradeschool.errors import InputError, UnknownNameError
from gradeschool.printable import printable, say
from gradeschool.problem import Problem
from gradeschool.prompts import SHOTS, prompt_bytes, prompt_json
from gradeschool.protocol import LARGEST_SHOT_SOURCE, Protocol, probe_problems
from gradeschool.protocols import registry
from gradeschool.protocols.registry import all_protocols, all_scorers, all_votes
from gradeschool.reports.measured import temperature_words
from gradeschool.reports.terminal import folded, simple_table
from gradeschool.scorer import Scorer, Vote

QUIRK = re.compile(r"^\| ([a-z][^ `|]*) \| `(.+?)` \| (.+?) \| (.+?) \| (.+) \|$", re.MULTILINE)
LINK = re.compile(r"https?://[^\s)>\]`|]+")
VERIFIED = re.compile(r"^- (?:Verified|Versions): (.+(?:\n  .+)*)", re.MULTILINE)
LINE_BREAK = "⏎"  # in the completions of SOURCE.md
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
    facts = []
    if card["kind"] == "protocol":
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
            examples = f"{len(rows)} of {shots['source']}{PLACES[shots['place']]}, "
            examples += "drawn anew for each problem" if drawn else "the same for every problem"
            if card["example"] or not drawn:
                listed = ", ".join(map(str, rows))
                examples += f"\n{'rows of this problem' if drawn else 'rows'} {listed}"
        facts = [
            ("form", "chat: messages" if card["form"] == "chat" else "completion: one text"),
            ("dataset", card["dataset"]),
            ("shots", examples),
            ("decoding", f"{how}, {'no length limit' if limit is None else f'{limit} tokens'}"),
            ("stops", " ".join(map(repr, decoding["stop"])) or "none"),
            ("samples", f"{card['samples']} of each problem"),
            ("scorers", "\n".join(names)),
        ]
    facts += [("source", card["source"]), ("verified", card.get("verified", ""))]
    if card["kind"] == "vote":
        facts += [("voters", f"the first {card['voters']} samples of each problem"),
                  ("no answer", f"votes {card['nothing']!r}, which may win")]  # fmt: skip
    if extra := card.get("extra"):
        state = "installed" if card["available"] else f"pip install 'gradeschool[{extra}]'"
        facts.append(("calls", f"{extra} ({state})"))
    if card["kind"] != "protocol":
        facts.append(("part of", "\n".join(card["protocols"]) or "no protocol"))
    return facts


def _print_part(card: Card, about: str, facts: Iterable[tuple[str, str]], console: Console) -> None:
    """Print a heading, facts, links, and texts that a scorer reads otherwise than a person."""
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
    protocols, scorers, votes = all_protocols(), all_scorers(), all_votes()
    if name in scorers and name not in protocols:
        return describe_scorer(name)
    if name in votes:
        return describe_vote(votes[name])
    if name not in protocols and not registry.is_own(name):
        raise UnknownNameError("protocol or scorer", name, {*protocols, *scorers, *votes})
    protocol = registry.get_protocol(name)
    named = dataset or usual or protocol.dataset
    absent = [each for each in (named, protocol.shots) if each and not is_here(each)]
    if absent and not dataset:
        cli.warn(f"no prompt is shown: {', '.join(absent)} is not on this machine; "
             f"run `gradeschool data fetch {' '.join(absent)}`")  # fmt: skip
        return describe_protocol(protocol)
    examples = load_dataset(protocol.shots).problems if protocol.shots else ()
    return describe_protocol(protocol, load_dataset(named).problems, examples, named)


@protocols_command.command("diff")
@click.argument("a")
@click.argument("b")
@cli.dataset_option
@cli.json_option
def diff_command(a: str, b: str, dataset: str, as_json: bool) -> None:
    """Compare two protocols, and their prompts of the first problem.

    Example: gradeschool protocols diff lm-eval/gsm8k olmes/gsm8k
    """
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
    protocol = registry.get_protocol(name)
    problems = load_dataset(dataset or protocol.dataset).problems[:limit]
    examples = load_dataset(protocol.shots).problems if protocol.shots else ()
    for problem, prompt in zip(problems, protocol.render(problems, examples), strict=True):
        say(json.dumps({"id": problem.id, **prompt_json(prompt)}))


# Cards


class SourceNotes(NamedTuple):
    """What a harness's SOURCE.md says.

    verified: the versions compared with, and what others do otherwise. quirks: completions where a
    scorer differs from a careful reader: {scorer, completion, gold, says (its outcome), shows}.
    """

    text: str
    links: list[str]
    verified: str
    quirks: list[dict[str, str]]


def find_package(name: str) -> ModuleType | None:
    """Return the package with the protocol, scorer or vote of a name, None for a user's own."""
    for package in registry.packages():
        if any(
            name in registry.entries_of(package, kind) for kind in ("PROTOCOLS", "SCORERS", "VOTES")
        ):
            return package
    return None


@cache
def read_source(package: ModuleType | None) -> SourceNotes:
    """Return what a package's SOURCE.md says; all of it is empty without one."""
    files = [Path(folder) / "SOURCE.md" for folder in getattr(package, "__path__", ())]
    text = "".join(file.read_text("utf-8") for file in files if file.is_file())
    verified = " ".join(" ".join(VERIFIED.findall(text)).split())
    links = dict.fromkeys(link.rstrip(".,;:") for link in LINK.findall(text))
    quirks = [
        {"scorer": scorer, "completion": completion.replace(LINE_BREAK, "\n"), "gold": gold,
         "says": says, "shows": shows}
        for scorer, completion, gold, says, shows in QUIRK.findall(text)
    ]  # fmt: skip
    return SourceNotes(text, list(links), verified, quirks)


def describe_scorer(name: str) -> dict[str, Any]:
    """Return all about a scorer; UnknownNameError lists similar names.

    A function of the user ("my.py:f") is described, not called.
    """
    source = read_source(find_package(name))
    users = [protocol.name for protocol in all_protocols().values() if name in protocol.scorers]
    facts = {"summary": "a function of your own", "source": name, "extra": None, "available": True}
    if ":" not in name:
        scorer = registry.get_scorer(name)
        facts = {"summary": scorer.summary, "source": scorer.source, "extra": scorer.extra or None,
                 "available": registry.available(scorer)}  # fmt: skip
    return {
        "kind": "scorer",
        "name": name,
        **facts,
        "verified": source.verified,
        "links": source.links,
        # The protocol that the scorer is named after comes first.
        "protocols": sorted(users, key=lambda user: not name.startswith(f"{user}/")),
        "quirks": [quirk for quirk in source.quirks if quirk["scorer"] == name],
    }


def describe_vote(vote: Vote) -> dict[str, Any]:
    """Return all about a vote."""
    return {
        "kind": "vote",
        **{key: getattr(vote, key) for key in ("name", "summary", "source", "voters", "nothing")},
        "links": read_source(find_package(vote.name)).links,
        "protocols": [each.name for each in all_protocols().values() if vote.name in each.votes],
    }


def describe_protocol(
    protocol: Protocol,
    problems: Sequence[Problem] = (),
    examples: Sequence[Problem] = (),
    dataset: str = "",
) -> dict[str, Any]:
    """Return all about a protocol: its prompts, decoding, scorers and sources.

    "prompt": its parts exact to the character. "shots": "place" ("text", "system", "user", "turns")
    and "rows" of the first problem's examples in their source. "example": the prompt of the first
    problem with the SHA-256 of its bytes (`prompt_bytes`), None without problems.
    """
    template, is_turns = protocol.render, protocol.render.form == "turns"
    before = template.shot or template.question
    shot = f"user: {before}\nassistant: {template.answer}" if is_turns else before + template.answer
    source = read_source(find_package(protocol.base or protocol.name))
    place: str | None = None
    example, rows = None, list[int]()
    if template.answer and protocol.shots:
        place = "user" if template.form == "message" else template.form
        place = "system" if SHOTS in (template.system or "") else place
        chosen: Sequence[int] = range(protocol.shot_count)
        if callable(template.rows):  # without the source, drawn from one as large as GSM8K's
            known = examples or probe_problems(LARGEST_SHOT_SOURCE)
            drawn = template.rows(problems or probe_problems(1), known, template.count or 0)
            chosen = next(drawn)
        elif template.rows is not None:
            chosen = template.rows[: template.count]
        rows = list(chosen)
    if problems:
        prompt = next(protocol.render(problems, examples))
        content = prompt_bytes(prompt)
        example = {
            "dataset": dataset,
            "problem": problems[0].id,
            "gold": problems[0].gold,
            **prompt_json(prompt),
            "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
    return {
        "kind": "protocol",
        "name": protocol.name,
        "digest": protocol.digest(),
        "base": protocol.base or None,
        "changes": dict(protocol.changes),
        "summary": protocol.summary,
        "source": protocol.source,
        "verified": source.verified,
        "links": source.links,
        "form": "chat" if protocol.is_chat else "completion",
        "dataset": protocol.dataset,
        "prompt": {
            "system": template.system,
            "opening": template.opening if rows else "",
            "shot": shot if rows else "",
            "joiner": template.joiner if rows and not is_turns else "",
            "question": template.question,
            "prefix": template.prefix,
        },
        "shots": {
            "source": protocol.shots or None,
            "count": protocol.shot_count,
            "place": place,
            "rows": rows,
            "drawn_for_each_problem": callable(template.rows),
        },
        "decoding": {**asdict(protocol.decoding), "stop": list(protocol.decoding.stop)},
        "samples": protocol.samples,
        "scorers": [describe_scorer(name) for name in protocol.scorers],
        "votes": [describe_vote(all_votes()[name]) for name in protocol.votes],
        "example": example,
    }


def protocol_differences(
    first: dict[str, Any], second: dict[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """Return the fields of two protocols that differ, except names and those in other words."""

    def fields(card: dict[str, Any]) -> dict[str, Any]:
        readers = [each["name"] for each in (*card["scorers"], *card["votes"])]
        flat = {"scorers": readers, **{key: card[key] for key in ("form", "dataset")}}
        for group in ("prompt", "shots", "decoding"):
            flat |= {f"{group}: {key}": value for key, value in card[group].items()}
        return {**flat, "samples": card["samples"]}

    one, other = fields(first), fields(second)
    return {name: (value, other[name]) for name, value in one.items() if value != other[name]}


def prompt_lines(shown: dict[str, Any]) -> list[str]:
    """Return a prompt (`prompt_json`) as lines: of its text, or of each message under its role."""
    if "prompt" in shown:
        return str(shown["prompt"]).split("\n")
    roles = [turn["role"] for turn in shown["messages"]]
    if shown.get("continue_final_message"):
        roles[-1] += ", to be continued"
    turns = zip(roles, (turn["content"] for turn in shown["messages"]), strict=True)
    return [line for role, text in turns for line in (f"[{role}]", *text.split("\n"))]


def prompt_difference(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    """Return the unified diff of two prompts of the same problem; empty if they are equal."""
    if first["example"] is None or second["example"] is None:
        return []
    one, other = (prompt_lines(card["example"]) for card in (first, second))
    return list(unified_diff(one, other, first["name"], second["name"], n=1, lineterm=""))
