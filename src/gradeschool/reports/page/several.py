"""Several runs beside each other: their accuracies and the differences from the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradeschool.errors import InputError
from gradeschool.reports.comparison import p_value, points, verdict_of
from gradeschool.reports.page.figures import axis_over, dot_strip, ticks_strip
from gradeschool.reports.page.markup import Html, el, join
from gradeschool.reports.page.measures import Platinum
from gradeschool.reports.page.verdicts import Judged, Rates, Share
from gradeschool.reports.page.words import percent, scrolled
from gradeschool.scorer import Scorer
from gradeschool.scoring.compare import Comparison, all_pairs, compare, is_cheap, outcomes_of
from gradeschool.scoring.table import scored_table

FEWEST, MOST = 3, 12  # runs of which every pair is compared
ALPHA = 0.05


def runs_section(
    runs: Sequence[Judged],
    shares: Sequence[Share],
    rates: Sequence[Rates],
    platinum: Sequence[Platinum | None],
    scorer: Scorer,
) -> Html:
    """Return a row for each run, and its paired difference from the first where that is defined."""
    axis = axis_over(share.interval for share in shares)
    comparisons, pairs, refusal = _compared(runs, scorer)
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
    lead = el(
        "p", f"{len(runs)} runs over {problems:,} problems, read by ", el("code", scorer.name)
    )
    words = refusal or (
        "Differences are in points, on the same problems: exact McNemar test, by problem where "
        "there are several samples; p is corrected for the number of comparisons (Holm)."
    )
    every = _pairs_table(runs, pairs) if pairs else None
    return join(lead, scroll, el("p", words, class_="note"), every)


Pairs = Mapping[tuple[int, int], Comparison]


def _compared(
    runs: Sequence[Judged], scorer: Scorer
) -> tuple[Mapping[int, Comparison], Pairs, str]:
    """Return the comparisons with the first run, those of every pair where that is cheap, words."""
    try:
        outcomes = [outcomes_of(scored_table(judged.run.chosen.run, [scorer])) for judged in runs]
        several = FEWEST <= len(runs) <= MOST and is_cheap(outcomes)
        pairs = all_pairs(outcomes) if several else {}
        return dict(enumerate(compare(outcomes), start=1)), pairs, ""
    except InputError as refusal:
        return {}, {}, f"The runs are not compared: {refusal}"


def _pairs_table(runs: Sequence[Judged], pairs: Pairs) -> Html:
    """Return the difference of each run from each earlier one, those beyond chance in bold."""
    head = el("tr", el("td"), *(el("th", str(at), scope="col", class_="number")
                                for at in range(1, len(runs))))  # fmt: skip
    rows = [
        el(
            "tr",
            el("th", f"{later + 1}. {runs[later].run.name}", scope="row"),
            *(_pair_cell(pairs.get((later, earlier))) for earlier in range(len(runs) - 1)),
        )
        for later in range(len(runs))
    ]
    table = el("table", el("thead", head), el("tbody", *rows), class_="plain pairs")
    words = (
        f"Every pair: a row's run minus the column's, in points. Bold: more than chance would do "
        f"(exact McNemar test, corrected for all {len(pairs)} pairs, Holm, p below 0.05)."
    )
    return join(el("p", words, class_="note"), scrolled(table, "Every pair of runs"))


def _pair_cell(one: Comparison | None) -> Html:
    if one is None:
        return el("td")
    shown = _signed(one.difference)
    told = f"p {p_value(one.p_holm)}"
    return el("td", el("strong", shown) if one.p_holm < ALPHA else shown, title=told,
              class_="number")  # fmt: skip


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
