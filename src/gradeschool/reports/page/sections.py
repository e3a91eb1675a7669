"""The sections of the page: one run, its scorers, several runs, tokens and cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from typing import Any

from gradeschool.errors import InputError
from gradeschool.formats.own_run import other_models
from gradeschool.formats.settings import mapping
from gradeschool.percentages import count, p_value, points
from gradeschool.reports.comparison import compared_with_first, methods_of, verdict_of
from gradeschool.reports.figures.records import lengths
from gradeschool.reports.measured import (
    MeasuredSettings,
    dataset_title,
    known_protocol,
    measured,
    truncation_advice,
)
from gradeschool.reports.page.checklist import checklist
from gradeschool.reports.page.markup import (
    Axis,
    Html,
    PlotPoint,
    axis_over,
    bar_strip,
    curve_figure,
    dot_strip,
    el,
    join,
    link_to,
    moved_strip,
    percent,
    row_heads,
    scrolled,
    span,
    ticks_strip,
)
from gradeschool.reports.page.verdicts import (
    HEADLINE,
    Judged,
    Platinum,
    Rates,
    Share,
    Slices,
    alike,
    column_of,
    finds_answers,
    share_of,
    share_text,
    slices_of,
)
from gradeschool.scorer import Scorer
from gradeschool.scoring.at_k import AtK
from gradeschool.scoring.compare import Comparison, Outcomes, all_pairs, is_cheap
from gradeschool.scoring.table import CORRECT, ERROR, NO_ANSWER


def headline(
    judged: Judged, share: Share, rates: Rates, platinum: Platinum | None, guesses: str | None
) -> Html:
    """Return the headline: the accuracy, and what it consists of.

    guesses: see `guess_sentence`.
    """
    notes = [el("p", f"{note}.", class_="note advice") for note in judged.run.chosen.notes]
    if not share.judged:
        lead = el("p", "No completion of this run could be judged.", class_="lead missing")
        return join(lead, *notes)
    samples = "" if share.judged == share.problems else f", {count(share.judged, 'completion')}"
    facts = join(
        el("span", f"{share.correct:,} of {share.judged:,}", class_="nowrap"),
        f" correct over {count(share.problems, 'problem')}{samples}, read by ",
        el("code", judged.scorers[HEADLINE]),
    )
    figure = el(
        "p",
        el("span", percent(share.accuracy), class_="figure"),
        el("span", " %", class_="unit"),
        el("span", f"95 % interval {span(share.interval)}", class_="between"),
        class_="headline",
    )
    return join(
        figure,
        el("p", facts, ".", class_="lead"),
        *notes,
        el("p", guesses, class_="note") if guesses else None,
        _settings(judged, rates),
        _platinum(platinum),
    )


def _settings(judged: Judged, rates: Rates) -> Html:
    """Return what was measured: dataset, protocol, model, and every changed setting."""
    settings = measured(judged.manifest)
    if not settings.protocol:
        dataset = dataset_title(judged.table.run.dataset)
        return el("p", f"Scored on {dataset}. This file does not record its model, protocol or "
                  "decoding.", class_="note")  # fmt: skip
    engine = settings.run_by
    items = [
        ("Dataset", join(el("code", settings.dataset), f", {settings.problems}")),
        ("Protocol", join(el("code", settings.protocol), f", hash {settings.digest}")),
        ("Model", join(el("code", settings.model), f", {engine}" if engine else "")),
        ("Changed", _changed(judged.manifest, settings)),
    ]
    rows = (
        el("div", el("dt", name), el("dd", value, class_="changed" if name == "Changed" and
                                     settings.changes else None))
        for name, value in items
    )  # fmt: skip
    # Without finish reasons, a text that looks cut may not be: no advice is given.
    truncated = rates.truncated if rates.finish_known else 0
    advice = truncation_advice(judged.manifest, rates.texts, truncated, rates.run_on)
    others = other_models(settings.model, judged.run.results.get("answered_by"))
    return join(
        el("dl", *rows, class_="settings"),
        el("p", "The server says that another model answered: ", el("strong", others),
           class_="note advice") if others else None,
        el("p", advice, class_="note advice") if advice else None,
    )  # fmt: skip


def _changed(manifest: Mapping[str, Any], settings: MeasuredSettings) -> str:
    if known_protocol(manifest) is None:
        return "not known: this version does not have the protocol"
    return ", ".join(settings.changes) or "nothing: the protocol as published"


def _platinum(platinum: Platinum | None) -> Html | None:
    if platinum is None:
        return None
    share = platinum.share
    return el(
        "p",
        "Under the labels of GSM8K-Platinum ",
        el("strong", f"{share_text(share)} %"),
        f" ({span(share.interval)}): {count(platinum.removed, 'completion')} of problems that it "
        f"removed {'is' if platinum.removed == 1 else 'are'} out, {platinum.revised:,} "
        f"{'is' if platinum.revised == 1 else 'are'} scored by a revised answer.",
        class_="note",
    )


def rates_table(rates: Rates) -> Html:
    """Return the rates to report with an accuracy: cut, empty, run-on, unanswered, errors."""
    cells = (
        ("truncated" if rates.finish_known else "looks cut", rates.truncated, rates.texts),
        ("empty", rates.empty, rates.texts),
        ("ran on into a next question", rates.run_on, rates.texts),
        ("the scorer found no answer", rates.no_answer, rates.texts),
        ("errors, not counted as wrong", rates.errors, rates.samples),
    )
    return el("dl", *(_rate(*cell) for cell in cells), class_="rates")


def _rate(name: str, number: int, of: int) -> Html:
    share = f"{100 * number / of:.1f} %" if of else ""
    return el("div", el("dt", name), el("dd", f"{number:,}", el("small", share)))


def causes_section(judged: Judged) -> Html:
    """Return the causes under the headline scorer, counted as in `explain`."""
    causes = Counter(each.cause for each in judged.completions if each.cause)
    total = sum(causes.values())
    if not total:
        return el("p", "Every completion states the right answer, and the headline scorer sees it.")
    most = causes.most_common(1)[0][1]
    rows = [
        el(
            "tr",
            el("th", el("a", cause, href=link_to(cause=cause)), scope="row"),
            el("td", bar_strip(number / most, f"{cause}: {number}"), class_="wide"),
            el("td", f"{number:,}", class_="number"),
            el("td", f"{100 * number / total:.1f} %", class_="number"),
        )
        for cause, number in causes.most_common()
    ]
    lead = join(
        f"{count(total, 'completion')} that the headline scorer misses or accepts by mistake, or "
        "that failed, by cause, as ", el("code", "gradeschool explain"), " counts them.",
    )  # fmt: skip
    return join(el("p", lead), el("table", el("tbody", *rows), class_="rows causes"))


def slices_section(judged: Judged) -> Html:
    """Return the accuracy by steps, size of the answer and length of the question."""
    whole = share_of(judged)
    if not whole.judged:
        return el("p", "No completion could be judged.")
    ways = slices_of(judged)
    axis = axis_over(
        division.share.interval for way in ways for division in way.classes if division.share.judged
    )
    figures = (_slices_figure(way, axis, whole.accuracy) for way in ways)
    return el("div", *figures, class_="multiples")


def _dot(axis: Axis, share: Share, mark: float | None = None) -> Html | None:
    """Return an accuracy as a dot on its interval, None without judged completions."""
    return dot_strip(axis, share.accuracy, share.interval, mark) if share.judged else None


def _slices_figure(way: Slices, axis: Axis, mark: float) -> Html:
    rows = [
        el(
            "tr",
            el("th", label, scope="row"),
            el("td", _dot(axis, share, mark), class_="wide"),
            el("td", f"{100 * share.accuracy:.1f}" if share.judged else "–", class_="number"),
            el("td", f"{share.problems:,}", class_="number faint"),
        )
        for label, share in way.classes
    ]
    head = el(
        "tr",
        el("th", way.unit or el("span", "Class", class_="visually-hidden"), scope="col"),
        el("th", ticks_strip(axis), scope="col", class_="wide"),
        el("th", "%", scope="col", class_="number"),
        el("th", "problems", scope="col", class_="number"),
    )
    table = el("table", el("thead", head), el("tbody", *rows), class_="rows slices")
    return el("figure", el("figcaption", way.title), table)


def checklist_section(judged: Judged, rates: Rates) -> Html:
    """Return the reporting checklist; facts that are not recorded are marked."""
    items = checklist(judged, rates)
    missing = sum(item.value is None for item in items)
    lead = (
        "What a GSM8K result must come with, read from the run itself. "
        + (f"{count(missing, 'point')} not recorded." if missing else "Nothing is missing.")
    )  # fmt: skip
    return join(el("p", lead), el("dl", *(_fact(*item) for item in items), class_="checklist"))


def _fact(name: str, value: str | None) -> Html:
    """Return a fact of a list; value is None if it is not recorded."""
    shown = el("dd", value or "not recorded", class_=None if value else "missing")
    return el("div", el("dt", name), shown)


def scorers_section(judged: Judged) -> Html:
    """Return the completions under every scorer, and the differences from the headline."""
    groups = alike(judged)
    shares = {group[0]: share_of(judged, group[0]) for group in groups}
    groups.sort(key=lambda group: -shares[group[0]].accuracy)
    columns = {group[0]: column_of(judged, group[0]) for group in groups}
    # The same scorers are left out, for the same reason, as in the line under a table of scores.
    finding = [group for group in groups if finds_answers(columns[group[0]])]
    axis = axis_over(
        shares[group[0]].interval for group in groups if group in finding or HEADLINE in group
    )
    moves = {group[0]: _moved(judged, group[0]) for group in groups}
    most = max((max(move) for move in moves.values()), default=1)
    mark = next(shares[group[0]].accuracy for group in groups if HEADLINE in group)
    rows = [
        _scorer_row(
            judged,
            group,
            shares[group[0]],
            moves[group[0]],
            _strip(shares[group[0]], columns[group[0]].count(NO_ANSWER), axis, mark),
            most,
        )
        for group in groups
    ]
    result = sum(map(len, finding))
    mute = len(judged.scorers) - result if result > 1 else 0
    reading = [shares[group[0]].accuracy for group in (finding if mute else groups)]
    spread = 100 * (max(reading) - min(reading))
    others = f"; {mute} of them find no answer in most, or nothing right" if mute else ""
    apart = "those that find answers" if mute else "they"
    sets = (
        f"{len(groups)} different sets of verdicts; {apart} are {spread:.1f} points apart"
        if len(groups) > 1
        else "the same verdicts"
    )
    lead = (
        f"{count(len(judged.scorers), 'scorer')} read the same completions{others}. They "
        f"come to {sets}. Gained and lost are completions that a scorer calls "
        "correct and the headline scorer does not, and the reverse."
    )
    return join(el("p", lead), _rows_table(axis, rows))


def _rows_table(axis: Axis, rows: Sequence[Html]) -> Html:
    head = el(
        "tr",
        el("th", "Scorer", scope="col"),
        el("th", ticks_strip(axis), scope="col", class_="wide"),
        el("th", "%", scope="col", class_="number"),
        el("th", "Lost", scope="col", class_="number"),
        el("th", el("span", "Moved", class_="visually-hidden"), scope="col", class_="narrow"),
        el("th", "Gained", scope="col", class_="left"),
    )
    return el("table", el("thead", head), el("tbody", *rows), class_="rows scorers")


def _moved(judged: Judged, scorer: int) -> tuple[int, int]:
    """Return (gained, lost) against the headline scorer, where both have a verdict."""
    gained = lost = 0
    pairs = Counter((each.outcome, each.outcomes[scorer]) for each in judged.completions)
    for (headline, other), number in pairs.items():
        if ERROR not in (headline, other):
            gained += number * (headline != CORRECT and other == CORRECT)
            lost += number * (headline == CORRECT and other != CORRECT)
    return gained, lost


def _strip(share: Share, silent: int, axis: Axis, mark: float) -> Html | None:
    """Return a scorer's strip, or words if it calls almost nothing correct."""
    if share.interval.high < axis.low:
        result = f"no answer found in {silent:,} of {share.judged:,}"
        return el(
            "p", result if silent else "extracts a wrong answer from nearly all", class_="off"
        )
    return _dot(axis, share, mark)


