"""The HTML page of runs: the values of `templates/report.html`, and the data of its explorer.

The explorer reads four kinds of blocks, gzip in base64 (so that no text can end a <script>
element): `problems` (JSON), `columns` (numbers of all completions, binary), `texts-N` (JSON, texts
and extracted answers of CHUNK completions), and `prompts-N` (JSON, the prompts of PROMPT_CHUNK
problems for each run: null, a text or [role, content] pairs). Completions are in the order of
problem, run, sample.
"""

from __future__ import annotations

import base64
import gzip
import json
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from math import log
from sys import byteorder
from typing import Any

from gradeschool.completion import Prompt
from gradeschool.errors import InputError
from gradeschool.formats.own_run import other_models
from gradeschool.formats.settings import mapping
from gradeschool.problem import Problem
from gradeschool.reports.comparison import compared_with_first, methods_of, verdict_of
from gradeschool.reports.judged import (
    HEADLINE,
    Judged,
    JudgedCompletion,
    flags_of,
    guess_sentence,
    lengths_of,
    pieces,
    platinum_of,
    rates_of,
    scorer_groups,
    slices_of,
)
from gradeschool.reports.measured import (
    dataset_title,
    engine_words,
    known_protocol,
    measured,
    temperature_words,
    truncation_advice,
)
from gradeschool.reports.pages import axis_over, render
from gradeschool.reports.terminal import disagrees
from gradeschool.scorer import Scorer
from gradeschool.scoring.at_k import ballots_of, curve
from gradeschool.scoring.compare import Comparison, Outcomes, all_pairs, is_cheap
from gradeschool.scoring.table import ERROR

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
FEWEST_PAIRED, MOST_PAIRED = 3, 12  # number of runs for which every pair is compared
ALPHA = 0.05


def report_page(runs: Sequence[Judged], scorers: Sequence[Scorer], live: bool = False) -> str:
    """Return the page of one or several runs, judged by `scorers`, the headline first.

    live: the page is served by `gradeschool view`, and is updated with its runs.
    """
    shown = [_run_values(judged) for judged in runs]
    datasets = {judged.table.run.dataset for judged in runs}
    title = dataset_title(datasets.pop()) if len(datasets) == 1 else f"{len(datasets)} datasets"
    return render(
        "report.html",
        f"{runs[0].name if len(runs) == 1 else f'{len(runs)} runs'} on {title}",
        live=live,
        scorer=scorers[HEADLINE].name,
        runs=shown,
        comparison=_comparison(runs, shown) if len(runs) > 1 else None,
        blocks=list(blocks_of(runs, scorers)),
    )


def _run_values(judged: Judged) -> dict[str, Any]:
    """Return what the template shows of one run."""
    share, rates, slices = judged.share(), rates_of(judged), slices_of(judged)
    points = curve(ballots_of(judged.headline)) if judged.samples()[1] > 1 else []
    width = (log(points[-1].k) or 1.0) if points else 1.0
    checklist = _checklist(judged)
    settings = measured(judged.manifest)
    # Without finish reasons, a text that looks cut may not be: no advice is given.
    truncated = rates.truncated if rates.finish_known else 0
    return {
        "judged": judged,
        "share": share,
        "rates": rates,
        "samples": judged.samples(),
        "platinum": platinum_of(judged),
        "guesses": guess_sentence(judged, share),
        "flags": (flags := flags_of(judged)),
        "disagrees": flags is not None and disagrees(flags),
        "notes": judged.source.notes,
        "dataset": dataset_title(judged.table.run.dataset),
        "settings": settings,
        "known": known_protocol(judged.manifest) is not None,
        "advice": truncation_advice(judged.manifest, rates.texts, truncated, rates.run_on),
        "others": other_models(settings.model, judged.results.get("answered_by")),
        "scorers": _scorer_rows(judged),
        "causes": judged.causes().most_common(),
        "slices": slices,
        "slices_axis": axis_over(
            share.interval for way in slices for _, share in way.classes if share.judged
        ),
        "points": points,
        "places": [log(point.k) / width for point in points],
        "points_axis": axis_over(
            interval for point in points for interval in (point.maj_ci95, point.pass_ci95)
        ),
        "lengths": lengths_of(judged),
        "times": _times(judged),
        "spent": _spent(judged),
        "checklist": checklist,
        "missing": sum(value is None for _, value in checklist),
    }


