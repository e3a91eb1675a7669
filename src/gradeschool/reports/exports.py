"""Judged runs as files for other programs: Markdown for a pull request, CSV, JUnit.

A model's output stays plain text in each: Markdown is escaped, spreadsheets see no formulas, XML
contains no forbidden characters.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from gradeschool.atomic import require_free
from gradeschool.errors import InputError
from gradeschool.formats.samples import Sample
from gradeschool.percentages import bounds, gain, p_value, percent
from gradeschool.reports.comparison import compared_with_first, methods_of
from gradeschool.reports.page.gather import PageRun
from gradeschool.reports.page.verdicts import (
    Judged,
    JudgedCompletion,
    Share,
    guess_sentence,
    rates_of,
    share_of,
)
from gradeschool.reports.page.write import page
from gradeschool.reports.pages import save_page
from gradeschool.reports.printable import csv_cell, markdown_table, printable
from gradeschool.scorer import Scorer, clip
from gradeschool.scoring.compare import Comparison
from gradeschool.scoring.table import (
    ALL,
    CORRECT,
    ERROR,
    OUTCOMES,
    ScorerSet,
    choose_scorers,
    scorer_for,
)

# Characters with a meaning in a Markdown table cell.
MARKS = re.compile(r"([\\`*_{}\[\]<>&|~#:@]|(?<=www)\.)", re.IGNORECASE)
# A spreadsheet treats a cell that begins with one of these as a formula, unless it is a number.
LONGEST_CELL = 200


def markdown(runs: Sequence[Judged], scorers: Sequence[Scorer]) -> str:
    """Return a table of the runs for a pull request, then each scorer's accuracy, collapsed."""
    headline = scorers[0]
    # Without comparisons, the table has only accuracies.
    _, differences, refusal = compared_with_first([judged.headline for judged in runs])
    heads = ("run", "accuracy", "95 % interval", "from the first", "p", "cut", "empty", "ran on",
             "errors")  # fmt: skip
    rows = []
    for index, judged in enumerate(runs):
        share, rates = share_of(judged), rates_of(judged)
        rows.append((
            _cell(judged.name),
            _percent(share),
            bounds(share.interval, between=" – ") if share.judged else "–",
            *_difference(differences.get(index)),
            *map(str, (rates.truncated, rates.empty, rates.run_on, rates.errors)),
        ))  # fmt: skip
    lines = [*markdown_table(heads, rows), "", f"Scored by {_cell(headline.name)}.", ""]
    if len(runs) > 1:
        words = _escaped(refusal) if refusal else methods_of(list(differences.values()))
        lines += [words, ""]
    for judged in runs:
        for note in judged.run.chosen.notes:
            lines += [f"{_cell(judged.name)}: {note}.", ""]
        guesses = guess_sentence(judged, headline, share_of(judged))
        lines += [f"{_cell(judged.name)}: {guesses}", ""] if guesses else []
    lines += _by_scorer(runs, scorers)
    return "\n".join(lines) + "\n"


def _percent(share: Share) -> str:
    return percent(share.accuracy) if share.judged else "–"  # nothing was judged


def _difference(comparison: Comparison | None) -> tuple[str, str]:
    if comparison is None:
        return "", ""
    return gain(comparison.difference, comparison.ci95, 2), p_value(comparison.p_holm)


def _by_scorer(runs: Sequence[Judged], scorers: Sequence[Scorer]) -> Iterator[str]:
    yield f"<details><summary>The same completions under {len(scorers)} scorers</summary>"
    yield ""
    heads = ["scorer", *(_cell(judged.name) for judged in runs)]
    yield from markdown_table(heads, (
        (_cell(scorer.name), *(_percent(share_of(judged, index)) for judged in runs))
        for index, scorer in enumerate(scorers)
    ))  # fmt: skip
    yield ""
    yield "</details>"


