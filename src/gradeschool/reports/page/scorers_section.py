"""The same completions under every scorer: where each stands, and what moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gradeschool.reports.page.figures import Axis, axis_over, dot_strip, moved_strip, ticks_strip
from gradeschool.reports.page.markup import Html, el, join, link_to
from gradeschool.reports.page.verdicts import Judged, Share, share_of
from gradeschool.reports.page.words import count, percent
from gradeschool.scoring.table import CORRECT, ERROR, NO_ANSWER


def scorers_section(judged: Judged) -> Html:
    """Return the same completions under every scorer, and the differences to the headline."""
    groups = _alike(judged)
    shares = {group[0]: share_of(judged, group[0]) for group in groups}
    groups.sort(key=lambda group: -shares[group[0]].accuracy)
    silent = {group[0]: _silent(judged, group[0]) for group in groups}
    axis = axis_over(
        share.interval
        for scorer, share in shares.items()
        if (share.correct and 2 * silent[scorer] < share.judged) or scorer == judged.headline
    )
    moves = {group[0]: _moved(judged, group[0]) for group in groups}
    most = max((max(move) for move in moves.values()), default=1)
    mark = next(shares[g[0]].accuracy for g in groups if judged.headline in g)
    rows = [
        _scorer_row(
            judged,
            group,
            shares[group[0]],
            moves[group[0]],
            _strip(shares[group[0]], silent[group[0]], axis, mark),
            most,
        )
        for group in groups
    ]
    # The same scorers are set aside, and for the same reason, as in the line under a table of
    # scores.
    finding = [
        group
        for group in groups
        if shares[group[0]].correct and 2 * silent[group[0]] < shares[group[0]].judged
    ]
    found = sum(map(len, finding))
    mute = len(judged.scorers) - found if found > 1 else 0
    reading = [shares[group[0]].accuracy for group in (finding if mute else groups)]
    spread = 100 * (max(reading) - min(reading))
    others = f"; {mute} of them find no answer in most, or nothing right" if mute else ""
    apart = "those that find answers" if mute else "they"
    lead = (
        f"{count(len(judged.scorers), 'scorer')} read the same completions{others}. They "
        f"come to {count(len(groups), 'different set')} of verdicts; {apart} are "
        f"{spread:.1f} points apart. Gained and lost are completions that a scorer calls "
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


def _alike(judged: Judged) -> list[list[int]]:
    """Group the scorers that agree on every completion; the headline scorer leads its group."""
    columns: dict[bytes, list[int]] = {}
    joined = b"".join(judged.codes)
    for at in range(len(judged.scorers)):
        columns.setdefault(joined[at :: len(judged.scorers)], []).append(at)
    return [sorted(group, key=lambda at: at != judged.headline) for group in columns.values()]


def _moved(judged: Judged, scorer: int) -> tuple[int, int]:
    """Return (gained, lost) against the headline scorer, where both judge."""
    gained = lost = 0
    pairs = Counter((codes[judged.headline], codes[scorer]) for codes in judged.codes)
    for (ours, theirs), number in pairs.items():
        if ERROR not in (ours, theirs):
            gained += number * (ours != CORRECT and theirs == CORRECT)
            lost += number * (ours == CORRECT and theirs != CORRECT)
    return gained, lost


def _silent(judged: Judged, scorer: int) -> int:
    """Return how many completions a scorer finds no answer in."""
    return sum(codes[scorer] == NO_ANSWER for codes in judged.codes)


def _strip(share: Share, silent: int, axis: Axis, mark: float) -> Html:
    """Return a scorer's strip; in words where it calls next to nothing correct."""
    if share.interval.high < axis.low:
        found = f"no answer found in {silent:,} of {share.judged:,}"
        return el("p", found if silent else "reads something else in nearly all", class_="off")
    return dot_strip(axis, share.accuracy, share.interval, mark)


def _scorer_row(
    judged: Judged,
    group: Sequence[int],
    share: Share,
    moved: tuple[int, int],
    strip: Html,
    most: int,
) -> Html:
    name = judged.scorers[group[0]]
    own = judged.headline in group
    gained, lost = moved
    others = [judged.scorers[at] for at in group[1:]]
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
        el("td", percent(share.accuracy), class_="number"),
        el("td", f"−{lost:,}" if lost else "", class_="number"),
        el("td", None if own else moved_strip(gained, lost, most), class_="narrow"),
        el("td", f"+{gained:,}" if gained else "", class_="left"),
        class_="own" if own else None,
    )
