"""Completions with their extracted answers and causes in the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from textwrap import fill
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from gradeschool.percentages import percent
from gradeschool.reports.printable import printable
from gradeschool.reports.terminal import print_more
from gradeschool.scorer import Scorer, clip
from gradeschool.scoring.causes import LETTERS, Case, Side, VerdictCause, by_group
from gradeschool.verdict import Outcome, Verdict

# A completion of up to SHORT characters is shown whole; for a longer one, its end and CONTEXT
# characters around each extracted answer.
SHORT, CONTEXT, END = 1000, 200, 120


class Mark(NamedTuple):
    """A part of a text, from start to end, with its own letter and style."""

    start: int
    end: int
    letter: str
    style: str


def marked(text: str, marks: Sequence[Mark]) -> Text:
    """Return a completion with each mark coloured and in brackets with its letter."""
    shown = Text()
    for low, high in _windows(marks, len(text)):
        if low:
            shown.append(" …\n… " if shown else "… ")
        edges = {edge for mark in marks for edge in mark[:2] if low <= edge <= high}
        places = sorted({low, high, *edges})
        for place, following in zip(places, [*places[1:], high], strict=True):
            _append_brackets(shown, marks, place)
            inside = [mark.style for mark in marks if mark.start <= place < following <= mark.end]
            shown.append(printable(text[place:following]), inside[-1] if inside else "")
    return shown


def _append_brackets(shown: Text, marks: Sequence[Mark], place: int) -> None:
    """Append the brackets at a position: closing ones, empty ones, opening ones."""
    for mark in reversed(marks):
        if mark.start < mark.end == place:
            shown.append("]", mark.style)
    for mark in marks:
        if mark.start == place:
            empty = mark.end == place
            shown.append(f"[{mark.letter}:{']' if empty else ''}", mark.style)


def _windows(marks: Sequence[Mark], length: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text that are shown, in order."""
    if length <= SHORT:
        yield 0, length
        return
    edges = sorted({edge for mark in marks for edge in mark[:2]})
    parts = [(max(0, edge - CONTEXT), min(length, edge + CONTEXT)) for edge in edges]
    low, high = (parts or [(length - SHORT, length)])[0]
    for start, end in [*parts[1:], (length - END, length)]:
        if start > high:
            yield low, high
            low = start
        high = max(high, end)
    yield low, high


INDENT = "  "
STYLES = ("bold black on green", "bold black on yellow", "bold black on cyan", "bold on magenta")
# The style of the text that shows the cause, if it is no scorer's extracted answer.
EVIDENCE, EVIDENCE_STYLE = "!", "bold red"
QUESTION = 400
# With more scorers than styles, one line says how many are right, and scorers that extract the same
# answer share a line.
MOST_KINDS = 12


def print_disagreements(
    cases: Sequence[Case], scorers: Sequence[Scorer], total: int, limit: int, console: Console
) -> None:
    """Print on how many completions scorers differ, then groups and examples."""
    names = f"{', '.join(scorer.name for scorer in scorers[:-1])} and {scorers[-1].name}"
    names = f"{len(scorers)} scorers" if _many(len(scorers)) else names
    console.print(f"{names} differ on {len(cases)} of {total} completions", soft_wrap=True)
    _print_groups(cases, len(cases), limit, console)


def print_flags(cases: Sequence[Case], scorer: str, total: int, console: Console) -> None:
    """Print on how many of `total` flagged completions the file and a scorer differ."""
    wrong = sum(not case.flag for case in cases)
    console.print(
        f"the file's own flags and {scorer} differ on {len(cases):,} of {total:,} completions: "
        f"{wrong:,} that the file calls wrong, {len(cases) - wrong:,} that it calls correct",
        soft_wrap=True,
    )


def print_causes(
    cases: Sequence[Case],
    scorer: Scorer,
    right: int,
    total: int,
    errors: int,
    limit: int,
    console: Console,
) -> None:
    """Print how many completions a scorer calls correct, why it misses others, and examples.

    right, errors: how many of the `total` completions are correct, and are errors.
    """
    judged = total - errors
    share = f" ({percent(right / judged)})" if judged else ""
    failed = f", {errors} errors" if errors else ""
    console.print(f"{scorer.name}: {right} of {judged} correct{share}{failed}", soft_wrap=True)
    _print_groups(cases, total, limit, console)


def print_cases(cases: Sequence[Case], limit: int, console: Console) -> None:
    """Print completions one after the other."""
    for case in cases[:limit]:
        _print_one(case, console)
    print_more(len(cases), limit, console)


def _print_groups(cases: Sequence[Case], total: int, limit: int, console: Console) -> None:
    """Print the counts of the groups, most frequent first, and examples of every group."""
    groups = by_group(cases)
    counted: Counter[str] = Counter()
    width = max((len(_kind(group[0])) for group in groups), default=0)
    for group in groups:
        counted[_heading(group[0], width)] += len(group)
    for heading, count in counted.most_common(MOST_KINDS):
        share = f"{percent(count / total, 1):>7}"
        console.print(f"{count:6d}  {share}  {heading}".rstrip(), soft_wrap=True)
    if len(counted) > MOST_KINDS:
        rest = counted.total() - sum(count for _, count in counted.most_common(MOST_KINDS))
        others = f"{len(counted) - MOST_KINDS} others"
        console.print(f"{rest:6d}  {percent(rest / total, 1):>7}  {others}")
    shown = _fair([len(group) for group in groups], limit)
    for group, count in zip(groups, shown, strict=True):
        for case in group[:count]:
            _print_one(case, console)
    print_more(len(cases), limit, console)


def _many(scorers: int) -> bool:
    return scorers > len(STYLES)


