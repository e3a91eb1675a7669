"""Print protocols, scorers and votes in the terminal: one, or the difference of two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gradeschool.protocols.card import prompt_lines
from gradeschool.reports.measured import temperature_words
from gradeschool.reports.printable import printable
from gradeschool.reports.terminal import GAP, folded, simple_table

PLACES = {
    "text": ", in the text before the question",
    "system": ", in the system message",
    "user": ", in the user's message before the question",
    "turns": ", as turns of the chat",
}
PART_NAMES = {"shot": "one shot", "joiner": "between", "prefix": "answer begun", "template": ""}
STYLES = {"+": "green", "-": "red", "@": "dim"}
Card = Mapping[str, Any]


def print_card(card: Card, console: Console) -> None:
    """Print everything about a protocol, scorer or vote (`gradeschool.protocols.card`).

    The exact prompt of a protocol's example comes last.
    """
    kind = card["kind"]
    about = f"protocol, digest {card['digest']}" if kind == "protocol" else kind
    _print_part(card, about, card_facts(card), console)
    if kind != "protocol":
        return
    console.print("\nParts of the prompt", style="bold")
    parts = ((PART_NAMES.get(name, name), part) for name, part in card["prompt"].items())
    _print_fields([(name, repr(part)) for name, part in parts if name and part], console)
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


def print_difference(
    cards: Sequence[Card],
    fields: Mapping[str, tuple[Any, Any]],
    lines: Sequence[str],
    console: Console,
) -> None:
    """Print the fields of two protocols that differ, and the unified diff of their prompts."""
    if fields:
        width = (console.width - max(map(len, fields)) - 3 * GAP) // 2
        table = simple_table(["", *(folded(card["name"], width) for card in cards)])
        for field, values in fields.items():
            cells = []
            for value in values:
                text = repr(value) if field.startswith("prompt") and value else str(value)
                if isinstance(value, list):
                    text = "\n".join(folded(str(item), width) for item in value)
                cells.append("none" if value in (None, "", []) else printable(text))
            table.add_row(field, *cells)
        console.print(table)
    else:
        console.print("every field is the same")
    if (example := cards[0]["example"]) is None:
        return
    where = f"problem {printable(example['problem'], keep='')} of {example['dataset']}"
    if not lines:
        console.print(f"the prompts of {where} are the same")
        return
    console.print(f"prompts of {where}", style="bold")
    for line in lines:
        console.print(Text(printable(line), style=STYLES.get(line[:1], "")), soft_wrap=True)