def _scorer_rows(judged: Judged) -> dict[str, Any]:
    """Return the groups of scorers, and how far apart those are that find answers.

    The same scorers are left out of the spread as in the line under a table of scores.
    """
    rows = scorer_groups(judged)
    finding = [row for row in rows if row.finds]
    read = sum(len(row.names) for row in finding)
    mute = len(judged.scorers) - read if read > 1 else 0
    accuracies = [row.share.accuracy for row in (finding if mute else rows)]
    return {
        "rows": rows,
        "total": len(judged.scorers),
        "mute": mute,
        "spread": max(accuracies) - min(accuracies),
        "axis": axis_over(row.share.interval for row in rows if row.finds or row.own),
        "most": max(max(row.gained, row.lost) for row in rows),
        "errors": any(row.errors for row in rows),
    }


def _times(judged: Judged) -> list[tuple[str, list[float]]]:
    """Return the sorted seconds of each answer, and tokens a second, where they are recorded."""
    stored = [each.sample.stored for each in judged.completions if each.sample.stored]
    timed = [(each.latency, each.usage.completion_tokens) for each in stored if each.latency]
    return [
        ("seconds an answer", sorted(seconds for seconds, _ in timed)),
        ("tokens a second", sorted(tokens / seconds for seconds, tokens in timed if tokens)),
    ]


def _spent(judged: Judged) -> list[tuple[str, str | None]]:
    columns = zip(*(each.sample.usage for each in judged.completions), strict=True)
    known = [[count for count in column if count is not None] for column in columns]
    prompt_tokens, tokens, thinking = known or ([], [], [])

    def figure(value: object) -> str | None:
        return f"{value:,.6g}" if isinstance(value, int | float) and value else None

    return [
        ("completion tokens", f"{sum(tokens):,}" if tokens else None),
        *([("thinking tokens, of these", f"{sum(thinking):,}")] if thinking else []),
        ("tokens per completion", f"{sum(tokens) / len(tokens):.1f}" if tokens else None),
        ("prompt tokens", f"{sum(prompt_tokens):,}" if prompt_tokens else None),
        ("seconds of the last session", figure(judged.results.get("seconds"))),
        ("cost, dollars", figure(mapping(judged.results.get("cost")).get("dollars"))),
    ]


def _checklist(judged: Judged) -> list[tuple[str, str | None]]:
    """Return what a result on GSM8K must state so that others can get the same number.

    The value of a point that the run does not record is None.
    """
    manifest, rates = judged.manifest, rates_of(judged)
    published, settings = known_protocol(manifest), measured(manifest)

    def text(fields: Mapping[str, Any], name: str) -> str | None:
        return str(fields[name]) if fields.get(name) not in (None, "", [], {}) else None

    model = text(manifest, "model")
    others = other_models(model or "", mapping(judged.results.get("answered_by")))
    versions = None
    if version := text(manifest, "gradeschool"):
        engine = engine_words(manifest) or "engine not recorded"
        python = text(manifest, "python") or "unknown"
        versions = f"{engine}; gradeschool {version}, Python {python}"
    dataset, shots = mapping(manifest.get("dataset")), mapping(manifest.get("shots"))
    examples = "none (0-shot)" if manifest else None
    if shots:
        number = f"{published.shot_count} of " if published and published.shot_count else ""
        examples = f"{number}{text(shots, 'name')}, SHA-256 {text(shots, 'sha256')}"
    prompt_format = None
    if published:
        chat, plain = "chat messages (the server's template)", "one text (completion)"
        prompt_format = chat if published.is_chat else plain
    protocol, decoding = mapping(manifest.get("protocol")), mapping(manifest.get("decoding"))
    sampling = limits = None
    if "temperature" in decoding:
        top_p, seed = decoding.get("top_p"), decoding.get("seed")
        sampling = ", ".join([
            temperature_words(decoding["temperature"]),
            *([] if top_p is None else [f"top-p {top_p}"]),
            "no seed" if seed is None else f"seed {seed}",
        ])  # fmt: skip
    if "max_tokens" in decoding:
        stop, limit = decoding.get("stop") or [], decoding["max_tokens"]
        strings = map(str, stop) if isinstance(stop, list) else [str(stop)]
        stops = ", ".join(map(repr, strings)) or "no stop strings"
        limits = f"{stops}; {f'{limit} tokens' if limit else 'the limit of the server'}"
    fewest, most = judged.samples()
    samples = "1"
    if most != 1:
        number = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        samples = (
            f"{number}: accuracy is the mean over problems of the share of each, maj@k and pass@k "
            "are reported separately"
        )
    cut = "truncated" if rates.finish_known else "look cut (no finish reason is recorded)"
    return [
        ("Model", f"{model}; the server says that it answered as {others}" if others else model),
        ("Engine and versions", versions),
        ("Precision", settings.precision or None),
        (
            "Test set and its digest",
            f"{dataset['name']}, SHA-256 {text(dataset, 'sha256')}"
            if dataset.get("name")
            else None,
        ),
        ("Few-shot examples", examples),
        ("Prompt format", prompt_format),
        (
            "Protocol",
            f"{protocol['name']}, hash {text(protocol, 'digest')}; {text(protocol, 'source')}"
            if protocol.get("name")
            else None,
        ),
        ("Reading and comparing the answer", judged.scorers[HEADLINE]),
        ("Decoding", sampling),
        (
            "Changed from the protocol",
            (", ".join(settings.changes) or "nothing") if published else None,
        ),
        ("Samples a problem", samples),
        ("Stop strings and limit", limits),
        (
            "Truncated, empty, run-on",
            f"{rates.truncated} {cut}, {rates.empty} empty, {rates.run_on} ran on, of "
            f"{rates.texts}",
        ),
        ("Errors", f"{rates.errors} of {rates.samples}, left out of the accuracy"),
        ("Interval", "95 %, Wilson; by problem where there are several samples"),
    ]


