"""A report as a file: the page, Markdown for a pull request, JUnit, by the file's ending.

A model's output stays plain text in each: Markdown is escaped, XML contains no forbidden
characters.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as xml
from collections.abc import Callable, Sequence
from pathlib import Path

from gradeschool.atomic import require_free
from gradeschool.errors import InputError
from gradeschool.percentages import accuracy_words, bounds, count, gain, p_value
from gradeschool.reports.comparison import compared_with_first, methods_of
from gradeschool.reports.judged import Judged, Share, flags_of, guess_sentence, rates_of
from gradeschool.reports.pages import save_page
from gradeschool.reports.printable import markdown_table, printable
from gradeschool.reports.report_page import report_page
from gradeschool.scorer import Scorer, clip
from gradeschool.scoring.table import CORRECT, ERROR, ScorerSet

# Characters with a meaning in a Markdown table cell.
MARKS = re.compile(r"([\\`*_{}\[\]<>&|~#:@]|(?<=www)\.)", re.IGNORECASE)
LONGEST_CELL = 200
LONGEST_TEXT = 2000  # of a completion in JUnit


def markdown(runs: Sequence[Judged], scorers: Sequence[Scorer]) -> str:
    """Return a table of the runs for a pull request, then each scorer's accuracy, collapsed."""
    # Without comparisons, the table has only accuracies.
    _, differences, refusal = compared_with_first([judged.headline for judged in runs])
    names = [markdown_text(judged.name) for judged in runs]
    heads = ("run", "accuracy", "95 % interval", "from the first", "p", "cut", "empty", "ran on",
             "errors")  # fmt: skip
    rows, notes = [], []
    for index, (name, judged) in enumerate(zip(names, runs, strict=True)):
        share, rates, pair = judged.share(), rates_of(judged), differences.get(index)
        rows.append((
            name,
            _percent(share),
            bounds(share.interval, between=" – ") if share.judged else "–",
            gain(pair.difference, pair.ci95, 2) if pair else "",
            p_value(pair.p_holm) if pair else "",
            *map(str, (rates.truncated, rates.empty, rates.run_on, rates.errors)),
        ))  # fmt: skip
        notes += [f"{name}: {note}." for note in judged.source.notes]
        fewest, most = judged.samples()
        if fewest != most:
            notes.append(f"{name}: {fewest} to {most} samples a problem; a mean over problems.")
        if flags := flags_of(judged):
            notes.append(f"{name}: the file's own flags: {flags.agree:,} of {flags.n:,} agree.")
        if guesses := guess_sentence(judged, share):
            notes.append(f"{name}: {guesses}")
    if len(runs) > 1:
        notes.insert(0, _escaped(refusal) if refusal else methods_of(list(differences.values())))
    each_scorer = []
    for index, scorer in enumerate(scorers):
        cells = [markdown_text(scorer.name)]
        for judged in runs:
            errors = judged.column(index).count(ERROR)
            failed = f" ({count(errors, 'error')})" if errors else ""
            cells.append(f"{_percent(judged.share(index))}{failed}")
        each_scorer.append(cells)
    return "\n".join([
        *markdown_table(heads, rows),
        f"\nScored by {markdown_text(scorers[0].name)}.\n",
        *(f"{note}\n" for note in notes),
        f"<details><summary>The same completions under {len(scorers)} scorers</summary>\n",
        *markdown_table(["scorer", *names], each_scorer),
        "\n</details>\n",
    ])  # fmt: skip


def _percent(share: Share) -> str:
    return accuracy_words(share.accuracy, share.bounds) if share.judged else "–"


def markdown_text(text: str) -> str:
    """Return a name as Markdown that shows the same characters: no markup, no link, no HTML."""
    return _escaped(clip(text, LONGEST_CELL))


def _escaped(text: str) -> str:
    return MARKS.sub(r"\\\1", printable(text, keep=""))


def junit(runs: Sequence[Judged], scorers: Sequence[Scorer]) -> str:
    """Return JUnit XML: a suite per run, a case per completion, by the headline scorer.

    A row that could not be used is a case with an error.
    """
    root = xml.Element("testsuites")
    for judged in runs:
        cases = []  # title; "", "failure" or "error"; message; text
        for each in judged.completions:
            problem, sample, answer = each.problem, each.sample, each.answer
            title, kind, message, text = f"problem {problem.id}, sample {sample.sample}", "", "", ""
            if each.outcome == ERROR:
                kind, message = "error", clip(sample.error or "the scorer failed", LONGEST_CELL)
            elif each.outcome != CORRECT:
                read = f"read {clip(answer.value)!r}" if answer else "read nothing"
                kind, message = "failure", f"{each.cause}: {read}, gold {problem.gold!r}"
                text = clip(sample.text, LONGEST_TEXT)
            cases.append((title, kind, message, text))
        for sample in judged.unusable():
            reason = f"row {sample.row} {clip(sample.error, LONGEST_CELL)}"
            cases.append((f"row {sample.row}", "error", reason, ""))
        kinds, name = [kind for _, kind, _, _ in cases], printable(judged.name, keep="")
        suite = xml.SubElement(
            root, "testsuite", name=name, tests=str(len(cases)),
            failures=str(kinds.count("failure")), errors=str(kinds.count("error")),
        )  # fmt: skip
        for title, kind, message, text in cases:
            case = xml.SubElement(suite, "testcase", classname=name, name=printable(title, keep=""))
            if kind:
                added = xml.SubElement(case, kind, message=printable(message, keep=""))
                added.text = printable(text) or None
    xml.indent(root, space="")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{xml.tostring(root, "unicode")}\n'


# Ending of the output's name -> the function that writes it.
WRITERS: dict[str, Callable[[Sequence[Judged], Sequence[Scorer]], str]] = {
    ".html": report_page,
    ".md": markdown,
    ".xml": junit,
}


def check_report_path(path: Path, overwrite: bool) -> None:
    """Raise InputError for an unknown ending, or a file that exists."""
    if path.suffix.lower() not in WRITERS:
        endings = ", ".join(WRITERS)
        raise InputError(f"no report format for {path.name!r}; give a name that ends in {endings}")
    require_free(path, overwrite)


def write_report(judged: Sequence[Judged], scorers: ScorerSet, path: Path) -> int:
    """Write a report in the format given by the ending of `path`; return its size in bytes."""
    return save_page(WRITERS[path.suffix.lower()](judged, scorers.scorers), path)
