"""A report as a file: the page, or Markdown for a pull request, by the file's ending."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from gradeschool.atomic import require_free
from gradeschool.errors import InputError
from gradeschool.percentages import bounds, count, gain, p_value
from gradeschool.reports.comparison import compared_with_first, methods_in_words
from gradeschool.reports.pages import save_page
from gradeschool.reports.printable import markdown_table, printable
from gradeschool.reports.report_data import Judged
from gradeschool.reports.report_page import report_page
from gradeschool.reports.terminal import accuracy_text
from gradeschool.scorer import Scorer, clip
from gradeschool.scoring.score import Forms
from gradeschool.scoring.table import ScorerSet

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
    if len(runs) > 1:
        notes.append(_escaped(refusal) if refusal else methods_in_words([*differences.values()]))
    for index, (name, judged) in enumerate(zip(names, runs, strict=True)):
        result, pair = judged.result, differences.get(index)
        forms = judged.score.forms or Forms(0, 0, 0, 0, 0)
        rows.append((
            name,
            accuracy_text(result),
            bounds(result.ci95, between=" – ") if result.judged else "-",
            gain(pair.difference, pair.ci95, 2) if pair else "",
            p_value(pair.p_holm) if pair else "",
            *map(str, (forms.truncated, forms.empty, forms.run_on, result.error)),
        ))  # fmt: skip
        notes += [f"{name}: {note}." for note in judged.source.notes]
        if uneven := judged.score.samples:
            notes.append(f"{name}: {uneven[0]} to {uneven[1]} samples a problem; a mean over "
                         "problems.")  # fmt: skip
        if flags := judged.score.flags.get(result.scorer):
            notes.append(f"{name}: the file's own flags: {flags.agree:,} of {flags.n:,} agree.")
    each_scorer = []
    for index, scorer in enumerate(scorers):
        results = [judged.score.scorers[index] for judged in runs]
        failed = [f" ({count(each.error, 'error')})" if each.error else "" for each in results]
        cells = [f"{accuracy_text(each)}{words}"
                 for each, words in zip(results, failed, strict=True)]  # fmt: skip
        each_scorer.append((markdown_text(scorer.name), *cells))
    return "\n".join([
        *markdown_table(heads, rows),
        f"\nScored by {markdown_text(scorers[0].name)}.\n",
        *(f"{note}\n" for note in notes),
        f"<details><summary>The same completions under {len(scorers)} scorers</summary>\n",
        *markdown_table(["scorer", *names], each_scorer),
        "\n</details>\n",
    ])  # fmt: skip


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