def _comparison(runs: Sequence[Judged], shown: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the paired differences of runs from the first, and of every pair of a few runs."""
    outcomes, comparisons, refusal = compared_with_first([judged.headline for judged in runs])
    problems = {
        (each.problem.id, each.problem.question)
        for judged in runs for each in judged.completions if each.outcome != ERROR
    }  # fmt: skip
    return {
        "axis": axis_over(run["share"].interval for run in shown if run["share"].judged),
        "problems": len(problems),
        "by_run": comparisons,
        "verdicts": {index: verdict_of(each) for index, each in comparisons.items()},
        "words": refusal or methods_of(list(comparisons.values())),
        "pairs": _every_pair(outcomes),
        "alpha": ALPHA,
    }


def _every_pair(outcomes: Sequence[Outcomes]) -> Mapping[tuple[int, int], Comparison]:
    """Return the comparison of every pair of runs, {} for few runs or many, or without pairing."""
    if not (FEWEST_PAIRED <= len(outcomes) <= MOST_PAIRED and is_cheap(outcomes)):
        return {}
    try:
        return all_pairs(outcomes)
    except InputError:  # a problem of which the first run has only failed samples
        return {}


def blocks_of(runs: Sequence[Judged], scorers: Sequence[Scorer]) -> Iterator[tuple[str, str]]:
    """Yield the id and the content of each block; `scorers` are in the order of their marks."""
    problems: dict[tuple[str, str], Problem] = {}
    for judged in runs:
        for each in judged.completions:
            problems.setdefault((each.problem.id, each.problem.question), each.problem)
    places = {key: index for index, key in enumerate(problems)}
    rows = sorted(
        (places[each.problem.id, each.problem.question], run, each.sample.sample, place)
        for run, judged in enumerate(runs)
        for place, each in enumerate(judged.completions)
    )
    completions = [runs[run].completions[place] for _, run, _, place in rows]
    causes = sorted({each.cause for each in completions if each.cause})
    # Scorers that extract alike: one extraction serves them all.
    alike: dict[object, list[Scorer]] = {}
    for scorer in scorers:
        alike.setdefault((scorer.extract, scorer.reference), []).append(scorer)
    families = list(alike.values())[: max(1, MOST_READINGS // max(len(rows), 1))]
    names = list(runs[0].scorers)
    facts: dict[str, Any] = {
        "runs": [judged.name for judged in runs],
        "scorers": names,
        "headline": HEADLINE,
        "marked": [names.index(scorer.name) for family in families for scorer in family],
        "causes": causes,
        "chunk": CHUNK,
        "valued": any(each.valued for each in completions),
        "flagged": any(each.sample.flag is not None for each in completions),
        "prompted": [bool(judged.prompts) for judged in runs],
        "promptChunk": PROMPT_CHUNK,
        "problems": [[each.id, each.question, each.gold, each.solution]
                     for each in problems.values()],
    }  # fmt: skip
    yield "problems", _packed(facts)
    for start in range(0, len(problems), PROMPT_CHUNK) if any(facts["prompted"]) else ():
        chunk = list(problems.values())[start : start + PROMPT_CHUNK]
        prompts = [[_prompt(judged.prompts.get(each.id)) for judged in runs] for each in chunk]
        yield f"prompts-{start // PROMPT_CHUNK}", _packed(prompts)
    yield "columns", _compressed(_columns(rows, completions, causes))
    for start in range(0, len(rows), CHUNK):
        texts = [_text(each, families) for each in completions[start : start + CHUNK]]
        yield f"texts-{start // CHUNK}", _packed(texts)


def _prompt(prompt: Prompt | None) -> str | list[list[str]] | None:
    if prompt is None:
        return None
    if prompt.text is not None:
        return prompt.text
    messages = [list(message) for message in prompt.messages]
    return messages if prompt.prefix is None else [*messages, [BEGUN, prompt.prefix]]


def _columns(
    rows: Sequence[tuple[int, ...]], completions: Sequence[JudgedCompletion], causes: Sequence[str]
) -> bytes:
    """Return problem, run, sample, tokens (-1: unknown) as int32; finish, cause, flag, codes.

    Each column is contiguous; cause is 0 without a cause, otherwise 1 + its index; flag, the file's
    own verdict, is 0 without one, 1 for correct, 2 for wrong; codes are by scorer.
    """
    tokens = [each.sample.usage.completion_tokens for each in completions]
    numbers = [array("i", (row[index] for row in rows)) for index in range(3)]
    numbers.append(array("i", (-1 if written is None else written for written in tokens)))
    if byteorder == "big":
        for column in numbers:
            column.byteswap()
    finishes = bytes(FINISHES.index(each.sample.finish) for each in completions)
    numbered = bytes(causes.index(each.cause) + 1 if each.cause else 0 for each in completions)
    flags = bytes({None: 0, True: 1, False: 2}[each.sample.flag] for each in completions)
    codes = zip(*(each.outcomes for each in completions), strict=True)
    return b"".join([*(column.tobytes() for column in numbers), finishes, numbered, flags,
                     *map(bytes, codes)])  # fmt: skip


def _text(completion: JudgedCompletion, families: Sequence[Sequence[Scorer]]) -> dict[str, Any]:
    """Return a completion's text, or its error, with what is known of it.

    readings: [start, end, value, scorers] of each extracted answer: positions in UTF-16 units of
    the kept text, -1 if the answer is not in it; value is "" if it equals the characters there.
    left: characters left out. thinking: what the server returned apart. values: a verifier's
    [score, parts of the text, the value after each part in hundredths].
    """
    text, sample = completion.sample.text, completion.sample
    if sample.error:
        return {"text": "", "readings": [], "error": sample.error}
    left_out = max(0, len(text) - 2 * KEPT)
    readings: dict[tuple[int, int, str], list[int]] = {}
    position = 0
    for index, family in enumerate(families):  # the first is that of the headline scorer
        answer = family[0].judge(text, completion.problem).answer if index else completion.answer
        if answer is not None:
            start, end = kept_span(answer.span, len(text), left_out)
            literal = start >= 0 and answer.value == text[slice(*answer.span or ())]
            key = start, end, "" if literal else answer.value[:LONGEST_VALUE]
            readings.setdefault(key, []).extend(range(position, position + len(family)))
        position += len(family)
    kept = text[:KEPT] + text[-KEPT:] if left_out else text
    wide = [] if kept.isascii() else [i for i, char in enumerate(kept) if char > LARGEST_BMP]
    row: dict[str, Any] = {
        "text": kept,
        "readings": [
            [utf16_place(start, wide), utf16_place(end, wide), value, scorers]
            for (start, end, value), scorers in readings.items()
        ],
    }
    if left_out:
        row["left"] = left_out
    if sample.stored and sample.stored.reasoning:
        row["thinking"] = sample.stored.reasoning[:KEPT]
    if valued := completion.valued:
        hundredths = [round(100 * min(max(value, 0.0), 1.0)) for value in valued.values]
        row["values"] = [round(valued.score, 4), pieces(text, valued.tokens), hundredths]
    return row


def kept_span(span: tuple[int, int] | None, length: int, left_out: int) -> tuple[int, int]:
    """Return a span's position in the kept text, (-1, -1) if it is not in it."""
    if span is None:
        return -1, -1
    start, end = span
    if not left_out or end <= KEPT:
        return start, end
    return (start - left_out, end - left_out) if start >= length - KEPT else (-1, -1)


def utf16_place(place: int, wide: Sequence[int]) -> int:
    """Return a position in JavaScript's UTF-16 units; wide: positions of characters of two."""
    return place if place < 0 else place + bisect_left(wide, place)


def _packed(value: object) -> str:
    return _compressed(json.dumps(value, separators=(",", ":")).encode())


def _compressed(body: bytes) -> str:
    return base64.b64encode(gzip.compress(body, 6, mtime=0)).decode()
