"""Everything that the terminal shows as tables: scores, runs, comparisons, profiles, votes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.segment import Segment
from rich.table import Table

from gradeschool.answers.regions import FORM_NAMES
from gradeschool.formats.run_folder import other_models
from gradeschool.formats.values import mapping
from gradeschool.printable import (
    accuracy_words,
    aligned,
    bounds,
    count,
    p_value,
    percent,
    point_bounds,
    points,
    printable,
    quoted,
)
from gradeschool.scorer import clip
from gradeschool.scoring import compare
from gradeschool.scoring.at_k import AtK, VoteScore
from gradeschool.scoring.score import FlagAgreement, RunScore, ScorerResult

if TYPE_CHECKING:
    from gradeschool.runs.folder import RunSummary

GAP = 2  # spaces between two columns
NAME_WIDTH = 60  # a longer name of a run is cut
NARROWEST = 17  # a scorer's name is not folded below this width
FIGURES_WIDTH = 61  # of the columns beside the scorers
PLATINUM_WIDTH = 27  # of the two columns under other labels
MOST_GROUPS = 12  # groups of scorers in a table that fits a screen
FIGURES = ("correct", "accuracy", "95 % interval", "wrong", "no\nanswer", "error")
REVISED = ("Platinum", "95 % interval")
# Where a name can be folded; a part that is still too long is folded at its hyphens.
SEAM, HYPHEN = re.compile(r"(?<=[/_: +=])|(?=[@#])"), re.compile(r"(?<=-)")
INDENT = "  "
LIST_ALL = "--scorer all lists every scorer"
LARGE_DISAGREEMENT = 0.1  # of the file's flags with the headline scorer


class TerminalConsole(Console):
    """A console that escapes what it prints, except for styles and cursor movements.

    Markup ("[red]") and emoji (":smile:") in names are printed literally. A closed output raises
    BrokenPipeError.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
        """Yield the parts of an output, escaped."""
        for part in super().render(renderable, options):
            is_plain = part.control or part.text.isprintable()
            yield part if is_plain else Segment(printable(part.text), part.style)

    def on_broken_pipe(self) -> None:
        """Raise the error, which `LazyGroup.invoke` handles; rich would exit with 1."""
        raise BrokenPipeError


def print_scores(scores: Sequence[RunScore], console: Console, headline: str | None = None) -> None:
    """Print a table for each run, or one with a row for each run if there is one scorer.

    headline: the scorer that comes first; the others follow in groups that agree on every
    completion of a run, or, for several runs, as the range of their accuracies. None: every scorer
    has a row. Scores under the labels of GSM8K-Platinum are shown beside the official ones.
    """
    if len(scores) > 1 and (headline or len(scores[0].scorers) == 1):
        _print_runs(scores, headline or scores[0].scorers[0].scorer, console)
        return
    for score in scores:
        _print_run(score, headline, console)


def _print_run(score: RunScore, headline: str | None, console: Console) -> None:
    """Print a row for each scorer of a run, or for each group of scorers that agree.

    A group is named by the shortest of its names. In a narrow terminal it keeps its one line, and
    the column "correct" is left out, then "error" if there are none but the samples that failed.
    """
    other = score.platinum
    facts = [f"{run_name(score.run)}, {count(score.n, 'completion')}"]
    facts += [f"{score.failed:,} failed"] if score.failed else []
    facts += [f"{other.n} of them in Platinum"] if other else []
    console.print(", ".join([*facts, *_forms(score)]), soft_wrap=True)
    results, columns = {each.scorer: each for each in score.scorers}, list(FIGURES)
    shown, left_out = {name: name for name in results}, []
    beside = FIGURES_WIDTH + (PLATINUM_WIDTH if other else 0)
    beside += len(f" of {score.n:,}") if score.failed else 0
    if headline is not None:
        groups = {headline if headline in group else min(group, key=len): len(group)
                  for group in score.agreeing}  # fmt: skip
        names = sorted(groups, key=lambda name: (name != headline, -results[name].accuracy))
        left_out = names[MOST_GROUPS:]
        shown = {name: f"{name} + {groups[name] - 1}" if groups[name] > 1 else name
                 for name in names[:MOST_GROUPS]}  # fmt: skip
        fails = any(each.error > score.failed for each in score.scorers)
        for column, width in (("correct", 9), *(() if fails else (("error", 7),))):
            if max(map(len, shown.values())) + beside > console.width:
                columns.remove(column)
                beside -= width
    table = simple_table(["scorer"], (*columns, *REVISED * bool(other)), fold_numbers=False)
    for name, text in shown.items():
        table.add_row(
            folded(text, max(NARROWEST, console.width - beside)),
            *map(figures_of(results[name]).__getitem__, columns),
            *(list(figures_of(other.result(name)).values())[1:3] if other else ()),
        )
    console.print(table)
    if left_out:
        number, most = sum(map(groups.__getitem__, left_out)), results[left_out[0]].accuracy
        console.print(f"{number} more scorers, {percent(most)} or less; {LIST_ALL}")
    if any(text != name for name, text in shown.items()):
        console.print(f"+ N: N more scorers agree on every completion; {LIST_ALL}")


