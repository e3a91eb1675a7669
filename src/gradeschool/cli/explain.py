"""`gradeschool explain`: completions with their extracted answers, verdicts and causes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from string import ascii_uppercase as LETTERS
from textwrap import fill
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from gradeschool.cli import options as cli
from gradeschool.cli.options import option, switch
from gradeschool.datasets.load import OWN_PROBLEMS
from gradeschool.errors import InputError
from gradeschool.printable import accuracy_words, count, percent, printable, quoted
from gradeschool.reports.terminal import run_name
from gradeschool.scorer import Outcome, clip
from gradeschool.scoring.causes import ExplainedSample, Side, explained_samples, label_changes_for
from gradeschool.scoring.sources import choose_runs, file_ids
from gradeschool.scoring.table import ScoredTable, choose_scorers

MOST_NAMED = 4  # scorers named in a sentence
# A completion of up to SHORT characters is shown whole; for a longer one, its end and CONTEXT
# characters around each extracted answer.
SHORT, CONTEXT, END = 1000, 200, 120
QUESTION = 400  # characters
STYLES = ("bold black on green", "bold black on yellow", "bold black on cyan", "bold on magenta")
# Of the text that shows the cause, if it is no scorer's extracted answer.
EVIDENCE, EVIDENCE_STYLE = "!", "bold red"
MOST_KINDS = 12  # lines of counts


@click.command(cls=cli.Command)
@click.argument("arguments", nargs=-1, required=True, metavar="FILE")
@cli.scorers_option("the run's own scorer, else gradeschool/reader")
@cli.marks_option
@option("--problem", str, "Show only this problem, right or wrong; by default under every scorer.",
        metavar="ID")  # fmt: skip
@switch("--flags", "Show completions on which the file's own verdict differs from the scorer's.")
@option("-n --limit", click.IntRange(min=0), "Completions to show, taken from each cause in turn.",
        default=10)  # fmt: skip
@cli.reading_options
@cli.json_option
def explain_command(
    arguments: tuple[str, ...], scorers: tuple[str, ...], thinking_marks: tuple[str, ...],
    problem: str | None, flags: bool, limit: int, as_json: bool,
) -> None:  # fmt: skip
    """Show why completions are right or wrong: extracted answer, verdict and cause.

    FILE is a run folder or a sample file; FILE#NAME selects one run of several. With one scorer,
    shows the completions that it misses or accepts by mistake; with several, those on which they
    differ. Groups them by cause, most frequent first. In the text, brackets with a scorer's letter
    mark its extracted answer, and [!:...] marks the text that shows the cause.

    Example: gradeschool explain runs/mine --scorer openai/2021 multi-pattern
    """
    files, names = cli.files_and_scorers(arguments, scorers, thinking_marks)
    if len(files) > 1:
        raise InputError(f"explain reads one file at a time, not {', '.join(map(repr, files))}")
    chosen = choose_scorers(names) if names or (problem is not None and not flags) else []
    if flags and len(chosen) > 1:
        raise InputError(f"--flags compares the file with one scorer, not {len(chosen)}")

    runs = choose_runs(files, cli.read_options(), cli.warn)
    chosen = chosen or [cli.scorer_of_runs(runs, None)]
    total, faults = sum(len(run.samples) for run in runs), sum(run.faults for run in runs)
    differing = len(chosen) > 1 and problem is None
    cases: list[ExplainedSample] = []
    for run in runs:
        changes = label_changes_for(run)
        if problem is not None:
            kept = [
                each for each in run.samples
                if each.problem and (each.problem.id == problem or (
                    each.reference.id == problem and run.dataset == OWN_PROBLEMS))
            ]  # fmt: skip
            run = replace(run, samples=kept)
        cases += explained_samples(ScoredTable(run, chosen), changes, differing)
    if problem is not None and not cases:
        raise InputError(
            f"no completion answers the problem {problem!r}; give an id that `gradeschool "
            "explain` prints: for GSM8K the row, counted from 0"
        )
    first, shown, heading = chosen[0].name, cases, ""
    fields: dict[str, Any] = {"completions": total}
    if flags:
        flagged = [case for case in cases if case.sample.flag is not None and not case.unjudged]
        if not flagged:
            raise InputError(f"{files[0]!r} has no verdicts of its own")
        shown = [case for case in flagged if case.sample.flag != case.verdicts[0].correct]
        wrong = sum(not case.sample.flag for case in shown)
        fields |= {"scorer": first, "flags": len(flagged), "differ": len(shown)}
        heading = (
            f"the file's own flags and {first} differ on {len(shown):,} of {len(flagged):,} "
            f"completions: {wrong:,} that the file calls wrong, {len(shown) - wrong:,} that it "
            "calls correct"
        )
    elif problem is not None:
        fields["completions"] = len(shown)
    elif differing:
        fields["groups"] = dict(Counter(case.group for case in shown).most_common())
        who = f"{', '.join(scorer.name for scorer in chosen[:-1])} and {chosen[-1].name}"
        who = f"{len(chosen)} scorers" if len(chosen) > MOST_NAMED else who
        heading = f"{who} differ on {len(shown)} of {total} completions"
    else:
        right = sum(case.verdicts[0].correct for case in cases if case.verdicts)
        errors = sum(case.unjudged for case in cases) + faults
        shown = [case for case in cases if case.group]
        causes_found = dict(Counter(case.group for case in shown).most_common())
        fields |= {"scorer": first, "correct": right, "error": errors, "causes": causes_found}
        judged = total - errors
        failing = sum(case.unjudged and bool(case.verdicts) for case in cases)  # the scorer itself
        texts = judged + failing
        between = (right / texts, (right + failing) / texts) if failing else None
        share = f" ({accuracy_words(right / judged, between)})" if judged else ""
        failed = f", {count(errors, 'error')}" if errors else ""
        heading = f"{first}: {right} of {judged} correct{share}{failed}"
        if len(runs) > 1:
            heading += f"\n{len(runs)} runs together; {quoted(files[0])}#RUN is one of them:"
            by_run = {run.name: [0, 0] for run in runs}
            for case in cases:
                by_run[case.sample.run][0] += not case.unjudged and case.verdicts[0].correct
                by_run[case.sample.run][1] += not case.unjudged
            for name, (own, of) in by_run.items():
                heading += f"\n  {run_name(name)}: {own} of {of} correct"
    if as_json:
        cli.print_json({**fields, "differ" if differing else "cases": list(map(_as_json, shown))})
    else:
        console, examples, ids = cli.stdout_console(), shown[:limit], file_ids(runs)
        if heading:
            console.print(heading, soft_wrap=True)
        if not flags and problem is None:
            examples = _print_groups(shown, len(shown) if differing else total, limit, console)
        for case in examples:
            _print_case(case, console, ids)
        if 0 < len(examples) < len(shown):
            rest = len(shown) - len(examples)
            console.print(f"\n{rest} more; show them with -n {len(shown)}")
    cli.exit_for_faults(faults)


def _print_groups(
    cases: Sequence[ExplainedSample], total: int, limit: int, console: Console
) -> list[ExplainedSample]:
    """Print how often each group of causes and outcomes occurs; return examples of each in turn.

    total: what the shares are of. limit: most examples.
    """
    groups: dict[tuple[str, str], list[ExplainedSample]] = {}
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
    return [ordered[place][1][turn] for turn, place in sorted(turns, key=lambda pair: pair[1])]


def _print_case(case: ExplainedSample, console: Console, ids: Mapping[str, str]) -> None:
    """Print a completion with marks, its verdicts, and their causes; ids: of the file's own."""
    problem, sample = case.problem, case.sample
    place = f", problem {printable(ids.get(problem.id, problem.id))}, sample {sample.sample}, row "
    place += f"{sample.row}"
    head = run_name(case.sample.run, max(12, console.width - len(place) - 2)) + place
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
    marks = [(*answer.span, letter, style) for letter, style, (first, *_) in lines
             if (answer := case.verdicts[first].answer) and answer.span]  # fmt: skip
    evidence = {cause.cause.span for _, _, (first, *_) in lines
                if (cause := case.causes[first]) and cause.cause.span}  # fmt: skip
    marks += [
        (start, end, EVIDENCE, EVIDENCE_STYLE)
        for start, end in sorted(evidence)
        if not any(low <= start and end <= high for low, high, *_ in marks)
    ]
    if lines:
        console.print(_marked(sample.text, marks))
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