def _heading(case: Case, width: int) -> str:
    """Return the heading of a case's group; for many scorers, how many have it right."""
    if _many(len(case.verdicts)):
        outcomes = Counter(verdict.outcome for verdict in case.verdicts)
        return ", ".join(
            f"{outcomes[outcome]:2d} {outcome.value.replace('_', ' ')}"
            for outcome in Outcome
            if outcomes[outcome]
        )
    kind = f"{_kind(case):{width}}  " if len(case.causes) > 1 else ""
    return f"{kind}{case.group}"


def _kind(case: Case) -> str:
    return case.kind.replace("_", " ")


def _fair(sizes: Sequence[int], limit: int) -> list[int]:
    """Distribute a number of examples: one for each group in turn while it has more."""
    turns = sorted(
        (turn, index) for index, size in enumerate(sizes) for turn in range(min(size, limit))
    )
    chosen = Counter(position for _, position in turns[:limit])
    return [chosen[index] for index in range(len(sizes))]


class _Line(NamedTuple):
    """A verdict of one or several scorers, with its letter and style."""

    letter: str
    style: str
    names: tuple[str, ...]
    verdict: Verdict
    causes: tuple[VerdictCause | None, ...]


def _print_one(case: Case, console: Console) -> None:
    run = clip(printable(case.run, keep=""))
    head = f"{run}, problem {printable(case.problem.id)}, sample {case.sample}, row {case.row}"
    console.print()
    console.rule(Text(head), align="left")
    console.print(Text(printable(clip(case.problem.question, QUESTION)), "italic"))
    console.print(Text.assemble("gold ", (printable(case.problem.gold), "bold"), "\n"))
    lines = _lines(case)
    if case.verdicts:
        console.print(marked(case.text, _marks(lines)))
        console.print()
    for line in lines:
        outcome = line.verdict.outcome.value.replace("_", " ")
        who = line.names[0] if len(line.names) == 1 else f"{len(line.names)} scorers"
        reason = f"  {outcome}: {printable(line.verdict.reason)}"
        console.print(Text.assemble((f"{line.letter} {who}", line.style), reason))
        if len(line.names) > 1:
            console.print(_indented(line.names, console.width), soft_wrap=True)
    for cause in dict.fromkeys(cause for cause in case.causes if cause):
        console.print(_because(case, cause, lines))


def _indented(names: Sequence[str], width: int) -> str:
    return fill(", ".join(names), width, initial_indent=INDENT, subsequent_indent=INDENT,
                break_long_words=False, break_on_hyphens=False)  # fmt: skip


def _because(case: Case, cause: VerdictCause, lines: Sequence[_Line]) -> Text:
    """Return the line with a cause; with several scorers, it begins with their letters."""
    alone = len(case.causes) == 1 or cause.side is Side.TEXT
    letters = [line.letter for line in lines if cause in line.causes]
    about = "" if alone else f"{', '.join(letters)} "
    return Text.assemble((f"→ {about}{cause}", "bold"), f": {printable(cause.cause.evidence)}")


def _lines(case: Case) -> list[_Line]:
    """Return one line per scorer, or if there are many, one for all that agree."""
    many = _many(len(case.verdicts))
    alike: dict[object, list[int]] = {}
    for index, verdict in enumerate(case.verdicts):
        answer = verdict.answer
        read = (answer.value, answer.span) if answer else None
        key = (verdict.outcome, read) if many else index
        alike.setdefault(key, []).append(index)
    lines = []
    for number, members in enumerate(sorted(alike.values(), key=len, reverse=many)):
        first = members[0]
        names = tuple(case.verdicts[member].scorer for member in members)
        style = STYLES[number % len(STYLES)]
        letter = LETTERS[number % len(LETTERS)]
        causes = tuple(case.causes[member] for member in members)
        lines.append(_Line(letter, style, names, case.verdicts[first], causes))
    return lines


def _marks(lines: Sequence[_Line]) -> list[Mark]:
    """Return the marks of extracted answers, and of other text that shows the cause."""
    marks = [
        Mark(*line.verdict.answer.span, line.letter, line.style)
        for line in lines
        if line.verdict.answer and line.verdict.answer.span
    ]
    causes = [line.causes[0] for line in lines]
    shown = {cause.cause.span for cause in causes if cause and cause.cause.span}
    return marks + [
        Mark(start, end, EVIDENCE, EVIDENCE_STYLE)
        for start, end in sorted(shown)
        if not any(mark.start <= start and end <= mark.end for mark in marks)
    ]


def as_json(case: Case) -> dict[str, Any]:
    """Return a completion with its verdicts and causes as JSON values."""
    return {
        "run": case.run,
        "problem": case.problem.id,
        "sample": case.sample,
        "row": case.row,
        "gold": case.problem.gold,
        "completion": case.text,
        "kind": case.kind,
        "group": case.group,
        "verdicts": [_verdict_json(verdict) for verdict in case.verdicts],
        "causes": [_cause_json(cause) for cause in case.causes],
        **({} if case.flag is None else {"flag": case.flag}),
    }


def _verdict_json(verdict: Verdict) -> dict[str, Any]:
    answer = verdict.answer
    return {
        "scorer": verdict.scorer,
        "outcome": verdict.outcome.value,
        "reason": verdict.reason,
        "read": answer.text if answer else None,
        "value": answer.value if answer else None,
        "span": list(answer.span) if answer and answer.span else None,
    }


def _cause_json(explained: VerdictCause | None) -> dict[str, Any] | None:
    if explained is None:
        return None
    cause = explained.cause
    return {
        "side": explained.side.value,
        "cause": cause.failure.value,
        "evidence": cause.evidence,
        "span": list(cause.span) if cause.span else None,
    }