def _print_runs(scores: Sequence[RunScore], headline: str, console: Console) -> None:
    """Print a row for each run under the headline scorer, and the range of the others."""
    others = len(scores[0].scorers) - 1
    is_revised = any(score.platinum for score in scores)
    console.print(f"scored by {headline}")
    table = simple_table(["run"], (*FIGURES, *REVISED * is_revised), fold_numbers=False)
    if others:
        table.add_column(f"{others} other\nscorers", justify="right", no_wrap=True)
    for score in scores:
        result, other = score.result(headline), score.platinum
        row = [run_name(score.run), *figures_of(result).values()]
        if is_revised:
            row += list(figures_of(other.result(headline)).values())[1:3] if other else ["-", "-"]
        if others:
            accuracies = [each.accuracy for each in score.scorers if each is not result]
            row.append(bounds((min(accuracies), max(accuracies))))
        table.add_row(*row)
    console.print(table)
    most = max(score.n for score in scores)
    for score in scores:
        fewer = [f"{score.n:,} completions, {most - score.n:,} fewer than another run"]
        if facts := fewer * (score.n < most) + _forms(score):
            console.print(f"{run_name(score.run)}: {', '.join(facts)}", soft_wrap=True)


def figures_of(scorer: ScorerResult) -> dict[str, str]:
    """Return the figures of a scorer by their headings."""
    interval = bounds(scorer.ci95) if scorer.judged else "-"
    counts = map(str, (scorer.wrong, scorer.no_answer, scorer.error))
    cells = (str(scorer.correct), accuracy_text(scorer), interval, *counts)
    return dict(zip(FIGURES, cells, strict=True))


def accuracy_text(scorer: ScorerResult) -> str:
    """Return the accuracy in percent, or its bounds; "-" without judged completions.

    If some failed, the number of the others follows: "71.20 % of 180".
    """
    shown = accuracy_words(scorer.accuracy, scorer.accuracy_bounds)
    if scorer.failed:
        shown += f" of {scorer.judged + scorer.error - scorer.failed:,}"
    return shown if scorer.judged else "-"


def run_name(run: str, width: int = NAME_WIDTH) -> str:
    """Return a run's name for the terminal, escaped and shortened."""
    return clip(printable(run, keep=""), width)


def _forms(score: RunScore) -> list[str]:
    """Return the shares of completions that are empty, cut off or run on, and uneven samples."""
    forms = score.forms
    named = zip(FORM_NAMES, forms[1:], strict=True) if forms else ()
    facts = [f"{percent(n / forms.n, 1)} {name}" for name, n in named if forms and n]
    if score.samples:
        fewest, most = score.samples
        facts.append(f"{fewest} to {most} samples per problem, each problem counts once")
    return facts


def simple_table(
    texts: Sequence[str],
    numbers: Sequence[str] = (),
    title: str | None = None,
    fold_numbers: bool = True,
) -> Table:
    """Return an empty table: columns of texts, then of numbers, aligned right; all are folded.

    fold_numbers: False keeps the numbers on one line, so that only the texts are folded.
    """
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False,
                  padding=(0, 1, 0, 0))  # fmt: skip
    for name in texts:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", overflow="fold" if fold_numbers else "ellipsis",
                         no_wrap=not fold_numbers)  # fmt: skip
    return table


