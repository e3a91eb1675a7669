"""Write the HTML page of runs: one file that runs only its own scripts and needs no network.

Its explorer reads four kinds of blocks, gzip in base64 (so that no text can end a <script>
element): `problems` (JSON), `columns` (numbers of all completions, binary), `texts-N` (JSON, texts
and extracted answers of CHUNK completions), and `prompts-N` (JSON, the prompts of PROMPT_CHUNK
problems for each run: null, a text or [role, content] pairs). Completions are in the order of
problem, run, sample.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib import resources
from sys import byteorder
from typing import Any, NamedTuple

from gradeschool import __version__
from gradeschool.completion import Prompt
from gradeschool.problem import Problem
from gradeschool.reports.measured import dataset_title
from gradeschool.reports.page import sections
from gradeschool.reports.page.gather import TokenValues, pieces
from gradeschool.reports.page.markup import Html, el, join
from gradeschool.reports.page.verdicts import (
    HEADLINE,
    Judged,
    JudgedCompletion,
    Rates,
    guess_sentence,
    platinum_of,
    rates_of,
    samples_of,
    share_of,
)
from gradeschool.scorer import Scorer
from gradeschool.scoring.at_k import ballots_of, curve
from gradeschool.verdict import Answer

STYLES, SCRIPTS, EXPLORER = ("page.css",), ("page.js",), "explorer.html"
LIVE, NOBODY = "'self'", "'none'"  # sources that a page may connect to
CHUNK = 1000
PROMPT_CHUNK = 200  # number of problems per block; all of them share the few-shot examples
BEGUN = "assistant, begun"  # the role of an answer's start, which the model continues
# Of a longer completion, this many characters at the start and at the end are kept.
KEPT = 50_000
# Maximum number of marks (completions x extractions); beyond it, only the first scorers have marks.
MOST_READINGS = 400_000
LONGEST_VALUE = 200
LARGEST_BMP = "\uffff"
FINISHES = ("stop", "length", "content_filter", "unknown")


def page(runs: Sequence[Judged], scorers: Sequence[Scorer], live: bool = False) -> str:
    """Return the whole page of one or several runs, judged by `scorers`, the headline first.

    live: the page is served by `gradeschool view`, and is updated with its runs.
    """
    headline = scorers[0]
    shares = [share_of(judged) for judged in runs]
    rates = [rates_of(judged) for judged in runs]
    platinum = [platinum_of(judged, headline) for judged in runs]
    parts: list[Html] = []
    if len(runs) > 1:
        body = sections.runs_section(runs, shares, rates, platinum, headline)
        parts.append(_section("runs", "The runs", body))
    for index, judged in enumerate(runs):
        guesses = guess_sentence(judged, headline, shares[index])
        body = join(
            sections.headline(judged, shares[index], rates[index], platinum[index], guesses),
            sections.rates_table(rates[index]),
            *_figures(judged, rates[index], "" if len(runs) == 1 else f"-{index}"),
        )
        parts.append(_of_run(index, judged, body, len(runs)))
    explorer = _section("explorer", "Every problem, every completion", Html(_shipped(EXPLORER)))
    data = join(
        *(
            el("script", Html(block.body), type="application/gzip-base64", id=block.id)
            for block in blocks_of(runs, scorers)
        )
    )
    skip = el("a", "Skip to the explorer", href="#explorer", class_="skip")
    return document(_title(runs), join(*parts, explorer), skip, data, live=live)


def _figures(judged: Judged, rates: Rates, suffix: str) -> list[Html]:
    points = curve(ballots_of(judged.headline)) if samples_of(judged)[1] > 1 else []
    parts = [
        ("scorers", "The same completions under every scorer", sections.scorers_section(judged)),
        ("causes", "Causes of misses", sections.causes_section(judged)),
        ("slices", "Where it is right", sections.slices_section(judged)),
        *([("k", "Over several samples", sections.curves_section(points))] if points else []),
        ("tokens", "Length, tokens, cost", sections.tokens_section(judged)),
        ("checklist", "Reporting checklist", sections.checklist_section(judged, rates)),
    ]
    level = "h3" if suffix else "h2"
    return [_section(f"{id}{suffix}", heading, body, level) for id, heading, body in parts]


def _of_run(index: int, judged: Judged, body: Html, runs: int) -> Html:
    if runs == 1:
        return el("div", body, id="run-0")
    summary = el("summary", el("h2", judged.name, id=f"run-{index}-name"))
    return el("details", summary, body, id=f"run-{index}", class_="run", open=index == 0)


def _section(id: str, heading: str, body: Html, level: str = "h2") -> Html:
    """Return a section of the page with its heading."""
    run = re.search(r"-\d+\Z", id)
    label = f"run{run.group()}-name {id}-title" if run else f"{id}-title"
    return el("section", el(level, heading, id=f"{id}-title"), body, id=id, aria_labelledby=label)


def _title(runs: Sequence[Judged]) -> str:
    """Return the title: the runs and their dataset."""
    name = runs[0].name if len(runs) == 1 else f"{len(runs)} runs"
    datasets = {judged.table.run.dataset for judged in runs}
    title = dataset_title(datasets.pop()) if len(datasets) == 1 else f"{len(datasets)} datasets"
    return f"{name} on {title}"


def document(
    title: str,
    main: Html,
    before: Html | None = None,
    data: Html | None = None,
    kicker: str = "Evaluation report",
    live: bool = False,
) -> str:
    """Return a whole page that runs only its own script and makes no requests.

    before: the start of the body; data: its end. live: the page may connect to its own server only.
    """
    style = "\n".join(map(_shipped, STYLES))
    script = "\n".join(map(_shipped, SCRIPTS))
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        f"base-uri 'none'; form-action 'none'; connect-src {LIVE if live else NOBODY}; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    now = datetime.now(UTC).strftime("%-d %B %Y, %H:%M UTC")
    head = join(
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", name="referrer", content="no-referrer"),
        el("title", f"{title} - gradeschool"),
        el("style", Html(style)),
    )
    header = el("header", el("p", kicker, class_="kicker"), el("h1", title), class_="title")
    written = f"Written by gradeschool {__version__} on {now}. "
    alone = (
        join(
            "Served by ",
            el("code", "gradeschool view"),
            " on this machine; it contacts no other machine.",
        )
        if live
        else "This file contains everything that it shows and makes no network requests."
    )
    footer = el("footer", el("p", written, alone))
    body = el("body", before, header, el("main", main), footer, data, el("script", Html(script)))
    whole = el("html", el("head", head), body, lang="en", data_live=live)
    return f"<!doctype html>\n{whole}\n"


def _hash(inline: str) -> str:
    digest = hashlib.sha256(inline.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _shipped(name: str) -> str:
    return (resources.files("gradeschool.reports") / "templates" / name).read_text(encoding="utf-8")


class Block(NamedTuple):
    """A compressed block and the id of its element."""

    id: str
    body: str


class CompletionRow(NamedTuple):
    """The position of a completion on the page: problem, run and its place in the run."""

    problem: int
    run: int
    sample: int
    place: int


def blocks_of(runs: Sequence[Judged], scorers: Sequence[Scorer]) -> Iterator[Block]:
    """Yield the blocks of a page; `scorers` are in the order of their marks."""
    problems: dict[tuple[str, str], Problem] = {}
    for judged in runs:
        for each in judged.completions:
            problems.setdefault((each.problem.id, each.problem.question), each.problem)
    places = {key: index for index, key in enumerate(problems)}
    rows = sorted(
        CompletionRow(
            places[each.problem.id, each.problem.question], run, each.sample.sample, place
        )
        for run, judged in enumerate(runs)
        for place, each in enumerate(judged.completions)
    )
    completions = [runs[row.run].completions[row.place] for row in rows]
    causes = sorted({each.cause for each in completions if each.cause})
    families = _families(scorers)[: max(1, MOST_READINGS // max(len(rows), 1))]
    marked = [scorer for family in families for scorer in family]
    yield Block("problems", _packed(_problems(runs, list(problems.values()), causes, marked)))
    yield from _prompt_blocks(runs, list(problems.values()))
    yield Block("columns", _compressed(_columns(rows, completions, causes)))
    for number, start in enumerate(range(0, len(rows), CHUNK)):
        texts = [_text(each, families) for each in completions[start : start + CHUNK]]
        yield Block(f"texts-{number}", _packed(texts))


def _prompt_blocks(runs: Sequence[Judged], problems: Sequence[Problem]) -> Iterator[Block]:
    """Yield the prompts of every problem in each run, if any run has prompts."""
    if not any(judged.run.prompts for judged in runs):
        return
    for number, start in enumerate(range(0, len(problems), PROMPT_CHUNK)):
        chunk = problems[start : start + PROMPT_CHUNK]
        yield Block(f"prompts-{number}", _packed([
            [_prompt(judged.run.prompts.get(problem.id)) for judged in runs] for problem in chunk
        ]))  # fmt: skip


def _prompt(prompt: Prompt | None) -> str | list[list[str]] | None:
    if prompt is None:
        return None
    if prompt.text is not None:
        return prompt.text
    messages = [list(message) for message in prompt.messages]
    return messages if prompt.prefix is None else [*messages, [BEGUN, prompt.prefix]]


def _families(scorers: Sequence[Scorer]) -> list[list[Scorer]]:
    """Group the scorers that extract alike: one extraction serves them all."""
    families: dict[object, list[Scorer]] = {}
    for scorer in scorers:
        families.setdefault((scorer.extract, scorer.reference), []).append(scorer)
    return list(families.values())


def _problems(
    runs: Sequence[Judged],
    problems: Sequence[Problem],
    causes: Sequence[str],
    marked: Sequence[Scorer],
) -> dict[str, Any]:
    names = list(runs[0].scorers)
    return {
        "runs": [judged.name for judged in runs],
        "scorers": names,
        "headline": HEADLINE,
        "marked": [names.index(scorer.name) for scorer in marked],
        "causes": causes,
        "chunk": CHUNK,
        "valued": any(each.valued for judged in runs for each in judged.completions),
        "prompted": [bool(judged.run.prompts) for judged in runs],
        "promptChunk": PROMPT_CHUNK,
        "problems": [
            [problem.id, problem.question, problem.gold, problem.solution] for problem in problems
        ],
    }


def _columns(
    rows: Sequence[CompletionRow], completions: Sequence[JudgedCompletion], causes: Sequence[str]
) -> bytes:
    """Return problem, run, sample, tokens (-1: unknown) in 32 bits; finish, cause, codes in bytes.

    Each column is contiguous; cause is 0 without a cause, otherwise 1 + its index; codes are by
    scorer.
    """
    tokens, finishes, result = array("i"), bytearray(), bytearray()
    for each in completions:
        written = each.sample.usage.completion_tokens
        tokens.append(-1 if written is None else written)
        finishes.append(FINISHES.index(each.sample.finish))
        result.append(causes.index(each.cause) + 1 if each.cause else 0)
    numbers = [array("i", (row[index] for row in rows)) for index in range(3)]
    columns = zip(*(each.outcomes for each in completions), strict=True)
    by_scorer = b"".join(map(bytes, columns))
    for column in (*numbers, tokens):
        if byteorder == "big":
            column.byteswap()
    fixed = b"".join(column.tobytes() for column in (*numbers, tokens))
    return fixed + bytes(finishes) + bytes(result) + by_scorer


def _text(completion: JudgedCompletion, families: Sequence[Sequence[Scorer]]) -> list[Any]:
    """Return [text, readings, characters left out, error], then a verifier's values, if any.

    A reading is [start, end, value, scorers]: positions in UTF-16 units of the kept text, -1 if the
    extracted answer is not in it; value is "" if it equals the characters there.
    """
    text, error = completion.sample.text, completion.sample.error
    if error:
        return ["", [], 0, error]
    left_out = max(0, len(text) - 2 * KEPT)
    readings: dict[tuple[int, int, str], list[int]] = {}
    position = 0
    for index, family in enumerate(families):  # the first is that of the headline scorer
        answer = family[0].judge(text, completion.problem).answer if index else completion.answer
        if answer is not None:
            key = _reading(answer, text, left_out)
            readings.setdefault(key, []).extend(range(position, position + len(family)))
        position += len(family)
    kept = text[:KEPT] + text[-KEPT:] if left_out else text
    units = _units(kept)
    placed = [
        [units(start), units(end), *rest, scorers]
        for (start, end, *rest), scorers in readings.items()
    ]
    valued = completion.valued
    return [kept, placed, left_out, "", *([] if valued is None else [_valued(text, valued)])]


def _valued(text: str, values: TokenValues) -> list[Any]:
    """Return [score, parts of the text, the value after each part in hundredths]."""
    hundredths = [round(100 * min(max(value, 0.0), 1.0)) for value in values.values]
    return [round(values.score, 4), pieces(text, values.tokens), hundredths]


def _reading(answer: Answer, text: str, left_out: int) -> tuple[int, int, str]:
    start, end = _kept_span(answer.span, len(text), left_out)
    literal = start >= 0 and answer.value == text[slice(*answer.span or ())]
    return start, end, "" if literal else answer.value[:LONGEST_VALUE]


def _kept_span(span: tuple[int, int] | None, length: int, left_out: int) -> tuple[int, int]:
    """Return a span's position in the kept text, (-1, -1) if it is not in it."""
    if span is None:
        return -1, -1
    start, end = span
    if not left_out or end <= KEPT:
        return start, end
    return (start - left_out, end - left_out) if start >= length - KEPT else (-1, -1)


def _units(text: str) -> Any:
    """Return the function from a position in characters to JavaScript's UTF-16 units."""
    if not text or max(text) <= LARGEST_BMP:
        return lambda place: place
    wide = [index for index, char in enumerate(text) if char > LARGEST_BMP]

    def units(place: int) -> int:
        return place if place < 0 else place + bisect_left(wide, place)

    return units


def _packed(value: object) -> str:
    return _compressed(json.dumps(value, separators=(",", ":")).encode())


def _compressed(body: bytes) -> str:
    return base64.b64encode(gzip.compress(body, 6, mtime=0)).decode()