def _scorer_row(
    judged: Judged,
    group: Sequence[int],
    share: Share,
    moved: tuple[int, int],
    strip: Html | None,
    most: int,
) -> Html:
    name = judged.scorers[group[0]]
    own = HEADLINE in group
    gained, lost = moved
    others = [judged.scorers[position] for position in group[1:]]
    alike = (
        f"and {count(len(others), 'scorer that agrees', 'scorers that agree')} on every completion"
    )
    more = el(
        "details",
        el("summary", alike),
        el("p", *(join(el("code", other), el("br")) for other in others)),
    ) if others else None  # fmt: skip
    link = el("a", name, href=link_to(vs=name) if gained or lost else link_to(scorer=name))
    return el(
        "tr",
        el("th", link, el("small", "headline") if own else None, more, scope="row"),
        el("td", strip, class_="wide"),
        el("td", share_text(share), class_="number"),
        el("td", f"−{lost:,}" if lost else "", class_="number"),
        el("td", None if own else moved_strip(gained, lost, most), class_="narrow"),
        el("td", f"+{gained:,}" if gained else "", class_="left"),
        class_="own" if own else None,
    )


FEWEST, MOST = 3, 12  # number of runs for which every pair is compared
ALPHA = 0.05


def runs_section(
    runs: Sequence[Judged],
    shares: Sequence[Share],
    rates: Sequence[Rates],
    platinum: Sequence[Platinum | None],
    scorer: Scorer,
) -> Html:
    """Return one row per run, with its paired difference from the first if that is defined."""
    axis = axis_over(share.interval for share in shares if share.judged)
    outcomes, comparisons, refusal = compared_with_first([judged.headline for judged in runs])
    rows = [
        _row(
            index,
            runs[index],
            shares[index],
            rates[index],
            platinum[index],
            comparisons.get(index),
            _dot(axis, share),
        )
        for index, share in enumerate(shares)
    ]
    names = ("Run", None, "%", "Platinum, %", "Cut or empty", "Ran on", "Errors",
             "Difference from first", "p")  # fmt: skip
    heads = row_heads(names, ticks_strip(axis))
    table = el("table", heads, el("tbody", *rows), class_="rows runs")
    scroll = scrolled(table, "Runs")
    problems = len({
        (each.problem.id, each.problem.question)
        for judged in runs for each in judged.completions if each.outcome != ERROR
    })  # fmt: skip
    lead = el("p", f"{len(runs)} runs over {count(problems, 'problem')}, read by ",
              el("code", scorer.name))  # fmt: skip
    notes = (
        el("p", el("code", judged.name), f": {note}.", class_="note advice")
        for judged in runs for note in judged.run.chosen.notes
    )  # fmt: skip
    words = refusal or methods_of(list(comparisons.values()))
    pairs = _every_pair(outcomes)
    every = _pairs_table(runs, pairs) if pairs else None
    return join(lead, scroll, *notes, el("p", words, class_="note"), every)