def folded(name: str, width: int) -> str:
    """Return a name in lines of this width, broken between parts; later lines are indented."""
    lines = [""]
    for part in SEAM.split(name):
        fits = len(part) <= width - len(INDENT)
        for piece in [part] if fits else HYPHEN.split(part):
            if lines[-1].strip() and len(lines[-1]) + len(piece.rstrip()) > width:
                lines.append(INDENT)
            lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def spread_lines(
    scores: Sequence[RunScore], comparable: Collection[str], headline: str, reading: str
) -> list[str]:
    """Return the largest gap between scorers of one run, and the command that explains it.

    comparable: the scorers to compare, those for this dataset. headline: named where it is as high
    or low as others, else the shortest name. reading: the command's options for reading a file, as
    they follow it. Scorers that find no answer in most completions are ignored if two others
    remain: the table shows that they are far from all others. If all have the same accuracy, names
    two whose verdicts differ.
    """
    gaps = []
    for score in scores:
        scorers = [each for each in score.scorers if each.scorer in comparable and each.judged]
        reads = [
            each for each in scorers if each.correct and each.correct + each.wrong > each.no_answer
        ]
        ranked = reads if len(reads) > 1 else scorers
        if len(ranked) > 1:
            ranked.sort(key=lambda each: (each.scorer != headline, len(each.scorer)))
            high = max(ranked, key=lambda each: each.accuracy)
            [same] = [group for group in score.agreeing if high.scorer in group]
            low = min(ranked, key=lambda each: (each.accuracy, each.scorer in same))
            gap = high.accuracy - low.accuracy, low.scorer not in same
            gaps.append((gap, score, low, high, len(ranked) == len(scorers)))
    if not gaps:
        return []
    (size, differs), score, low, high, is_whole = max(gaps, key=lambda found: found[0])
    named = "scorers" if is_whole else "scorers that extract answers"
    explained = (
        f"  gradeschool explain {quoted(score.origin)}{reading} "
        f"--scorer '{high.scorer}' '{low.scorer}'"
    )
    where = f"In {run_name(score.run)} the" if len(scores) > 1 else "The"
    if not size:
        fails = any(each.accuracy_bounds for each in score.scorers if each.scorer in comparable)
        besides = " where both have a verdict" if fails else ""
        said = f"{where} {named} give the same accuracy{besides}"
        return [f"{said}, but not the same verdicts:", explained] if differs else [f"{said}."]
    return [
        f"{where} {named} are up to {100 * size:.1f} points apart: {high.scorer} "
        f"{accuracy_text(high)}, {low.scorer} {accuracy_text(low)}. Why:",
        explained,
    ]


def flag_line(score: RunScore, headline: str, reading: str) -> str:
    """Return how far the file's own verdicts of a run agree with the headline scorer's."""
    flags = score.flags[headline]
    best = max(score.flags, key=lambda name: (
        score.flags[name].agree, name == headline, name.startswith("lm-eval/gsm8k/")))  # fmt: skip
    text = f"the file's own flags: {flags.agree:,} of {flags.n:,} agree"
    if flags.agree == flags.n:
        return text
    text += (
        f"; {flags.only_scorer:,} say wrong where {headline} says correct, {flags.only_flag:,} "
        "the reverse"
    )
    if score.flags[best].agree > flags.agree:
        text += f"; {best} agrees on {score.flags[best].agree:,}"
    return f"{text}; `gradeschool explain {quoted(score.origin)}{reading} --flags` shows them"


def disagrees(flags: FlagAgreement) -> bool:
    """Return whether the file's own verdicts differ so often that a column may be misread."""
    return flags.n - flags.agree > LARGE_DISAGREEMENT * flags.n


def print_votes(scores: Sequence[VoteScore], console: Console) -> None:
    """Print one row for each run and vote."""
    table = simple_table(("run", "vote", "problems", "accuracy", "95 % interval", "correct",
                          "wrong", "no answer wins"))  # fmt: skip
    for score in scores:
        table.add_row(
            *(printable(score.run, keep=""), score.vote, str(score.problems)),
            *(percent(score.accuracy), bounds(score.ci95)),
            *map(str, (score.correct, score.wrong, score.no_answer)),
        )
    console.print(table)


def curve_table(curve: Sequence[AtK], title: str, console: Console) -> None:
    """Print one row for each k, then how ties and samples without an answer were counted."""
    heads = ("k", "maj@k", "95 % interval", "pass@k", "95 % interval", "problems", "ties")
    table = simple_table((), heads, title, fold_numbers=False)
    for point in curve:
        table.add_row(
            *(str(point.k), percent(point.maj), bounds(point.maj_ci95)),
            *(percent(point.pass_any), bounds(point.pass_ci95)),
            *(str(point.problems), percent(point.ties, 1)),
        )
    console.print(table)
    console.print(
        "maj@k: a problem's samples vote in groups of k; a tie goes to the answer seen first; a "
        "sample without\nan answer does not vote. maj@1 is the accuracy. pass@k: unbiased, a mean "
        "over problems.\nIntervals: 95 %, by problem.",
        soft_wrap=True,
    )


