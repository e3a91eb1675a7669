"""A report as a file: the page, Markdown for a pull request, CSV, JUnit, by the file's ending.

A model's output stays plain text in each: Markdown is escaped, spreadsheets see no formulas, XML
contains no forbidden characters.
"""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as xml
from collections.abc import Callable, Sequence
from pathlib import Path

from gradeschool.atomic import require_free
from gradeschool.errors import InputError
from gradeschool.formats.samples import Sample
from gradeschool.percentages import accuracy_words, bounds, count, gain, p_value
from gradeschool.reports.comparison import compared_with_first, methods_of
from gradeschool.reports.judged import Judged, Share, flags_of, guess_sentence, rates_of
from gradeschool.reports.pages import save_page
from gradeschool.reports.printable import csv_cell, markdown_table, printable
from gradeschool.reports.report_page import report_page
from gradeschool.scorer import Scorer, clip
from gradeschool.scoring.table import CORRECT, ERROR, OUTCOMES, ScorerSet

# Characters with a meaning in a Markdown table cell.
MARKS = re.compile(r"([\\`*_{}\[\]<>&|~#:@]|(?<=www)\.)", re.IGNORECASE)
LONGEST_CELL = 200
LONGEST_TEXT = 2000  # of a completion in JUnit


def markdown(runs: Sequence[Judged], scorers: Sequence[Scorer]) -> str:
    """Return a table of the runs for a pull request, then each scorer's accuracy, collapsed."""
    # Without comparisons, the table has only accuracies.
    _, differences, refusal = compared_with_first([judged.headline for judged in runs])
    heads = ("run", "accuracy", "95 % interval", "from the first", "p", "cut", "empty", "ran on",
             "errors")  # fmt: skip
    rows, notes = [], []
    for index, judged in enumerate(runs):
        name, share, rates = markdown_text(judged.name), judged.share(), rates_of(judged)
        pair = differences.get(index)
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
        notes += [f"{name}: {guesses}"] if (guesses := guess_sentence(judged, share)) else []
    words = (refusal and _escaped(refusal)) or methods_of(list(differences.values()))
    each_scorer = (
        (markdown_text(scorer.name), *(_with_errors(judged, index) for judged in runs))
        for index, scorer in enumerate(scorers)
    )
    lines = [
        *markdown_table(heads, rows),
        f"\nScored by {markdown_text(scorers[0].name)}.\n",
        *([f"{words}\n"] if len(runs) > 1 else []),
        *(f"{note}\n" for note in notes),
        f"<details><summary>The same completions under {len(scorers)} scorers</summary>\n",
        *markdown_table(["scorer", *(markdown_text(judged.name) for judged in runs)], each_scorer),
        "\n</details>\n",
    ]
    return "\n".join(lines)


def _percent(share: Share) -> str:
    return accuracy_words(share.accuracy, share.bounds) if share.judged else "–"


def _with_errors(judged: Judged, scorer: int) -> str:
    errors = judged.column(scorer).count(ERROR)
    words = f" ({count(errors, 'error')})" if errors else ""
    return f"{_percent(judged.share(scorer))}{words}"


def markdown_text(text: str) -> str:
    """Return a name as Markdown that shows the same characters: no markup, no link, no HTML."""
    return _escaped(clip(text, LONGEST_CELL))


def _escaped(text: str) -> str:
    return MARKS.sub(r"\\\1", printable(text, keep=""))


def table(runs: Sequence[Judged], scorers: Sequence[Scorer]) -> str:
    """Return CSV, one row per completion: extracted answer, cause, every scorer's outcome.

    Rows that could not be used follow, as errors, with the reason as their cause.
    """
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    fixed = ("run", "problem", "sample", "gold", "outcome", "cause", "read", "characters")
    writer.writerow([*fixed, *(scorer.name for scorer in scorers)])
    for judged in runs:
        for each in judged.completions:
            problem, sample = each.problem, each.sample
            outcomes = [OUTCOMES[code].value for code in each.outcomes]
            read = clip(each.answer.value, LONGEST_CELL) if each.answer else ""
            facts = (judged.name, problem.id, str(sample.sample), problem.gold)
            cells = (*facts, outcomes[0], each.cause, read, str(len(sample.text)))
            writer.writerow([*map(csv_cell, cells), *outcomes])
        for sample in judged.unusable():
            error = OUTCOMES[ERROR].value
            cells = (judged.name, "", "", "", error, _reason(sample), "", "0")
            writer.writerow([*map(csv_cell, cells), *[error] * len(scorers)])
    return written.getvalue()


def _reason(unusable: Sample) -> str:
    return f"row {unusable.row} {clip(unusable.error, LONGEST_CELL)}"


def junit(runs: Sequence[Judged], scorers: Sequence[Scorer]) -> str:
    """Return JUnit XML: a suite per run, a case per completion, by the headline scorer.

    A row that could not be used is a case with an error.
    """
    root = xml.Element("testsuites")
    for judged in runs:
        name, unusable = printable(judged.name, keep=""), judged.unusable()
        suite = xml.SubElement(root, "testsuite", name=name)

        def case(
            title: str, kind: str = "", message: str = "", text: str = "",
            suite: xml.Element = suite, name: str = name,
        ) -> None:  # fmt: skip
            added = xml.SubElement(
                suite, "testcase", classname=name, name=printable(title, keep="")
            )
            if kind:
                words = printable(message, keep="")
                xml.SubElement(added, kind, message=words).text = printable(text) or None

        for each in judged.completions:
            problem, sample, answer = each.problem, each.sample, each.answer
            title = f"problem {problem.id}, sample {sample.sample}"
            if each.outcome == ERROR:
                case(title, "error", clip(sample.error or "the scorer failed", LONGEST_CELL))
            elif each.outcome == CORRECT:
                case(title)
            else:
                read = f"read {clip(answer.value)!r}" if answer else "read nothing"
                message = f"{each.cause}: {read}, gold {problem.gold!r}"
                case(title, "failure", message, clip(sample.text, LONGEST_TEXT))
        for sample in unusable:
            case(f"row {sample.row}", "error", _reason(sample))
        codes = [each.outcome for each in judged.completions]
        errors = codes.count(ERROR)
        suite.set("tests", str(len(codes) + len(unusable)))
        suite.set("failures", str(len(codes) - errors - codes.count(CORRECT)))
        suite.set("errors", str(errors + len(unusable)))
    xml.indent(root, space="")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{xml.tostring(root, "unicode")}\n'


# Ending of the output's name -> the function that writes it.
WRITERS: dict[str, Callable[[Sequence[Judged], Sequence[Scorer]], str]] = {
    ".html": report_page,
    ".md": markdown,
    ".csv": table,
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