Pairs = Mapping[tuple[int, int], Comparison]


def _every_pair(outcomes: Sequence[Outcomes]) -> Pairs:
    """Return the comparison of every pair of runs, {} for few runs or many, or without pairing."""
    if not (FEWEST <= len(outcomes) <= MOST and is_cheap(outcomes)):
        return {}
    try:
        return all_pairs(outcomes)
    except InputError:  # a problem of which the first run has only failed samples
        return {}


def _pairs_table(runs: Sequence[Judged], pairs: Pairs) -> Html:
    """Return the difference of each run from each earlier one, significant ones in bold."""
    head = el("tr", el("td"), *(el("th", str(index), scope="col", class_="number")
                                for index in range(1, len(runs))))  # fmt: skip
    rows = [
        el(
            "tr",
            el("th", f"{later + 1}. {runs[later].name}", scope="row"),
            *(_pair_cell(pairs.get((later, earlier))) for earlier in range(len(runs) - 1)),
        )
        for later in range(len(runs))
    ]
    table = el("table", el("thead", head), el("tbody", *rows), class_="plain pairs")
    words = (
        f"Every pair: a row's run minus the column's, in points. Bold: significant "
        f"(exact McNemar test, corrected for all {len(pairs)} pairs, Holm, p below 0.05)."
    )
    return join(el("p", words, class_="note"), scrolled(table, "Every pair of runs"))