# Runs

COUNTED = ("requested", "missing", "failed", "truncated", "empty", "prompt_tokens",
           "completion_tokens", "reasoning_tokens", "seconds", "errors", "deviations",
           "answered_by", "latency", "tokens_per_second", "cost")  # fmt: skip
FIGURE_WORDS = {"latency": "seconds an answer", "tokens_per_second": "tokens a second"}
Cells = tuple[str, ...]


def print_rows(rows: Sequence[tuple[Cells, Cells]], console: Console) -> None:
    """Print rows of names and figures, headings first; names above the figures if too wide."""
    names = [tuple(printable(name, keep="") for name in row) for row, _ in rows]
    figures = [cells for _, cells in rows]
    lines = aligned([(*row, *cells) for row, cells in zip(names, figures, strict=True)],
                    left=len(names[0]))  # fmt: skip
    if len(lines[0]) <= console.width:
        for line in lines:
            console.print(line, soft_wrap=True)
        return
    for row, line in zip(names, aligned(figures, left=0), strict=True):
        title = ", ".join(filter(None, row))
        console.print(title, style="" if row is names[0] else "bold", soft_wrap=True)
        console.print(f"{' ' * GAP}{line}", soft_wrap=True)


def runs_table(runs: Sequence[RunSummary], console: Console) -> None:
    """Print one row per run."""
    rows: list[tuple[Cells, Cells]] = [
        (("run", "model", "protocol", "dataset"), ("samples", "failed", "accuracy", "updated"))
    ]
    for run in runs:
        manifest, whole = run.manifest, run.answered == run.planned
        described = (str(mapping(manifest.get(field)).get("name", "?"))
                     for field in ("protocol", "dataset"))  # fmt: skip
        rows.append((
            (str(run.folder), str(manifest.get("model")), *described),
            (
                f"{run.answered}" if whole else f"{run.answered} of {run.planned}",
                str(run.failed),
                _accuracy(run.headline) if run.headline and run.earlier_samples is None else "-",
                printable(str(manifest.get("updated", "")), keep="")[:16].replace("T", " "),
            ),
        ))  # fmt: skip
    print_rows(rows, console)


def print_run(run: RunSummary, console: Console) -> None:
    """Print a run's description and figures, one fact per line."""
    from gradeschool.reports.measured import measured

    manifest, results, earlier = run.manifest, run.results or {}, run.earlier_samples
    of_earlier = "" if earlier is None else f"of {count(earlier, 'sample')}"
    decoding = ", ".join(f"no {name}" if value in (None, []) else f"{name} {value}"
                         for name, value in mapping(manifest.get("decoding")).items())  # fmt: skip
    facts: dict[str, Any] = {
        "folder": run.folder,
        **dict(measured(manifest)),
        "digest": mapping(manifest.get("protocol")).get("digest"),
        "answered by": other_models(str(manifest.get("model")), results.get("answered_by")),
        "decoding": decoding,
        "created": manifest.get("created"),
        "updated": manifest.get("updated"),
        "samples": f"{manifest.get('problems')} problems x {manifest.get('samples')}: "
                   f"{run.answered} answered, {run.failed} failed, {run.damaged} damaged rows",
        "results": of_earlier and f"of an earlier session, {of_earlier}",
    }  # fmt: skip
    for name in COUNTED:
        value = results.get(name)
        if isinstance(value, Mapping):
            value = ", ".join(f"{key} {part}" for key, part in value.items())
        facts[FIGURE_WORDS.get(name, name.replace("_", " "))] = value
    for name, value in facts.items():
        if value not in (None, ""):
            console.print(f"{name:18} {printable(str(value))}", soft_wrap=True)
    for scorer, figures in run.figures.items():
        accuracy = f"{_accuracy(figures)} [{bounds(figures['ci95'], between=', ')}]"
        console.print(f"{printable(scorer):34} {accuracy} {of_earlier}".rstrip(), soft_wrap=True)


def _accuracy(figures: Mapping[str, Any]) -> str:
    return accuracy_words(figures["accuracy"], figures.get("accuracy_bounds"))


