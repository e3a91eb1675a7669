"""The HTML page of runs: the values of `templates/report.html`, and the data of its explorer.

The explorer reads blocks of JSON, gzip in base64 (so that no text can end a <script> element):
`data` (the problems, and columns of facts of all completions in the order of problem, run, sample),
`texts-N` (texts and extracted answers of CHUNK completions), and `prompts-N` (the prompts of
PROMPT_CHUNK problems for each run: null, a text or [role, content] pairs).
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Sequence
from math import log
from typing import Any

from gradeschool.completion import Prompt
from gradeschool.formats.own_run import other_models
from gradeschool.formats.settings import mapping
from gradeschool.problem import Problem
from gradeschool.reports.comparison import (
    compared_with_first,
    difference_in_words,
    methods_in_words,
)
from gradeschool.reports.measured import (
    changed_settings,
    dataset_title,
    engine_words,
    known_protocol,
    measured,
    temperature_words,
    truncation_advice,
)
from gradeschool.reports.pages import axis_over, render
from gradeschool.reports.report_data import (
    HEADLINE,
    Judged,
    JudgedCompletion,
    accuracy_by_steps,
    scorer_groups,
)
from gradeschool.reports.terminal import disagrees
from gradeschool.scorer import Scorer, clip
from gradeschool.scoring.at_k import ballots_by_problem, curve
from gradeschool.scoring.score import Forms
from gradeschool.scoring.table import CORRECT, ERROR

CHUNK = 1000
PROMPT_CHUNK = 200  # number of problems per block; all of them share the few-shot examples
BEGUN = "assistant, begun"  # the role of an answer's start, which the model continues
# Maximum number of marks (completions x extractions); beyond it, only the first scorers have marks.
MOST_READINGS = 400_000
LONGEST_VALUE = 200
QUANTILES = (0.5, 0.9, 1.0)


def report_page(runs: Sequence[Judged], scorers: Sequence[Scorer], live: bool = False) -> str:
    """Return the page of one or several runs, judged by `scorers`, the headline first.

    live: the page is served by `gradeschool view`.
    """
    shown = [_run_values(judged) for judged in runs]
    datasets = {judged.source.run.dataset for judged in runs}
    title = dataset_title(datasets.pop()) if len(datasets) == 1 else f"{len(datasets)} datasets"
    several: dict[str, Any] = {}
    if len(runs) > 1:
        _, comparisons, refusal = compared_with_first([judged.headline for judged in runs])
        judged_problems = {
            (each.problem.id, each.problem.question)
            for judged in runs for each in judged.completions if each.outcome != ERROR
        }  # fmt: skip
        several = {
            "axis": axis_over(judged.result.ci95 for judged in runs if judged.result.judged),
            "problems": len(judged_problems),
            "by_run": comparisons,
            "verdicts": {index: difference_in_words(each) for index, each in comparisons.items()},
            "words": refusal or methods_in_words(list(comparisons.values())),
        }
    return render(
        "report.html",
        f"{runs[0].name if len(runs) == 1 else f'{len(runs)} runs'} on {title}",
        live=live,
        scorer=scorers[HEADLINE].name,
        runs=shown,
        comparison=several,
        blocks=list(page_blocks(runs, scorers)),
    )


def _run_values(judged: Judged) -> dict[str, Any]:
    """Return what the template shows of one run."""
    score, result, manifest = judged.score, judged.result, judged.manifest
    forms = score.forms or Forms(0, 0, 0, 0, 0)
    samples, finish_known = judged.samples(), judged.finish_known()
    points = curve(ballots_by_problem(judged.headline)) if samples[1] > 1 else []
    width = (log(points[-1].k) or 1.0) if points else 1.0
    others = other_models(
        str(manifest.get("model") or ""), mapping(judged.results.get("answered_by"))
    )
    checklist = _checklist(judged, others)
    steps = accuracy_by_steps(judged)
    groups = scorer_groups(judged)
    # The spread leaves out the same scorers as the line under a table of scores.
    finding = [row for row in groups if row.finds]
    read = sum(len(row.names) for row in finding)
    mute = len(score.scorers) - read if read > 1 else 0
    accuracies = [row.result.accuracy for row in (finding if mute else groups)]
    settings = measured(manifest)
    if settings and settings[-1][0] != "changed":
        known = known_protocol(manifest) is not None
        changed = "nothing: the protocol as published"
        settings.append(
            ("changed", changed if known else "not known: this version has no such protocol")
        )
    return {
        "judged": judged,
        "result": result,
        "problems": len({each.problem.id for each in judged.completions if each.outcome != ERROR}),
        "forms": forms,
        "samples": samples,
        "finish_known": finish_known,
        "platinum": score.platinum and score.platinum.scorers[HEADLINE],
        "removed": score.n - score.platinum.n if score.platinum else 0,
        "flags": (flags := score.flags.get(result.scorer)),
        "disagrees": flags is not None and disagrees(flags),
        "notes": judged.source.notes,
        "dataset": dataset_title(judged.source.run.dataset),
        "settings": settings,
        # Without finish reasons, a text that looks cut may not be: no advice is given.
        "advice": finish_known
        and truncation_advice(manifest, forms.n, forms.truncated, forms.run_on),
        "others": others,
        "scorers": {
            "rows": groups,
            "total": len(score.scorers),
            "mute": mute,
            "spread": max(accuracies) - min(accuracies),
            "axis": axis_over(row.result.ci95 for row in groups if row.finds or row.own),
            "most": max(max(row.gained, row.lost) for row in groups),
            "errors": any(row.result.error for row in groups),
        },
        "causes": judged.causes(),
        "steps": steps,
        "steps_axis": axis_over(share.ci95 for _, share, _ in steps if share.judged),
        "points": points,
        "places": [log(point.k) / width for point in points],
        "points_axis": axis_over(
            interval for point in points for interval in (point.maj_ci95, point.pass_ci95)
        ),
        **_lengths(judged),
        "checklist": checklist,
        "missing": sum(value is None for _, value in checklist),
    }


def _lengths(judged: Judged) -> dict[str, Any]:
    """Return the unit of lengths, rows of quantiles, and what was spent in all.

    unit: tokens if they are recorded for all texts, else characters.
    """
    texts = [each for each in judged.completions if not each.sample.error]
    usages = [each.sample.usage for each in judged.completions]
    sent, written, thinking = (
        [count for count in column if count is not None]
        for column in (zip(*usages, strict=True) if usages else ((), (), ()))
    )
    is_known = bool(texts) and all(each.sample.usage.completion_tokens is not None
                                   for each in texts)  # fmt: skip
    sizes: dict[bool, list[float]] = {True: [], False: []}
    for each in texts:
        if each.outcome != ERROR:
            size = each.sample.usage.completion_tokens if is_known else len(each.sample.text)
            sizes[each.outcome == CORRECT].append(size or 0)
    timed = [(stored.latency, stored.usage.completion_tokens) for each in judged.completions
             if (stored := each.sample.stored) and stored.latency]  # fmt: skip
    columns = [
        ("correct", ",", sizes[True]),
        ("not correct", ",", sizes[False]),
        ("seconds an answer", ".4g", [seconds for seconds, _ in timed]),
        ("tokens a second", ".4g", [tokens / seconds for seconds, tokens in timed if tokens]),
    ]
    cost = mapping(judged.results.get("cost")).get("dollars")
    return {
        "unit": "tokens" if is_known else "characters",
        "lengths": [
            (name, len(each), [format(sorted(each)[int(q * (len(each) - 1))], form)
                               for q in QUANTILES])
            for name, form, each in columns if each
        ],
        "spent": [
            ("completion tokens", f"{sum(written):,}" if written else None),
            *([("thinking tokens, of these", f"{sum(thinking):,}")] if thinking else []),
            ("prompt tokens", f"{sum(sent):,}" if sent else None),
            *((name, f"{value:,.6g}" if isinstance(value, int | float) and value else None)
              for name, value in (("seconds of the last session", judged.results.get("seconds")),
                                  ("cost, dollars", cost))),
        ],
    }  # fmt: skip


def _checklist(judged: Judged, others: str) -> list[tuple[str, str | None]]:
    """Return what a result on GSM8K must state so that others can get the same number.

    others: the models that the server says answered. The value of a point that the run does not
    record is None.
    """
    manifest, published = judged.manifest, known_protocol(judged.manifest)
    dataset, shots, protocol, decoding, engine = (
        mapping(manifest.get(name))
        for name in ("dataset", "shots", "protocol", "decoding", "engine")
    )
    model, version = str(manifest.get("model") or ""), manifest.get("gradeschool")
    examples = prompt_format = changed = sampling = limits = None
    if shots:
        number = f"{published.shot_count} of " if published and published.shot_count else ""
        examples = f"{number}{shots.get('name')}, SHA-256 {shots.get('sha256')}"
    elif manifest:
        examples = "none (0-shot)"
    if published:
        prompt_format = "one text (completion)"
        if published.is_chat:
            prompt_format = "chat messages (the server's template)"
        changed = ", ".join(changed_settings(manifest)) or "nothing"
    if "temperature" in decoding:
        top_p, seed = decoding.get("top_p"), decoding.get("seed")
        nucleus = "" if top_p is None else f"top-p {top_p}, "
        seeded = "no seed" if seed is None else f"seed {seed}"
        sampling = f"{temperature_words(decoding['temperature'])}, {nucleus}{seeded}"
    if "max_tokens" in decoding:
        stop, limit = decoding.get("stop") or [], decoding["max_tokens"]
        strings = map(str, stop) if isinstance(stop, list) else [str(stop)]
        stops = ", ".join(map(repr, strings)) or "no stop strings"
        limits = f"{stops}; {f'{limit} tokens' if limit else 'the limit of the server'}"
    fewest, most = judged.samples()
    samples = "1"
    if most != 1:
        samples = (
            f"{fewest if fewest == most else f'{fewest} to {most}'}: accuracy is the mean over "
            "problems of the share of each, maj@k and pass@k are reported separately"
        )
    forms = judged.score.forms or Forms(0, 0, 0, 0, 0)
    cut = "truncated" if judged.finish_known() else "look cut (no finish reason is recorded)"
    if others:
        model += f"; the server says that it answered as {others}"
    return [
        ("Model", model or None),
        ("Engine and versions", version and (
            f"{engine_words(manifest) or 'engine not recorded'}; gradeschool {version}, "
            f"Python {manifest.get('python') or 'unknown'}"
        )),
        ("Precision", engine.get("precision") and f"weights {engine['precision']}"),
        ("Test set and its digest",
         dataset.get("name") and f"{dataset['name']}, SHA-256 {dataset.get('sha256')}"),
        ("Few-shot examples", examples),
        ("Prompt format", prompt_format),
        ("Protocol", protocol.get("name") and (
            f"{protocol['name']}, hash {protocol.get('digest')}; {protocol.get('source')}"
        )),
        ("Reading and comparing the answer", judged.result.scorer),
        ("Decoding", sampling),
        ("Changed from the protocol", changed),
        ("Samples a problem", samples),
        ("Stop strings and limit", limits),
        ("Truncated, empty, run-on", f"{forms.truncated} {cut}, {forms.empty} empty, "
                                     f"{forms.run_on} ran on, of {forms.n}"),
        ("Errors", f"{judged.result.error} of {judged.score.n}, left out of the accuracy, except "
                   "texts on which the scorer itself fails: they give its bounds"),
        ("Interval", "95 %, Wilson; by problem where there are several samples"),
    ]  # fmt: skip


def page_blocks(runs: Sequence[Judged], scorers: Sequence[Scorer]) -> Iterator[tuple[str, str]]:
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
    # Scorers that extract alike: one extraction serves them all.
    alike: dict[object, list[int]] = {}
    for index, scorer in enumerate(scorers):
        alike.setdefault((scorer.extract, scorer.reference), []).append(index)
    families = list(alike.values())[: max(1, MOST_READINGS // max(len(rows), 1))]
    prompted = [bool(judged.prompts) for judged in runs]
    listed = list(problems.values())
    yield "data", _packed({
        "runs": [judged.name for judged in runs],
        "scorers": [scorer.name for scorer in scorers],
        "named": sorted({each.cause for each in completions if each.cause}),
        "chunk": CHUNK,
        "promptChunk": PROMPT_CHUNK,
        "prompted": prompted,
        "valued": any(each.valued for each in completions),
        "problems": [[each.id, each.question, each.gold, each.solution] for each in listed],
        **{name: [row[at] for row in rows] for at, name in enumerate(("problem", "run", "sample"))},
        "tokens": [each.sample.usage.completion_tokens for each in completions],
        "finish": [each.sample.finish for each in completions],
        "cause": [each.cause for each in completions],
        "flag": [each.sample.flag for each in completions],
        # A digit for each completion, and a string for each scorer.
        "codes": ["".join(map(str, column)) for column in zip(
            *(each.outcomes for each in completions), strict=True)],
    })  # fmt: skip
    for start in range(0, len(listed), PROMPT_CHUNK) if any(prompted) else ():
        chunk = listed[start : start + PROMPT_CHUNK]
        prompts = [[_prompt(judged.prompts.get(each.id)) for judged in runs] for each in chunk]
        yield f"prompts-{start // PROMPT_CHUNK}", _packed(prompts)
    for start in range(0, len(rows), CHUNK):
        texts = [_text(each, scorers, families) for each in completions[start : start + CHUNK]]
        yield f"texts-{start // CHUNK}", _packed(texts)


def _prompt(prompt: Prompt | None) -> str | list[list[str]] | None:
    if prompt is None:
        return None
    if prompt.text is not None:
        return prompt.text
    messages = [list(message) for message in prompt.messages]
    return messages if prompt.prefix is None else [*messages, [BEGUN, prompt.prefix]]


def _text(
    completion: JudgedCompletion, scorers: Sequence[Scorer], families: Sequence[Sequence[int]]
) -> dict[str, Any]:
    """Return a completion's text, or its error, with what is known of it.

    readings: [start, end, value, scorers] of each extracted answer: positions in characters, -1 if
    the answer is not literally in the text. thinking: what the server returned apart. values: a
    verifier's [score, parts of the text, the value after each part in hundredths].
    """
    sample = completion.sample
    if sample.error:
        return {"text": "", "readings": [], "error": sample.error}
    readings: dict[tuple[int, int, str], list[int]] = {}
    for family in families:
        answer = completion.answer
        if HEADLINE not in family:
            answer = scorers[family[0]].judge(sample.text, completion.problem).answer
        if answer is not None:
            key = *(answer.span or (-1, -1)), clip(answer.value or answer.text, LONGEST_VALUE)
            readings.setdefault(key, []).extend(family)
    row: dict[str, Any] = {
        "text": sample.text,
        "readings": [[*key, scorers] for key, scorers in readings.items()],
    }
    if sample.stored and sample.stored.reasoning:
        row["thinking"] = sample.stored.reasoning
    if valued := completion.valued:
        hundredths = [round(100 * min(max(value, 0.0), 1.0)) for value in valued.values]
        row["values"] = [round(valued.score, 4), valued.tokens, hundredths]
    return row


def _packed(value: object) -> str:
    """Return a value as JSON, gzip in base64; the same value gives the same text."""
    body = json.dumps(value, separators=(",", ":")).encode()
    return base64.b64encode(gzip.compress(body, 6, mtime=0)).decode()
