"""Several runs beside each other: their accuracies and the differences from the first."""

from __future__ import annotations

from collections.abc import Sequence

from gradeschool.errors import InputError
from gradeschool.reports.comparison import p_value, points, verdict_of
from gradeschool.reports.page.figures import axis_over, dot_strip, ticks_strip
from gradeschool.reports.page.markup import Html, el, join
from gradeschool.reports.page.measures import Platinum
from gradeschool.reports.page.verdicts import Judged, Rates, Share
from gradeschool.reports.page.words import percent, scrolled
from gradeschool.rule import Rule
from gradeschool.scoring.compare import Comparison, compare, outcomes_of


def runs_section(
    runs: Sequence[Judged],
    shares: Sequence[Share],
    rates: Sequence[Rates],
    platinum: Sequence[Platinum | None],
    rule: Rule,
) -> Html:
    """Return a row for each run, and its paired difference from the first where that is defined."""
    axis = axis_over(share.interval for share in shares)
    comparisons, refusal = _compared(runs, rule)
    rows = [
        _row(at, runs[at], shares[at], rates[at], platinum[at], comparisons.get(at), axis_at)
        for at, axis_at in enumerate(
            dot_strip(axis, share.accuracy, share.interval) for share in shares
        )
    ]
    names = ("Run", None, "%", "Platinum, %", "Cut or empty", "Ran on", "From the first", "p")
    head = el(
        "tr",
        *(
            el("th", name or ticks_strip(axis), scope="col",
               class_="left" if name == "Run" else "number" if name else "wide")
            for name in names
        ),
    )  # fmt: skip
    table = el("table", el("thead", head), el("tbody", *rows), class_="rows runs")
    scroll = scrolled(table, "Runs")
    problems = len({entry.problem.id for judged in runs for entry in judged.run.entries})
    lead = el("p", f"{len(runs)} runs over {problems:,} problems, read by ", el("code", rule.name))
    words = refusal or (
        "Differences are in points, on the same problems: exact McNemar test, by problem where "
        "there are several samples; p is corrected for the number of comparisons (Holm)."
    )
    return join(lead, scroll, el("p", words, class_="note"))


def _compared(runs: Sequence[Judged], rule: Rule) -> tuple[dict[int, Comparison], str]:
    try:
        outcomes = [outcomes_of(judged.run.chosen.run, rule) for judged in runs]
        return dict(enumerate(compare(outcomes), start=1)), ""
    except InputError as refusal:
        return {}, f"The runs are not compared: {refusal}"


def _row(
    at: int,
    judged: Judged,
    share: Share,
    rates: Rates,
    platinum: Platinum | None,
    comparison: Comparison | None,
    strip: Html,
) -> Html:
    difference = p = Html("")
    if comparison is not None:
        low, high = comparison.ci95
        between = f"{_signed(low)} to {_signed(high)}"
        shown = el("span", _signed(comparison.difference), title=verdict_of(comparison))
        difference, p = join(shown, el("small", between)), el("span", p_value(comparison.p_holm))
    cells = (
        percent(share.accuracy),
        percent(platinum.share.accuracy) if platinum else "–",
        f"{rates.truncated + rates.empty:,}",
        f"{rates.run_on:,}",
        difference,
        p,
    )
    return el(
        "tr",
        el("th", el("a", judged.run.name, href=f"#run-{at}"), scope="row"),
        el("td", strip, class_="wide"),
        *(el("td", cell, class_="number") for cell in cells),
    )


def _signed(difference: float) -> str:
    return points(difference).replace("-", "−")