# Comparisons and profiles

WIDTH = 48  # of a run's name


def print_comparison(
    outcomes: Sequence[compare.Outcomes],
    comparisons: Sequence[compare.Comparison],
    scorer: str,
    console: Console,
    ids: Mapping[str, str],
) -> None:
    """Print the accuracies, each run's difference from the first, and the flipped problems.

    ids: the file's own of problems that it brings.
    """
    from gradeschool.reports.pages import fill

    heads = ("problems", "accuracy", "95 % interval", "errors\nleft out")
    table, sizes = simple_table(["run"], heads, fold_numbers=False), set()
    for run in outcomes:
        number, share = len(run.tallies), run.share
        samples = {tally.judged for tally in run.tallies.values()}
        fewest, most = min(samples), max(samples)
        each = f", {fewest} samples each" if most > 1 else ""
        if fewest < most:
            each = f", {fewest} to {most} samples each; each problem counts once"
        sizes.add(f", {count(number, 'problem')}{each}")
        accuracy = accuracy_words(share.accuracy, share.bounds)
        table.add_row(run_name(run.run, WIDTH), str(number), accuracy, bounds(share.interval),
                      str(run.failed_samples))  # fmt: skip
    same = sizes.pop() if len(sizes) == 1 else ""
    console.print(f"scored by {scorer}{same}", soft_wrap=True)
    console.print(table)
    if not comparisons:
        return
    several, first = len(comparisons) > 1, run_name(outcomes[0].run, WIDTH)
    columns = ("difference", "95 % interval", "better\non", "worse\non", "p",
               *["p, Holm"] * several)  # fmt: skip
    title = f"difference from {first}, in points"
    table = simple_table(["run"], columns, title, fold_numbers=False)
    for pair in comparisons:
        changed = (str(len(side)) if pair.n else "-" for side in (pair.gained, pair.lost))
        table.add_row(run_name(pair.run, WIDTH), points(pair.difference), point_bounds(pair.ci95),
                      *changed, p_value(pair.p), *[p_value(pair.p_holm)] * several)  # fmt: skip
    console.print(table)
    text = fill(
        "comparison.txt", comparisons=comparisons, first=outcomes[0].run,
        words=difference_in_words, run_name=lambda run: run_name(run, WIDTH),
        name=lambda id: printable(ids.get(id, id), keep=""),
    )  # fmt: skip
    console.print(text, soft_wrap=True, end="")


def difference_in_words(comparison: compare.Comparison) -> str:
    """Describe in words whether a difference is significant."""
    if comparison.p_holm < 0.05:
        side = "better" if comparison.difference > 0 else "worse"
        return f"{abs(100 * comparison.difference):.2f} points {side}, a significant difference"
    return f"no significant difference ({points(comparison.difference)} points)"


def print_profile(
    original: compare.Outcomes,
    entries: Sequence[compare.ProfileEntry],
    scorer: str,
    console: Console,
) -> None:
    """Print a line for each set and group, then what each set shows in words."""
    share, number = original.share, len(original.tallies)
    accuracy = accuracy_words(share.accuracy, share.bounds)
    console.print(f"scored by {scorer}; {run_name(original.run)}: {accuracy} of {number:,} "
                  f"problems (95 % {bounds(share.interval)})", soft_wrap=True)  # fmt: skip
    heads = ("problems", "seeds", "original", "accuracy", "points", "95 % interval", "p")
    table = simple_table(["set"], heads, fold_numbers=False)
    losses = simple_table(["loss in points"], ("total", *original.misses), fold_numbers=False)
    for entry in entries:
        pair = entry.comparison
        label = f"  {printable(entry.group, keep='')}" if entry.group else run_name(entry.run)
        table.add_row(
            *(label, str(entry.problems), str(pair.n) if pair.n else "-"),
            *(percent(pair.accuracy_a), percent(pair.accuracy_b), points(pair.difference)),
            *(point_bounds(pair.ci95), p_value(pair.p_holm)),
        )
        parts = (points(part.difference) for part in entry.parts.values())
        losses.add_row(label, points(-pair.difference), *parts)
    console.print(table)
    for text in compare.conclusions(original, entries):
        console.print(text, soft_wrap=True)
    if original.misses:
        console.print(losses)
    for entry in entries:
        if not entry.group:
            console.print(f"{compare.entry_sentence(entry, original.run)}.", soft_wrap=True)
