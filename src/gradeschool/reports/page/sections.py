"""The sections of a page about one run, as markup that reads and prints without a script."""

from __future__ import annotations

from collections import Counter

from gradeschool.reports.page.checklist import checklist
from gradeschool.reports.page.figures import (
    Axis,
    axis_over,
    bar_strip,
    dot_strip,
    ticks_strip,
)
from gradeschool.reports.page.markup import Html, el, join, link_to
from gradeschool.reports.page.measures import Platinum, Slices, slices_of
from gradeschool.reports.page.verdicts import Judged, Rates, Share, share_of
from gradeschool.reports.page.words import count, percent, span


def headline(judged: Judged, share: Share, platinum: Platinum | None) -> Html:
    """Return the figure that the page is about, and what it is made of."""
    if not share.judged:
        return el("p", "No completion of this run could be judged.", class_="lead missing")
    problems = len({entry.problem.id for entry in judged.run.entries})
    samples = "" if share.judged == problems else f", {count(share.judged, 'completion')}"
    facts = join(
        el("span", f"{share.correct:,} of {share.judged:,}", class_="nowrap"),
        f" correct over {count(problems, 'problem')}{samples}, read by ",
        el("code", judged.scorers[judged.headline]),
    )
    figure = el(
        "p",
        el("span", percent(share.accuracy), class_="figure"),
        el("span", " %", class_="unit"),
        el("span", f"95 % interval {span(share.interval)}", class_="between"),
        class_="headline",
    )
    return join(figure, el("p", facts, ".", class_="lead"), _protocol(judged), _platinum(platinum))


def _protocol(judged: Judged) -> Html | None:
    protocol = judged.run.manifest.get("protocol")
    if not isinstance(protocol, dict):
        return el(
            "p",
            "A recording: the protocol under which it was made is not recorded.",
            class_="note",
        )
    name, digest = str(protocol.get("name")), str(protocol.get("digest"))
    return el(
        "p", "Asked under ", el("code", name), ", protocol hash ", el("code", digest), ".",
        class_="note",
    )  # fmt: skip


def _platinum(platinum: Platinum | None) -> Html | None:
    if platinum is None:
        return None
    share = platinum.share
    return el(
        "p",
        "Under the labels of GSM8K-Platinum ",
        el("strong", f"{percent(share.accuracy)} %"),
        f" ({span(share.interval)}): {platinum.removed:,} completions of problems that it removed "
        f"are out, {platinum.revised:,} are held to a revised answer.",
        class_="note",
    )


def rates_table(rates: Rates) -> Html:
    """Return what stands beside every accuracy: cut, empty, run-on, unanswered, errors."""
    cells = (
        ("truncated" if rates.finish_known else "looks cut", rates.truncated),
        ("empty", rates.empty),
        ("ran on into a next question", rates.run_on),
        ("no answer found", rates.no_answer),
        ("errors, not counted as wrong", rates.errors),
    )
    return el("dl", *(_rate(name, number, rates.completions) for name, number in cells),
              class_="rates")  # fmt: skip


def _rate(name: str, number: int, of: int) -> Html:
    share = f"{100 * number / of:.1f} %" if of else ""
    return el("div", el("dt", name), el("dd", f"{number:,}", el("small", share)))


def causes_section(judged: Judged) -> Html:
    """Return why the headline scorer's misses are misses, the most frequent cause first."""
    causes = Counter(cause for cause in judged.causes if cause)
    total = sum(causes.values())
    if not total:
        return el("p", "The headline scorer calls every completion correct that it could judge.")
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
    lead = f"{count(total, 'completion')} not correct under the headline scorer, by cause."
    return join(el("p", lead), el("table", el("tbody", *rows), class_="rows causes"))


def slices_section(judged: Judged) -> Html:
    """Return the accuracy by steps, size of the answer and length of the question."""
    ways = [way for way in slices_of(judged) if len(way.classes) > 1]
    axis = axis_over(one.share.interval for way in ways for one in way.classes if one.share.judged)
    mark = share_of(judged, judged.headline).accuracy
    return el("div", *(_slices_figure(way, axis, mark) for way in ways), class_="multiples")


def _slices_figure(way: Slices, axis: Axis, mark: float) -> Html:
    rows = [
        el(
            "tr",
            el("th", one.label, scope="row"),
            el("td", dot_strip(axis, one.share.accuracy, one.share.interval, mark), class_="wide"),
            el("td", f"{100 * one.share.accuracy:.1f}", class_="number"),
            el("td", f"{one.problems:,}", class_="number faint"),
        )
        for one in way.classes
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
    """Return the reporting checklist; what is not recorded is marked."""
    items = checklist(judged, rates)
    missing = sum(item.value is None for item in items)
    lead = (
        "What a GSM8K result must come with, read from the run itself. "
        + (f"{count(missing, 'point')} not recorded." if missing else "Nothing is missing.")
    )  # fmt: skip
    rows = (
        el("div", el("dt", item.name),
           el("dd", item.value or "not recorded", class_=None if item.value else "missing"))
        for item in items
    )  # fmt: skip
    return join(el("p", lead), el("dl", *rows, class_="checklist"))