def _marked(text: str, marks: Iterable[tuple[int, int, str, str]]) -> Text:
    """Return a completion with each mark (start, end, letter, style) coloured and in brackets.

    Of a long text, only the surroundings of the marks and the end.
    """
    marks = list(marks)
    length, edges = len(text), sorted({edge for mark in marks for edge in mark[:2]})
    windows = [(0, length)]
    if length > SHORT:
        windows = [(max(0, edge - CONTEXT), min(length, edge + CONTEXT)) for edge in edges]
        windows += [(length - (END if edges else SHORT), length)]
    shown, covered = Text(), -1
    for number, (low, high) in enumerate(windows):
        if covered >= low:
            low = covered
        elif low:
            shown.append(" …\n… " if number else "… ")
        places = sorted({low, high, *(edge for edge in edges if low <= edge <= high)})
        for place, following in zip(places, [*places[1:], high], strict=True):
            if place != covered:
                for start, end, _, style in reversed(marks):
                    if start < end == place:
                        shown.append("]", style)
                for start, end, letter, style in marks:
                    if start == place:
                        shown.append(f"[{letter}:{']' if end == place else ''}", style)
            inside = [style for start, end, _, style in marks if start <= place < following <= end]
            shown.append(printable(text[place:following]), inside[-1] if inside else "")
        covered = max(covered, high)
    return shown


def _as_json(case: ExplainedSample) -> Mapping[str, Any]:
    """Return a completion with its verdicts and causes as JSON values."""
    sample = case.sample
    return {
        "run": case.sample.run,
        "problem": case.problem.id,
        "sample": sample.sample,
        "row": sample.row,
        "gold": case.problem.gold,
        "completion": sample.text,
        "kind": case.kind,
        "group": case.group,
        "verdicts": [
            {
                "scorer": verdict.scorer,
                "outcome": verdict.outcome.value,
                "reason": verdict.reason,
                "read": verdict.answer and verdict.answer.text,
                "value": verdict.answer and verdict.answer.value,
                "span": verdict.answer and verdict.answer.span and list(verdict.answer.span),
            }
            for verdict in case.verdicts
        ],
        "causes": [
            explained and {
                "side": explained.side.value,
                "cause": explained.cause.failure.value,
                "evidence": explained.cause.evidence,
                "span": explained.cause.span and list(explained.cause.span),
            }
            for explained in case.causes
        ],
        **({} if sample.flag is None else {"flag": sample.flag}),
    }  # fmt: skip