def _cell(text: str) -> str:
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
        for problem, sample, codes, answer, cause, _ in judged.completions:
            outcomes = [OUTCOMES[code].value for code in codes]
            read = clip(answer.value, LONGEST_CELL) if answer else ""
            facts = (judged.name, problem.id, str(sample.sample), problem.gold)
            cells = (*facts, outcomes[0], cause, read, str(len(sample.text)))
            writer.writerow([*map(csv_cell, cells), *outcomes])
        for sample in _unusable(judged):
            error = OUTCOMES[ERROR].value
            cells = (judged.name, "", "", "", error, _reason(sample), "", "0")
            writer.writerow([*map(csv_cell, cells), *[error] * len(scorers)])
    return written.getvalue()


def _unusable(judged: Judged) -> list[Sample]:
    """Return the rows of a run without a problem, which are no completions of the page."""
    return [sample for sample in judged.table.run.samples if sample.problem is None]


def _reason(unusable: Sample) -> str:
    return f"row {unusable.row} {clip(unusable.error, LONGEST_CELL)}"


def junit(runs: Sequence[Judged], scorers: Sequence[Scorer]) -> str:
    """Return JUnit XML: a suite per run, a case per completion, by the headline scorer.

    A row that could not be used is a case with an error.
    """
    suites = "\n".join(_suite(judged) for judged in runs)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n{suites}\n</testsuites>\n'


def _suite(judged: Judged) -> str:
    codes = [each.outcome for each in judged.completions]
    failed = codes.count(ERROR)
    failures = len(codes) - failed - codes.count(CORRECT)
    unusable = _unusable(judged)
    tests, errors = len(codes) + len(unusable), failed + len(unusable)
    name = quoteattr(printable(judged.name, keep=""))
    counts = f'tests="{tests}" failures="{failures}" errors="{errors}"'
    cases = [_case(name, each) for each in judged.completions]
    cases += [_error_case(name, f"row {sample.row}", _reason(sample)) for sample in unusable]
    return "\n".join([f"<testsuite name={name} {counts}>", *cases, "</testsuite>"])


def _error_case(group: str, name: str, words: str) -> str:
    """Return a case with an error; group: the quoted name of its suite."""
    message = quoteattr(printable(clip(words, 200), keep=""))
    start = f"<testcase classname={group} name={quoteattr(printable(name, keep=''))}>"
    return f"{start}<error message={message}/></testcase>"


def _case(group: str, completion: JudgedCompletion) -> str:
    problem, sample, answer = completion.problem, completion.sample, completion.answer
    name = f"problem {problem.id}, sample {sample.sample}"
    if completion.outcome == ERROR:
        return _error_case(group, name, sample.error or "the scorer failed")
    start = f"<testcase classname={group} name={quoteattr(printable(name, keep=''))}"
    if completion.outcome == CORRECT:
        return f"{start}/>"
    read = f"read {clip(answer.value)!r}" if answer else "read nothing"
    message = printable(f"{completion.cause}: {read}, gold {problem.gold!r}", keep="")
    text = escape(printable(clip(sample.text, 2000)))
    return f"{start}><failure message={quoteattr(message)}>{text}</failure></testcase>"


# Ending of the output's name -> the function that writes it.
WRITERS: dict[str, Callable[[Sequence[Judged], Sequence[Scorer]], str]] = {
    ".html": page,
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


def report_scorers(
    runs: Sequence[PageRun], names: Sequence[str] = (), headline_name: str = ""
) -> ScorerSet:
    """Return the scorers of a report, the headline first.

    names: the scorers to use; by default all that call no library. headline_name: by default the
    first name, or the first scorer of the runs' protocol. Raises UnknownNameError,
    MissingExtraError.
    """
    manifests = [run.chosen.manifest for run in runs]
    named = headline_name or next((name for name in names if name != ALL), None)
    headline = scorer_for(manifests, named)
    others = [scorer for scorer in choose_scorers(names) if scorer is not headline]
    return ScorerSet([headline, *others])


def write_report(judged: Sequence[Judged], scorers: ScorerSet, path: Path) -> int:
    """Write a report in the format given by the ending of `path`; return its size in bytes."""
    return save_page(WRITERS[path.suffix.lower()](judged, scorers.scorers), path)