def _pair_cell(comparison: Comparison | None) -> Html:
    if comparison is None:
        return el("td")
    shown = _signed(comparison.difference)
    lines = f"p {p_value(comparison.p_holm)}"
    return el("td", el("strong", shown) if comparison.p_holm < ALPHA else shown, title=lines,
              class_="number")  # fmt: skip


def _row(
    index: int,
    judged: Judged,
    share: Share,
    rates: Rates,
    platinum: Platinum | None,
    comparison: Comparison | None,
    strip: Html | None,
) -> Html:
    difference = p = Html("")
    if comparison is not None:
        low, high = comparison.ci95
        between = f"{_signed(low)} to {_signed(high)}"
        shown = el("span", _signed(comparison.difference), title=verdict_of(comparison))
        difference, p = join(shown, el("small", between)), el("span", p_value(comparison.p_holm))
    cells = (
        share_text(share),
        share_text(platinum.share) if platinum else "–",
        f"{rates.cut_or_empty:,}",
        f"{rates.run_on:,}",
        f"{rates.errors:,}",
        difference,
        p,
    )
    return el(
        "tr",
        el("th", el("a", judged.name, href=f"#run-{index}"), scope="row"),
        el("td", strip, class_="wide"),
        *(el("td", cell, class_="number") for cell in cells),
    )


