"""Disagreements between rules for the terminal: what each read, marked in the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from gradeschool.reports.printable import printable
from gradeschool.rule import Rule, clip
from gradeschool.scoring.explain import Disagreement
from gradeschool.verdict import Verdict

STYLES = ("bold black on green", "bold black on yellow", "bold black on cyan", "bold on magenta")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# A completion of up to SHORT characters is shown whole, of a longer one CONTEXT around what was
# read, and its end.
SHORT, CONTEXT, END = 1000, 200, 120
QUESTION = 400


def print_disagreements(
    found: Sequence[Disagreement], rules: Sequence[Rule], total: int, limit: int, console: Console
) -> None:
    """Print counts by kind, then up to `limit` completions with their verdicts."""
    names = f"{', '.join(rule.name for rule in rules[:-1])} and {rules[-1].name}"
    kinds = Counter(one.kind for one in found)
    console.print(f"{names} differ on {len(found)} of {total} completions", soft_wrap=True)
    for kind, count in kinds.most_common():
        console.print(f"  {count:6d}  {kind.replace('_', ' ')}")
    for one in _examples(found, limit):
        _print_one(one, console)
    if 0 < limit < len(found):
        console.print(f"\n{len(found) - limit} more; show them with -n {len(found)}")


def _examples(found: Sequence[Disagreement], limit: int) -> list[Disagreement]:
    """Choose examples of every kind in turn, and put them in the order of the file."""
    turns: Counter[str] = Counter()
    ranked = []
    for at, one in enumerate(found):
        turns[one.kind] += 1
        ranked.append((turns[one.kind], at))
    return [found[at] for at in sorted(at for _, at in sorted(ranked)[:limit])]


def _print_one(one: Disagreement, console: Console) -> None:
    run = clip(printable(one.run, keep=""))
    head = f"{run}, problem {printable(one.problem.id)}, sample {one.sample}, row {one.row}"
    console.print()
    console.rule(Text(head), align="left")
    console.print(Text(printable(clip(one.problem.question, QUESTION)), "italic"))
    console.print(Text.assemble("gold ", (printable(one.problem.gold), "bold"), "\n"))
    console.print(_marked(one))
    console.print()
    for at, verdict in enumerate(one.verdicts):
        outcome = verdict.outcome.value.replace("_", " ")
        console.print(
            Text.assemble(
                (f"{_letter(at)} {verdict.rule}", _style(at)),
                f"  {outcome}: {printable(verdict.reason)}",
            )
        )


def _letter(at: int) -> str:
    return LETTERS[at % len(LETTERS)]


def _style(at: int) -> str:
    return STYLES[at % len(STYLES)]


class _Span(NamedTuple):
    """What the rule with number `at` read."""

    start: int
    end: int
    at: int


def _marked(one: Disagreement) -> Text:
    """Return the completion with what each rule read in brackets with its letter, and coloured."""
    spans = [
        _Span(*verdict.answer.span, at)
        for at, verdict in enumerate(one.verdicts)
        if verdict.answer and verdict.answer.span
    ]
    marked = Text()
    for low, high in _windows(spans, len(one.text)):
        if low:
            marked.append(" …\n… " if marked else "… ")
        edges = {edge for span in spans for edge in span[:2] if low <= edge <= high}
        places = sorted({low, high, *edges})
        for place, following in zip(places, [*places[1:], high], strict=True):
            _append_brackets(marked, spans, place)
            inside = [span.at for span in spans if span.start <= place < following <= span.end]
            marked.append(
                printable(one.text[place:following]), _style(inside[-1]) if inside else ""
            )
    return marked


def _append_brackets(marked: Text, spans: Sequence[_Span], place: int) -> None:
    """Append the brackets of a place: those that close, empty ones, those that open."""
    for span in reversed(spans):
        if span.start < span.end == place:
            marked.append("]", _style(span.at))
    for span in spans:
        if span.start == place:
            empty = span.end == place
            marked.append(f"[{_letter(span.at)}:{']' if empty else ''}", _style(span.at))


def _windows(spans: Sequence[_Span], length: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text that are shown, in order."""
    if length <= SHORT:
        yield 0, length
        return
    edges = sorted({edge for span in spans for edge in span[:2]})
    parts = [(max(0, edge - CONTEXT), min(length, edge + CONTEXT)) for edge in edges]
    low, high = (parts or [(length - SHORT, length)])[0]
    for start, end in [*parts[1:], (length - END, length)]:
        if start > high:
            yield low, high
            low = start
        high = max(high, end)
    yield low, high


def as_json(one: Disagreement) -> dict[str, Any]:
    """Return a disagreement as JSON values."""
    return {
        "run": one.run,
        "problem": one.problem.id,
        "sample": one.sample,
        "row": one.row,
        "gold": one.problem.gold,
        "completion": one.text,
        "kind": one.kind,
        "verdicts": [_verdict_json(verdict) for verdict in one.verdicts],
    }


def _verdict_json(verdict: Verdict) -> dict[str, Any]:
    answer = verdict.answer
    return {
        "rule": verdict.rule,
        "outcome": verdict.outcome.value,
        "reason": verdict.reason,
        "read": answer.text if answer else None,
        "value": answer.value if answer else None,
        "span": list(answer.span) if answer and answer.span else None,
    }
