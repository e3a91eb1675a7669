"""A page with a verifier's values token by token, as in appendix F of Cobbe et al. 2021.

It shows correct and wrong solutions that the verifier scores high, and correct and wrong ones that
it scores low. The report's explorer has every completion with values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

from gradeschool.errors import InputError
from gradeschool.formats.samples import Sample
from gradeschool.percentages import count
from gradeschool.problem import Problem
from gradeschool.reports.page.gather import TokenValues, pieces
from gradeschool.reports.page.markup import Html, el, join
from gradeschool.reports.page.verdicts import Judged
from gradeschool.reports.page.write import document
from gradeschool.scoring.table import CORRECT, ERROR

BINS = 10
EACH = 4  # solutions of each kind, of different problems if possible


class ValuedSolution(NamedTuple):
    """One solution with its values; correct under the headline scorer."""

    run: str
    problem: Problem
    sample: Sample
    correct: bool
    valued: TokenValues


def heatmap(runs: Sequence[Judged]) -> str:
    """Return the page; raises InputError if no completion has values."""
    shown = list(_all(runs))
    if not shown:
        names = ", ".join(repr(judged.name) for judged in runs)
        raise InputError(
            f"no completion of {names} has a verifier's values; write them with "
            "`gradeschool verifier score --tokens`"
        )
    several = len(runs) > 1
    sections = [
        _section(number, title, chosen, several)
        for number, (title, chosen) in enumerate(_kinds(shown))
        if chosen
    ]
    verifiers = list(dict.fromkeys(item.valued.verifier for item in shown))
    title = runs[0].name if not several else f"{len(runs)} runs"
    lead = el("p", f"{count(len(shown), 'solution')} scored by ",
              join(*_listed(verifiers)), ". ", _medians(shown), class_="lead")  # fmt: skip
    how = el(
        "p",
        "The colour of a token is the verifier's value after reading it: the chance it gives the "
        "whole solution to reach the right answer. Point at a token, or go to a solution with Tab "
        "and through it with the arrow keys.",
        class_="note",
    )
    body = el("div", lead, how, _scale(), *sections, class_="heat")
    kicker = "A verifier’s value, token by token"
    return document(title, body, kicker=kicker)


def _all(runs: Sequence[Judged]) -> Iterator[ValuedSolution]:
    for judged in runs:
        for each in judged.completions:
            if each.valued is not None and each.outcome != ERROR:
                correct = each.outcome == CORRECT
                yield ValuedSolution(judged.name, each.problem, each.sample, correct, each.valued)


def _kinds(shown: Sequence[ValuedSolution]) -> Iterator[tuple[str, list[ValuedSolution]]]:
    """Yield the four kinds with their clearest solutions; the median score divides them."""
    middle = median(item.valued.score for item in shown)
    high = [item for item in shown if item.valued.score >= middle]
    low = [item for item in shown if item.valued.score < middle]
    yield "Correct, scored high", _clearest(high, True, -1)
    yield "Not correct, scored high", _clearest(high, False, -1)
    yield "Correct, scored low", _clearest(low, True, 1)
    yield "Not correct, scored low", _clearest(low, False, 1)


def _clearest(shown: Sequence[ValuedSolution], correct: bool, sign: int) -> list[ValuedSolution]:
    """Return the EACH clearest solutions, preferring different problems."""
    ordered = sorted(
        (item for item in shown if item.correct is correct),
        key=lambda item: sign * item.valued.score,
    )
    shown_texts: defaultdict[str, set[str]] = defaultdict(set)
    turns: list[tuple[int, ValuedSolution]] = []
    for item in ordered:
        texts = shown_texts[item.problem.id]
        if item.sample.text not in texts:
            turns.append((len(texts), item))
            texts.add(item.sample.text)
    return [item for _, item in sorted(turns, key=lambda turn: turn[0])[:EACH]]


def _listed(names: Sequence[str]) -> Iterator[str]:
    for index, name in enumerate(names):
        yield ", " if index else ""
        yield el("code", name)


def _medians(shown: Sequence[ValuedSolution]) -> str:
    parts = []
    for words, target in (("correct", True), ("not correct", False)):
        scores = [item.valued.score for item in shown if item.correct is target]
        if scores:
            parts.append(f"{median(scores):.2f} of {len(scores):,} {words}")
    return f"Median score: {', '.join(parts)}."


def _scale() -> Html:
    swatches = (el("span", class_=f"tok v{index}") for index in range(BINS + 1))
    bar = el("span", *swatches, class_="bar", aria_hidden="true")
    return el("p", "0, surely wrong", bar, "1, surely right", class_="scale")


def _section(number: int, title: str, shown: Sequence[ValuedSolution], several: bool) -> Html:
    blocks = (_solution(item, several) for item in shown)
    name = f"kind-{number}"
    return el("section", el("h2", title, id=name), *blocks, aria_labelledby=name)


def _solution(shown: ValuedSolution, several: bool) -> Html:
    problem, sample, valued = shown.problem, shown.sample, shown.valued
    run = f"{shown.run}, " if several else ""
    heading = f"{run}Problem {problem.id}, sample {sample.sample}, score {valued.score:.2f}"
    parts = pieces(sample.text, valued.tokens)
    spans = (
        el("span", part, class_=f"tok v{bin_of(value)}", data_value=f"{value:.2f}")
        for part, value in zip(parts, valued.values, strict=True)
    )
    label = f"Solution with the verifier's values, score {valued.score:.2f}"
    tokens = el("div", *spans, class_="tokens", dir="ltr", tabindex="0", role="group",
                aria_label=label)  # fmt: skip
    return el(
        "div",
        el("h3", heading),
        el("p", problem.question, class_="question"),
        el("p", "Gold ", el("strong", problem.gold), class_="gold"),
        tokens,
        el("output", _told(parts, valued.values), class_="value", aria_live="polite"),
        _table(parts, valued.values),
        class_="valued",
    )


def bin_of(value: float) -> int:
    """Return the colour of a value, 0 to BINS; values of a linear head may be outside 0..1."""
    return round(BINS * min(max(value, 0.0), 1.0))


def _told(parts: Sequence[str], values: Sequence[float]) -> str:
    lowest = min(range(len(values)), key=values.__getitem__)
    token = parts[lowest]
    after = token.strip() or ("↵" if "\n" in token else "a space")
    return (
        f"Value {values[0]:.2f} at first, lowest {values[lowest]:.2f} after “{after}” (token "
        f"{lowest + 1} of {len(values)}), {values[-1]:.2f} at last."
    )


def _table(parts: Sequence[str], values: Sequence[float]) -> Html:
    rows = (
        el("tr", el("td", part.replace("\n", "↵")), el("td", f"{value:.3f}", class_="number"))
        for part, value in zip(parts, values, strict=True)
    )
    head = el("tr", el("th", "Token", scope="col"), el("th", "Value", scope="col"))
    table = el("table", el("thead", head), el("tbody", *rows), class_="plain")
    return el("details", el("summary", "The values as a table"), table)