def _signed(difference: float) -> str:
    return points(difference).replace("-", "−")


def curves_section(curve: Sequence[AtK]) -> Html:
    """Return maj@k and pass@k over the number of samples, drawn and as a table."""
    last = log(curve[-1].k) or 1.0

    def place(k: int) -> float:
        return log(k) / last

    curves = (
        ("maj", [PlotPoint(place(point.k), point.maj, point.maj_ci95) for point in curve]),
        ("pass", [PlotPoint(place(point.k), point.pass_any, point.pass_ci95) for point in curve]),
    )
    labels = [(place(point.k), str(point.k)) for point in curve]
    head = el("tr", *(el("th", name, scope="col", class_="number") for name in
                      ("k", "maj@k, %", "95 % interval", "pass@k, %", "95 % interval",
                       "problems", "tied votes, %")))  # fmt: skip
    rows = [
        el("tr", *(el("td", cell, class_="number") for cell in (
            str(point.k), percent(point.maj), span(point.maj_ci95), percent(point.pass_any),
            span(point.pass_ci95), f"{point.problems:,}", f"{100 * point.ties:.1f}")))
        for point in curve
    ]  # fmt: skip
    key = el(
        "p",
        el("span", "maj@k", class_="key maj"),
        " majority vote over the answers of k samples; ",
        el("span", "pass@k", class_="key pass"),
        " chance that one of k is correct. Horizontal: k, by doubling.",
        class_="note",
    )
    table = el("table", el("thead", head), el("tbody", *rows), class_="plain")
    scroll = scrolled(table, "maj@k and pass@k")
    return join(curve_figure(curves, labels, "maj@k and pass@k over k"), key, scroll)


def tokens_section(judged: Judged) -> Html:
    """Return how long the completions are, and tokens, seconds and cost if recorded."""
    shown = lengths(judged)
    rows = []
    for name, sizes in (("correct", shown.correct), ("not correct", shown.others)):
        if sizes:
            cells = (len(sizes), *(sizes[int(q * (len(sizes) - 1))] for q in (0.5, 0.9, 1)))
            rows.append(
                el(
                    "tr",
                    el("th", name, scope="row"),
                    *(el("td", f"{cell:,}", class_="number") for cell in cells),
                )
            )
    names = ("completions", "median", "90 % up to", "longest")
    head = el("tr", el("td"), *(el("th", name, scope="col", class_="number") for name in names))
    table = el("table", el("thead", head), el("tbody", *rows), class_="plain")
    return join(
        el("p", f"{shown.unit.capitalize()} in a completion:"),
        scrolled(table, "Lengths"),
        _spent(judged),
    )


def _spent(judged: Judged) -> Html:
    usages = [each.sample.usage for each in judged.completions]
    tokens = [each.completion_tokens for each in usages if each.completion_tokens is not None]
    prompt_tokens = [each.prompt_tokens for each in usages if each.prompt_tokens is not None]
    results = judged.run.results
    facts = (
        ("completion tokens", f"{sum(tokens):,}" if tokens else None),
        ("tokens per completion", f"{sum(tokens) / len(tokens):.1f}" if tokens else None),
        ("prompt tokens", f"{sum(prompt_tokens):,}" if prompt_tokens else None),
        ("seconds of the last session", _figure(results.get("seconds"))),
        ("cost, dollars", _figure(mapping(results.get("cost")).get("dollars"))),
    )
    return el("dl", *(_fact(name, value) for name, value in facts), class_="rates")


def _figure(value: object) -> str | None:
    return f"{value:,.6g}" if isinstance(value, int | float) and value else None
