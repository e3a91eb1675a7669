"""Completions with their extracted answers, verdicts and causes: in the terminal and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import cycle
from string import ascii_uppercase as LETTERS
from textwrap import fill
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from gradeschool.datasets.platinum import LabelChanges
from gradeschool.formats.samples import Sample
from gradeschool.percentages import percent
from gradeschool.problem import Problem
from gradeschool.reports.printable import printable
from gradeschool.reports.terminal import print_more
from gradeschool.scorer import Scorer, clip
from gradeschool.scoring.causes import Side, VerdictCause, explained_samples
from gradeschool.scoring.samples import Run
from gradeschool.scoring.table import ScoredTable
from gradeschool.verdict import Outcome, Verdict

# A completion of up to SHORT characters is shown whole; for a longer one, its end and CONTEXT
# characters around each extracted answer.
SHORT, CONTEXT, END = 1000, 200, 120
QUESTION = 400  # characters
STYLES = ("bold black on green", "bold black on yellow", "bold black on cyan", "bold on magenta")
# Of the text that shows the cause, if it is no scorer's extracted answer.
EVIDENCE, EVIDENCE_STYLE = "!", "bold red"
MOST_KINDS = 12  # lines of counts


class Case(NamedTuple):
    """A completion, its verdicts in the order of the scorers, and the cause of each.

    A cause is None if the scorer agrees with the answer extractor. A missing completion has no
    verdicts and one cause. kind: the outcomes, "correct / no_answer". group: the causes as words
    that can be counted, "" if there is none.
    """

    run: str
    sample: Sample
    problem: Problem
    verdicts: tuple[Verdict, ...]
    causes: tuple[VerdictCause | None, ...]
    kind: str
    group: str

    @property
    def failed(self) -> bool:
        """True if there is nothing to judge: no completion, or every scorer failed on it."""
        return all(verdict.outcome is Outcome.ERROR for verdict in self.verdicts)


def explained_cases(
    runs: Iterable[Run],
    scorers: Sequence[Scorer],
    changes: Mapping[str, LabelChanges],
    disagreements: bool,
) -> Iterator[Case]:
    """Yield the completions of runs with verdicts and causes, in file order.

    changes: of labels, by the name of the run. disagreements: only completions on which the
    scorers' outcomes differ. Rows without a problem are left out.
    """
    for run in runs:
        table = ScoredTable(run, scorers)
        for sample, verdicts, causes, _ in explained_samples(
            table, changes.get(run.name, {}), disagreements
        ):
            assert sample.problem is not None  # noqa: S101  (for the type checker)
            kind = " / ".join(verdict.outcome.value for verdict in verdicts)
            # Of several scorers, those that err are named; if none does, why the text is not right.
            named = zip(cycle(LETTERS), causes, strict=False)
            erring = [f"{letter} {cause}" for letter, cause in named
                      if cause and cause.side is not Side.TEXT and len(causes) > 1]  # fmt: skip
            group = ", ".join(erring or [str(cause) for cause in causes if cause][:1])
            yield Case(run.name, sample, sample.problem, verdicts, causes, kind, group)


def print_groups(cases: Sequence[Case], total: int, limit: int, console: Console) -> None:
    """Print how often each group of causes and outcomes occurs, then examples of each in turn.

    total: what the shares are of. limit: most examples.
    """
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        kind = case.kind.replace("_", " ") if len(case.causes) > 1 else ""
        groups.setdefault((kind, case.group), []).append(case)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    width = max((len(kind) for kind, _ in groups), default=0)
    counted: Counter[str] = Counter()
    for (kind, causes), group in ordered:
        heading = f"{kind:{width}}  {causes}" if kind else causes
        if len(group[0].verdicts) > len(STYLES):  # too many to name
            outcomes = Counter(verdict.outcome for verdict in group[0].verdicts)
            heading = ", ".join(f"{outcomes[each]:2d} {each.value.replace('_', ' ')}"
                                for each in Outcome if outcomes[each])  # fmt: skip
        counted[heading] += len(group)
    lines = counted.most_common(MOST_KINDS)
    if rest := counted.total() - sum(number for _, number in lines):
        lines.append((f"{len(counted) - MOST_KINDS} others", rest))
    for heading, number in lines:
        share = percent(number / total, 1)
        console.print(f"{number:6d}  {share:>7}  {heading}".rstrip(), soft_wrap=True)
    turns = sorted((turn, place) for place, (_, group) in enumerate(ordered)
                   for turn in range(min(len(group), limit)))[:limit]  # fmt: skip
    examples = [ordered[place][1][turn] for turn, place in sorted(turns, key=lambda pair: pair[1])]
    print_cases(examples, len(cases), console)


def print_cases(cases: Sequence[Case], total: int, console: Console) -> None:
    """Print completions one after the other, and of how many they are a part."""
    for case in cases:
        _print_case(case, console)
    print_more(total, len(cases), console)


def _print_case(case: Case, console: Console) -> None:
    """Print a completion with marks, its verdicts, and their causes."""
    problem, sample = case.problem, case.sample
    run = clip(printable(case.run, keep=""))
    head = f"{run}, problem {printable(problem.id)}, sample {sample.sample}, row {sample.row}"
    console.print()
    console.rule(Text(head), align="left")
    console.print(Text(printable(clip(problem.question, QUESTION)), "italic"))
    console.print(Text.assemble("gold ", (printable(problem.gold), "bold"), "\n"))

    # A line for each scorer; of many, one for all that extract the same answer.
    many = len(case.verdicts) > len(STYLES)
    alike: dict[object, list[int]] = {}
    for index, verdict in enumerate(case.verdicts):
        read = verdict.answer and (verdict.answer.value, verdict.answer.span)
        alike.setdefault((verdict.outcome, read) if many else index, []).append(index)
    lines = list(zip(cycle(LETTERS), cycle(STYLES),
                     sorted(alike.values(), key=len, reverse=many), strict=False))  # fmt: skip
    marks = [Mark(*answer.span, letter, style) for letter, style, (first, *_) in lines
             if (answer := case.verdicts[first].answer) and answer.span]  # fmt: skip
    evidence = {cause.cause.span for _, _, (first, *_) in lines
                if (cause := case.causes[first]) and cause.cause.span}  # fmt: skip
    marks += [
        Mark(start, end, EVIDENCE, EVIDENCE_STYLE)
        for start, end in sorted(evidence)
        if not any(mark.start <= start and end <= mark.end for mark in marks)
    ]
    if lines:
        console.print(marked(sample.text, marks))
        console.print()
    for letter, style, members in lines:
        verdict = case.verdicts[members[0]]
        names = [case.verdicts[member].scorer for member in members]
        who = names[0] if len(names) == 1 else f"{len(names)} scorers"
        reason = f"{verdict.outcome.value.replace('_', ' ')}: {printable(verdict.reason)}"
        console.print(Text.assemble((f"{letter} {who}", style), f"  {reason}"))
        if len(names) > 1:
            console.print(fill(", ".join(names), console.width, initial_indent="  ",
                               subsequent_indent="  ", break_long_words=False,
                               break_on_hyphens=False), soft_wrap=True)  # fmt: skip
    for cause in dict.fromkeys(cause for cause in case.causes if cause):
        whose = [letter for letter, _, members in lines
                 if any(case.causes[member] == cause for member in members)]  # fmt: skip
        alone = len(case.causes) == 1 or cause.side is Side.TEXT
        about = "" if alone else f"{', '.join(whose)} "
        said = f": {printable(cause.cause.evidence)}"
        console.print(Text.assemble((f"→ {about}{cause}", "bold"), said))


class Mark(NamedTuple):
    """A part of a text, from start to end, with its own letter and style."""

    start: int
    end: int
    letter: str
    style: str


def marked(text: str, marks: Sequence[Mark]) -> Text:
    """Return a completion with each mark coloured and in brackets with its letter.

    Of a long text, only the surroundings of the marks and the end.
    """
    length, edges = len(text), sorted({edge for mark in marks for edge in mark[:2]})
    windows = [[0, length]]
    if length > SHORT:
        windows = [[max(0, edge - CONTEXT), min(length, edge + CONTEXT)] for edge in edges]
        windows += [[length - (END if edges else SHORT), length]]
    shown, covered = Text(), -1
    for number, (low, high) in enumerate(windows):
        if covered >= low:
            low = covered
        elif low:
            shown.append(" …\n… " if number else "… ")
        places = sorted({low, high, *(edge for edge in edges if low <= edge <= high)})
        for place, following in zip(places, [*places[1:], high], strict=True):
            if place != covered:
                for mark in reversed(marks):
                    if mark.start < mark.end == place:
                        shown.append("]", mark.style)
                for mark in marks:
                    if mark.start == place:
                        closed = "]" if mark.end == place else ""
                        shown.append(f"[{mark.letter}:{closed}", mark.style)
            inside = [mark.style for mark in marks if mark.start <= place < following <= mark.end]
            shown.append(printable(text[place:following]), inside[-1] if inside else "")
        covered = max(covered, high)
    return shown


def as_json(case: Case) -> dict[str, Any]:
    """Return a completion with its verdicts and causes as JSON values."""
    verdicts: list[dict[str, Any]] = []
    for verdict in case.verdicts:
        answer = verdict.answer
        verdicts.append({
            "scorer": verdict.scorer,
            "outcome": verdict.outcome.value,
            "reason": verdict.reason,
            "read": answer and answer.text,
            "value": answer and answer.value,
            "span": answer and answer.span and list(answer.span),
        })  # fmt: skip
    causes = [
        explained and {
            "side": explained.side.value,
            "cause": explained.cause.failure.value,
            "evidence": explained.cause.evidence,
            "span": explained.cause.span and list(explained.cause.span),
        }
        for explained in case.causes
    ]  # fmt: skip
    sample = case.sample
    return {
        "run": case.run,
        "problem": case.problem.id,
        "sample": sample.sample,
        "row": sample.row,
        "gold": case.problem.gold,
        "completion": sample.text,
        "kind": case.kind,
        "group": case.group,
        "verdicts": verdicts,
        "causes": causes,
        **({} if sample.flag is None else {"flag": sample.flag}),
    }
