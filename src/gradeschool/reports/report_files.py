"""A report as a file: the page, or Markdown for a pull request, by the file's ending."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from gradeschool.atomic import require_free
from gradeschool.errors import InputError
from gradeschool.percentages import accuracy_words, bounds, count, gain, p_value
from gradeschool.reports.comparison import compared_with_first, methods_in_words
from gradeschool.reports.pages import save_page
from gradeschool.reports.printable import markdown_table, printable
from gradeschool.reports.report_data import Judged, guess_sentence, headline_flags, outcome_rates
from gradeschool.reports.report_page import report_page
from gradeschool.scorer import Scorer, clip
from gradeschool.scoring.statistics import Share
from gradeschool.scoring.table import ERROR, ScorerSet

# Characters with a meaning in a Markdown table cell.
MARKS = re.compile(r"([\\`*_{}\[\]<>&|~#:@]|(?<=www)\.)", re.IGNORECASE)
LONGEST_CELL = 200


def markdown(runs: Sequence[Judged], scorers: Sequence[Scorer]) -> str:
    """Return a table of the runs for a pull request, then each scorer's accuracy, collapsed."""
    # Without comparisons, the table has only accuracies.
    _, differences, refusal = compared_with_first([judged.headline for judged in runs])
    names = [markdown_text(judged.name) for judged in runs]
    heads = ("run", "accuracy", "95 % interval", "from the first", "p", "cut", "empty", "ran on",
             "errors")  # fmt: skip
    rows, notes = [], []
    for index, (name, judged) in enumerate(zip(names, runs, strict=True)):
        share, rates, pair = judged.share(), outcome_rates(judged), differences.get(index)
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
        if flags := headline_flags(judged):
            notes.append(f"{name}: the file's own flags: {flags.agree:,} of {flags.n:,} agree.")
        if guesses := guess_sentence(judged, share):
            notes.append(f"{name}: {guesses}")
    if len(runs) > 1:
        notes.insert(
            0, _escaped(refusal) if refusal else methods_in_words(list(differences.values()))
        )
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


# Ending of the output's name -> the function that writes it.
WRITERS: dict[str, Callable[[Sequence[Judged], Sequence[Scorer]], str]] = {
    ".html": report_page,
    ".md": markdown,
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
