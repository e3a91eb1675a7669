"""Print protocols, scorers and votes in the terminal: one, or the difference of two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isclose
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gradeschool.completion import Decoding
from gradeschool.percentages import p_value, percent, point_bounds
from gradeschool.prompts import prompt_bytes
from gradeschool.protocols.card import (
    PromptExample,
    ProtocolCard,
    Quirk,
    ScorerCard,
    prompt_lines,
    vote_json,
)
from gradeschool.reports.measured import temperature_words
from gradeschool.reports.printable import printable
from gradeschool.reports.terminal import FOLDED_SCORER, GAP, folded, simple_table
from gradeschool.scoring.compare import ScoreDelta
from gradeschool.vote import Vote

PLACES = {
    "text": "in the text before the question",
    "system": "in the system message",
    "user": "in the user's message before the question",
    "turns": "as turns of the chat",
}
PART_NAMES = {"shot": "one shot", "joiner": "between", "prefix": "answer begun"}
STYLES = {"+": "green", "-": "red", "@": "dim"}


def print_protocol(card: ProtocolCard, console: Console) -> None:
    """Print everything about a protocol; the exact prompt of its example comes last."""
    protocol, example = card.protocol, card.example
    _print_heading(protocol.name, f"protocol, digest {protocol.digest()}", protocol.summary,
                   console)  # fmt: skip
    _print_fields(facts(card), console)
    _print_links(card.links, console)
    console.print("\nParts of the prompt", style="bold")
    _print_fields(parts(card), console)
    for scorer in card.scorers:
        console.print()
        _print_heading(scorer.scorer.name, "scorer", scorer.scorer.summary, console)
        _print_fields([("source", scorer.scorer.source)], console)
        _print_quirks(scorer.quirks, console)
    if example is None:
        return
    size, id = len(prompt_bytes(example.prompt)), printable(example.problem.id, keep="")
    console.print(f"\nPrompt of problem {id} of {example.dataset}, {size:,} bytes", style="bold")
    console.print(f"SHA-256 {example.sha256}", style="dim")
    console.rule(style="dim")
    console.print(printable("\n".join(prompt_lines(example.prompt))), soft_wrap=True)
    console.rule(style="dim")


def print_scorer(card: ScorerCard, console: Console) -> None:
    """Print everything about a scorer."""
    scorer = card.scorer
    _print_heading(scorer.name, "scorer", scorer.summary, console)
    rows = [("source", scorer.source), ("verified", card.verified),
            ("part of", "\n".join(card.protocols) or "no protocol")]  # fmt: skip
    if scorer.extra:
        state = "installed" if card.available else f"pip install 'gradeschool[{scorer.extra}]'"
        rows.append(("calls", f"{scorer.extra} ({state})"))
    _print_fields(rows, console)
    _print_links(card.links, console)
    _print_quirks(card.quirks, console)


def print_vote(vote: Vote, console: Console) -> None:
    """Print everything about a vote."""
    about = vote_json(vote)
    _print_heading(vote.name, "vote", vote.summary, console)
    rows = [
        ("source", vote.source),
        ("voters", f"the first {vote.voters} samples of each problem"),
        ("no answer", f"votes {vote.nothing!r}, which may win"),
        ("part of", "\n".join(about["protocols"])),
    ]
    _print_fields(rows, console)
    _print_links(about["links"], console)


def facts(card: ProtocolCard) -> list[tuple[str, str]]:
    """Return the settings of a protocol beside its prompt, in words."""
    protocol = card.protocol
    scorers = [f"{name}{' (headline)' * (not at)}" for at, name in enumerate(protocol.scorers)]
    return [
        ("form", "chat: messages" if protocol.is_chat else "completion: one text"),
        ("dataset", protocol.dataset),
        ("shots", _shots(card)),
        ("decoding", decoding(protocol.decoding)),
        ("stops", " ".join(map(repr, protocol.decoding.stop)) or "none"),
        ("samples", f"{protocol.samples} of each problem"),
        ("scorers", "\n".join([*scorers, *(f"{vote.name} (vote)" for vote in card.votes)])),
        ("source", protocol.source),
        ("verified", card.verified),
    ]


def parts(card: ProtocolCard) -> list[tuple[str, str]]:
    """Return the existing parts of the prompt, exact to the character."""
    return [(PART_NAMES.get(name, name), repr(part)) for name, part in card.parts().items() if part]


def decoding(chosen: Decoding) -> str:
    """Return a decoding in words."""
    how = temperature_words(chosen.temperature)
    if chosen.temperature and chosen.top_p is not None:
        how += f", top_p {chosen.top_p:g}"
    limit = "no length limit" if chosen.max_tokens is None else f"{chosen.max_tokens} tokens"
    return f"{how}, {limit}"


def _shots(card: ProtocolCard) -> str:
    protocol = card.protocol
    if not card.rows:
        return f"{protocol.shot_count} of your own" if protocol.shot_count else "none"
    drawn = "drawn anew for each problem" if card.redrawn else "the same for every problem"
    where = PLACES[card.place()]
    words = f"{len(card.rows)} of {protocol.shots}, {where}, {drawn}"
    if card.redrawn and not card.example:
        return words
    rows = ", ".join(map(str, card.rows))
    return f"{words}\n{'rows of this problem' if card.redrawn else 'rows'} {rows}"


def _print_heading(name: str, kind: str, summary: str, console: Console) -> None:
    console.print(Text.assemble((name, "bold"), (f"  {kind}", "dim")), soft_wrap=True)
    console.print(summary)


def _print_fields(rows: Sequence[tuple[str, str]], console: Console) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        if value:
            table.add_row(f"  {name}", printable(value))
    console.print(table)


def _print_links(links: Iterable[str], console: Console) -> None:
    """Print links without line breaks, so that a terminal can open them."""
    for link in links:
        console.print(f"  {link}", style="dim", soft_wrap=True)


def _print_quirks(quirks: Sequence[Quirk], console: Console) -> None:
    if not quirks:
        return
    table = simple_table(["  completion", "gold", "says", "what it shows"])
    for quirk in quirks:
        says = "no answer" if quirk.says == "nothing read" else quirk.says
        table.add_row(f"  {printable(quirk.completion, keep='')}", quirk.gold, says, quirk.shows)
    console.print(table)


def print_differences(
    differences: Mapping[str, tuple[Any, Any]], names: tuple[str, str], console: Console
) -> None:
    """Print the fields of two protocols that differ, side by side."""
    if not differences:
        console.print("every field is the same")
        return
    width = (console.width - max(map(len, differences)) - 3 * GAP) // 2
    table = simple_table(["", *(folded(name, width) for name in names)])
    for field, values in differences.items():
        table.add_row(field, *(_field_text(field, value, width) for value in values))
    console.print(table)


def print_prompt_difference(
    lines: Sequence[str], example: PromptExample | None, console: Console
) -> None:
    """Print the unified diff of the two prompts of a problem."""
    if example is None:
        return
    where = f"problem {printable(example.problem.id, keep='')} of {example.dataset}"
    if not lines:
        console.print(f"the prompts of {where} are the same")
        return
    console.print(f"prompts of {where}", style="bold")
    for line in lines:
        console.print(Text(printable(line), style=STYLES.get(line[:1], "")), soft_wrap=True)


def print_splits(
    splits: Sequence[tuple[Quirk, str, str]], names: tuple[str, str], console: Console
) -> None:
    """Print the known quirks that distinguish two scorers."""
    if not splits:
        console.print("they agree on every completion on which either is known to be unusual")
        return
    table = simple_table(["completion", "gold", *(folded(name, FOLDED_SCORER) for name in names)])
    for quirk, *outcomes in splits:
        words = (outcome.replace("_", " ") for outcome in outcomes)
        table.add_row(printable(quirk.completion, keep=""), quirk.gold, *words)
    console.print(table)


def print_moves(moves: Sequence[ScoreDelta], names: tuple[str, str], console: Console) -> None:
    """Print the difference in points between two scorers on the same runs."""
    console.print(f"the same completions scored by {names[0]}, then by {names[1]}", style="bold")
    table = simple_table(["run", "n", "first", "second", "points", "95 % interval", "flips", "p"])
    for item in moves:
        table.add_row(
            printable(item.run, keep=""),
            str(item.n),
            *(
                percent(correct / item.n) if item.n else "-"
                for correct in (item.before, item.after)
            ),
            f"{item.points:+z.2f}",
            point_bounds(item.interval),
            f"-{item.lost} +{item.gained}",
            p_value(item.p),
        )
    console.print(table)
    shares = [100 * (item.after - item.before) / item.n if item.n else 0 for item in moves]
    if not all(
        isclose(item.points, share, abs_tol=1e-9) for item, share in zip(moves, shares, strict=True)
    ):
        console.print("Unequal numbers of samples: in the difference each problem counts once.")
    lost, gained = sum(move.lost for move in moves), sum(move.gained for move in moves)
    total = sum(move.n for move in moves)
    console.print(f"{lost + gained} of {total} verdicts change: {lost} from correct, "
                  f"{gained} to correct")  # fmt: skip


def _field_text(field: str, value: Any, width: int) -> str:
    """Format a value: parts of a prompt exact to the character, lists with one word per line."""
    if value is None:
        return "not set"
    if value in ("", []):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        words = any(isinstance(item, str) for item in value)
        lines = [folded(item, width) if field == "scorers" else str(item) for item in value]
        return printable(("\n" if words else ", ").join(lines))
    return printable(repr(value) if field.startswith("prompt") else str(value))
