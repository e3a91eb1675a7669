"""What samples are worth and what completions take: curves over k, lengths, tokens, cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

from gradeschool.reports.page.figures import Point, curve_figure
from gradeschool.reports.page.markup import Html, el, join
from gradeschool.reports.page.verdicts import Judged
from gradeschool.reports.page.words import percent, scrolled, span
from gradeschool.scoring.at_k import AtK
from gradeschool.scoring.table import CORRECT


def curves_section(curve: Sequence[AtK]) -> Html:
    """Return maj@k and pass@k over the number of samples, drawn and as a table."""
    last = log(curve[-1].k) or 1.0

    def place(k: int) -> float:
        return log(k) / last

    curves = (
        ("maj", [Point(place(one.k), one.maj, one.maj_ci95) for one in curve]),
        ("pass", [Point(place(one.k), one.pass_any, one.pass_ci95) for one in curve]),
    )
    labels = [(place(one.k), str(one.k)) for one in curve]
    head = el("tr", *(el("th", name, scope="col", class_="number") for name in
                      ("k", "maj@k, %", "95 % interval", "pass@k, %", "95 % interval",
                       "tied votes, %")))  # fmt: skip
    rows = [
        el("tr", *(el("td", cell, class_="number") for cell in (
            str(one.k), percent(one.maj), span(one.maj_ci95), percent(one.pass_any),
            span(one.pass_ci95), f"{100 * one.ties:.1f}")))
        for one in curve
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
    """Return how long the completions are, and tokens, seconds and cost where recorded."""
    rows = []
    for name, wanted in (("correct", True), ("not correct", False)):
        lengths = sorted(
            len(entry.text)
            for entry, codes in zip(judged.run.entries, judged.codes, strict=True)
            if not entry.error and (codes[judged.headline] == CORRECT) is wanted
        )
        if lengths:
            cells = (len(lengths), *(lengths[int(q * (len(lengths) - 1))] for q in (0.5, 0.9, 1)))
            rows.append(
                el(
                    "tr",
                    el("th", name, scope="row"),
                    *(el("td", f"{cell:,}", class_="number") for cell in cells),
                )
            )
    names = ("", "completions", "median", "90 % up to", "longest")
    heads = (el("th", name, scope="col", class_="number") for name in names[1:])
    corner = el("td")
    table = el("table", el("thead", el("tr", corner, *heads)), el("tbody", *rows), class_="plain")
    return join(
        el("p", "Characters in a completion:"),
        scrolled(table, "Lengths"),
        _spent(judged),
    )


def _spent(judged: Judged) -> Html:
    entries = judged.run.entries
    tokens = [e.facts.completion_tokens for e in entries if e.facts.completion_tokens is not None]
    asked = [e.facts.prompt_tokens for e in entries if e.facts.prompt_tokens is not None]
    results = judged.run.results
    facts: list[tuple[str, str | None]] = [
        ("completion tokens", f"{sum(tokens):,}" if tokens else None),
        ("tokens a completion", f"{sum(tokens) / len(tokens):.1f}" if tokens else None),
        ("prompt tokens", f"{sum(asked):,}" if asked else None),
        ("seconds of the last session", _figure(results.get("seconds"))),
        ("cost, dollars", _cost(results.get("cost"))),
    ]
    cells = (
        el("div", el("dt", name),
           el("dd", value or "not recorded", class_=None if value else "missing"))
        for name, value in facts
    )  # fmt: skip
    return el("dl", *cells, class_="rates")


def _cost(recorded: object) -> str | None:
    """Write the cost that results.json states in dollars."""
    return _figure(recorded.get("dollars")) if isinstance(recorded, Mapping) else None


def _figure(value: object) -> str | None:
    return f"{value:,.6g}" if isinstance(value, int | float) and value else None
