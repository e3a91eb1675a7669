"""The report of runs: every completion under every scorer, as a page and as Markdown.

`read_scored_runs` reads runs and scores them. `report_page` fills `templates/report.html` with what
that gives. The page's explorer reads blocks of JSON, gzip in base64 (so that no text can end a
<script> element): `data` (the problems, and columns of facts of all completions in the order of
problem, run, sample), `texts-N` (texts and extracted answers of CHUNK completions), and `prompts-N`
(the prompts of PROMPT_CHUNK problems for each run: null, a text or [role, content] pairs).
"""

import base64
import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, log
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from gradeschool.completion import Finish, Prompt, Usage
from gradeschool.datasets.load import sha256_of
from gradeschool.errors import InputError
from gradeschool.formats import run_folder
from gradeschool.formats.read import completions_of
from gradeschool.formats.values import ReadOptions, Sample, mapping
from gradeschool.printable import count, markdown_text
from gradeschool.problem import Problem
from gradeschool.reports import measured
from gradeschool.reports.pages import axis_over, fill, render, save_page
from gradeschool.reports.terminal import accuracy_text, difference_in_words, disagrees
from gradeschool.runs.job import known_protocol, recorded_prompts
from gradeschool.scorer import Answer, Scorer, clip
from gradeschool.scoring import score as scoring
from gradeschool.scoring import table
from gradeschool.scoring.at_k import ballots_by_problem, curve, sample_key
from gradeschool.scoring.causes import explained_samples, label_changes_for
from gradeschool.scoring.compare import Comparison, compare, run_outcomes
from gradeschool.scoring.sources import Run, Warn, choose_runs, named_files

HEADLINE = 0  # the index of the headline scorer among those of a report
MOST_TOKENS = 5_000  # a longer completion is shown without its values
# Of the heat-map.
LAST_COLOUR = 10  # colours are numbered from 0
OUTSIDE = 20  # one value in 20 is below those that colours tell apart, and one is above
EACH_KIND = 4  # solutions that are shown


class TokenValues(NamedTuple):
    """A verifier's output for one completion: its score, and its value after each token."""

    verifier: str
    score: float
    tokens: tuple[str, ...]
    values: tuple[float, ...]


class JudgedCompletion(NamedTuple):
    """One completion, or the provider's error in its place, under every scorer of a report.

    outcomes: a byte for each scorer (`OUTCOMES`), the headline scorer first; all ERROR without a
    text. answer: extracted by the headline scorer. cause: of its verdict, as in `explain`; "" if
    scorer and text are right. valued: a verifier's values.
    """

    problem: Problem
    sample: Sample
    outcomes: bytes
    answer: Answer | None
    cause: str
    valued: TokenValues | None

    @property
    def outcome(self) -> int:
        """The outcome of the headline scorer."""
        return self.outcomes[HEADLINE]


class JudgedRun:
    """A run scored by every scorer of a report, with the causes under the first, the headline.

    values: a verifier's values of completions, by their keys. results: its results.json. prompts:
    sent prompts by problem id, only those that the keys of a run folder prove. headline: the table
    of the headline scorer alone, result: its result. score: of all scorers, with Platinum's labels
    if they change a problem. forms: counts of truncated, empty and run-on completions. revised: how
    many completions have a revised gold there. samples: the fewest and the most of a problem, (0,
    0) without completions. finish_known: a row has a finish reason; without any, texts only look
    cut. notes: what is said of the file, as sentences.
    """

    def __init__(
        self, run: Run, scorers: table.ScorerSet, values: Mapping[str, TokenValues],
        warn: Warn = lambda _: None,
    ) -> None:  # fmt: skip
        self.run, self.name, self.results = run, run.name, run_folder.results_of(run.path)
        self.headline = table.ScoredTable(run, scorers.scorers[:1])
        self.prompts: dict[str, Prompt] = {}
        self.completions: list[JudgedCompletion] = []
        by_key, changes = recorded_prompts(run.manifest, warn), label_changes_for(run)
        scored = scoring.score_batch(run.samples, scorers, changes)
        rows = [row for row in scored if row.problem is not None]
        explained = explained_samples(self.headline, changes)
        for (sample, problem, verdicts, causes, _), row in zip(explained, rows, strict=True):
            if sample.stored and sample.stored.key in by_key:
                self.prompts[problem.id] = by_key[sample.stored.key]
            self.completions.append(JudgedCompletion(
                problem,
                sample,
                outcomes=row.outcomes or bytes([table.ERROR]) * len(scorers.names),
                answer=verdicts[0].answer if verdicts else None,
                cause=str(causes[0] or ""),
                valued=values.get(sample_key(sample, problem)) if values else None,
            ))  # fmt: skip
        counts = Counter(row.kind for row in scored)
        self.score = scoring.score_counts(run.name, counts, scorers.names)
        self.result = self.score.scorers[HEADLINE]
        self.forms = self.score.forms or scoring.Forms(0, 0, 0, 0, 0)
        self.revised = sum(row.revised not in (b"", scoring.REMOVED) for row in rows)
        sizes = Counter(each.problem.id for each in self.completions).values()
        self.samples = min(sizes, default=0), max(sizes, default=0)
        self.finish_known = any(each.sample.finish != Finish.UNKNOWN for each in self.completions)
        self.notes = [f"{note[:1].upper()}{note[1:]}{'' if note.endswith('?') else '.'}"
                      for note in run.notes]  # fmt: skip

    def files(self) -> str:
        """Return the names of the run's files, each with its digest; "" for texts in memory."""
        if self.run.path == Path():
            return ""
        files = [completions_of(path) for path in named_files(str(self.run.path))]
        words = [f"{path.name}, SHA-256 {sha256_of(path)}" for path in files[:MOST_FILES]]
        more = len(files) - len(words)
        return "; ".join(words + [f"{more} more files"] * (more > 0))


def read_scored_runs(
    specs: Sequence[str], options: ReadOptions, names: Sequence[str], warn: Warn
) -> tuple[list[JudgedRun], table.ScorerSet]:
    """Read the runs of FILE or FILE#RUN arguments and score them; the headline scorer is first.

    names: the scorers; by default all that call no library, after the first scorer of the runs'
    protocol. Raises InputError, UnknownNameError, MissingExtraError.
    """
    chosen = table.choose_scorers(names)
    runs = choose_runs(specs, options, warn)
    named = next((name for name in names if name != table.ALL), None)
    first = table.scorer_for([run.manifest for run in runs], named)
    scorers = table.ScorerSet([first, *(other for other in chosen if other is not first)])
    values = {path: token_values(path, warn) for path in {run.path for run in runs}}
    return [JudgedRun(run, scorers, values[run.path], warn) for run in runs], scorers


class ScorerGroup:
    """Scorers that agree on every completion, against the headline scorer.

    names: the first is the headline, or the shortest. own: the headline scorer is one of them.
    finds: they call something correct, and find an answer in most completions. gained, lost:
    completions that they call correct and the headline does not, and the reverse.
    """

    def __init__(self, run: JudgedRun, names: tuple[str, ...]) -> None:
        self.result = result = run.score.result(names[0])
        place = run.score.scorers.index(result)
        pairs = Counter((each.outcome == table.CORRECT, each.outcomes[place] == table.CORRECT)
                        for each in run.completions
                        if table.ERROR not in (each.outcome, each.outcomes[place]))  # fmt: skip
        self.gained, self.lost = pairs[False, True], pairs[True, False]
        self.own = place == HEADLINE
        self.names = names if self.own else tuple(sorted(names, key=len))
        self.finds = bool(result.correct) and result.correct + result.wrong > result.no_answer


def scorer_groups(run: JudgedRun) -> list[ScorerGroup]:
    """Return the scorers that agree, by accuracy, highest first; of equals the headline's."""
    groups = [ScorerGroup(run, names) for names in run.score.agreeing]
    return sorted(groups, key=lambda group: (-group.result.accuracy, not group.own, group.names))


def token_values(source: Path, warn: Warn) -> dict[str, TokenValues]:
    """Return the values of a run folder's or file's completions by key, if there are any.

    Of several verifiers, the last one written is used, and `warn` is called. Rows whose values and
    tokens do not match are skipped.
    """
    found: dict[str, dict[str, TokenValues]] = {}  # by verifier, the last one written last
    path = run_folder.scores_path(source)
    for key, verifier, score, _, _, values, tokens in run_folder.read_scores(path):
        if (
            isinstance(tokens, list) and isinstance(values, list)
            and 0 < len(tokens) == len(values) <= MOST_TOKENS
            and all(type(value) in (int, float) and isfinite(value) for value in values)
            and all(isinstance(token, str) for token in tokens)
        ):  # fmt: skip
            rows = found[verifier] = found.pop(verifier, {})
            rows[key] = TokenValues(verifier, score, tuple(tokens), tuple(map(float, values)))
    if len(found) > 1:
        *others, last = found
        warn(f"{str(source)!r} has values by several verifiers; those by {last!r} are shown, not "
             f"by {', '.join(map(repr, others))}")  # fmt: skip
    return found.popitem()[1] if found else {}


# The page

CHUNK = 1000
PROMPT_CHUNK = 200  # number of problems per block; all of them share the few-shot examples
BEGUN = "assistant, begun"  # the role of an answer's start, which the model continues
# Maximum number of marks (completions x extractions); beyond it, only the first scorers have marks.
MOST_READINGS = 400_000
MOST_FILES = 3  # whose digests are written
LONGEST_VALUE = 200
QUANTILES = (0.5, 0.9, 1.0)


def report_page(runs: Sequence[JudgedRun], scorers: Sequence[Scorer], live: bool = False) -> str:
    """Return the page of one or several runs, judged by `scorers`, the headline first.

    live: the page is served by `gradeschool view`.
    """
    shown = [_run_values(judged) for judged in runs]
    datasets = {measured.dataset_title(judged.run.dataset) for judged in runs}
    title = datasets.pop() if len(datasets) == 1 else f"{len(datasets)} datasets"
    several: dict[str, Any] = {}
    if len(runs) > 1:
        comparisons, refusal = compared_with_first([judged.headline for judged in runs])
        judged_problems = {
            (each.problem.id, each.problem.question)
            for judged in runs for each in judged.completions if each.outcome != table.ERROR
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


def _run_values(judged: JudgedRun) -> dict[str, Any]:
    """Return what the template shows of one run."""
    score, result, manifest = judged.score, judged.result, judged.run.manifest
    points = curve(ballots_by_problem(judged.headline)) if judged.samples[1] > 1 else []
    width = (log(points[-1].k) or 1.0) if points else 1.0
    named = {each.model for each in judged.run.samples} - {""}
    model = str(manifest.get("model") or (named.pop() if len(named) == 1 else ""))
    others = run_folder.other_models(model, mapping(judged.results.get("answered_by")))
    checklist = _checklist(
        judged, f"{model}; the server says that it answered as {others}" if others else model
    )
    groups = scorer_groups(judged)
    # The spread leaves out the same scorers as the line under a table of scores.
    finding = [row for row in groups if row.finds]
    read = sum(len(row.names) for row in finding)
    left_out = len(score.scorers) - read if read > 1 else 0
    accuracies = [row.result.accuracy for row in (finding if left_out else groups)]
    settings = measured.measured(manifest)
    if settings and settings[-1][0] != "changed":
        is_known = known_protocol(manifest) is not None
        settings.append(("changed", "nothing: the protocol as published" if is_known else
                         "not known: this version has no such protocol"))  # fmt: skip
    flags = score.flags.get(result.scorer)
    cut_at = run_folder.cut_by_server(manifest, judged.run.samples)
    texts = [each.sample for each in judged.completions if not each.sample.error]
    tokens = [sample.usage.completion_tokens for sample in texts]
    has_tokens = bool(texts) and None not in tokens
    timed = [(stored.latency, stored.usage.completion_tokens) for each in judged.completions
             if (stored := each.sample.stored) and stored.latency]  # fmt: skip
    columns: list[tuple[str, str, list[Any]]] = [
        ("length", ",", tokens if has_tokens else [len(sample.text) for sample in texts]),
        ("seconds an answer", ".4g", [seconds for seconds, _ in timed]),
        ("tokens a second", ".4g", [number / seconds for seconds, number in timed if number]),
    ]
    usages = [Usage(0, 0, 0), *(sample.usage for sample in texts)]
    sent, written, thinking = (sum(filter(None, column)) for column in zip(*usages, strict=True))
    cost = mapping(judged.results.get("cost")).get("dollars")
    return {
        "judged": judged,
        "problems": len({each.problem.id for each in judged.completions
                         if each.outcome != table.ERROR}),
        "samples": judged.samples,
        "platinum": score.platinum and score.platinum.scorers[HEADLINE],
        "removed": score.n - score.platinum.n if score.platinum else 0,
        "flags": flags,
        "disagrees": flags is not None and disagrees(flags),
        "dataset": measured.dataset_title(judged.run.dataset),
        "settings": settings,
        # Without finish reasons, a text that looks cut may not be: no advice is given.
        "advice": judged.finish_known
        and measured.truncation_advice(manifest, judged.forms, cut_at),
        "others": others,
        "scorers": {
            "rows": groups,
            "total": len(score.scorers),
            "left_out": left_out,
            "spread": max(accuracies) - min(accuracies),
            "axis": axis_over(row.result.ci95 for row in groups if row.finds or row.own),
            "most": max(max(row.gained, row.lost) for row in groups),
            "errors": any(row.result.error for row in groups),
        },
        "causes": Counter(each.cause for each in judged.completions if each.cause).most_common(),
        "points": points,
        "places": [log(point.k) / width for point in points],
        "points_axis": axis_over(
            interval for point in points for interval in (point.maj_ci95, point.pass_ci95)
        ),
        "unit": "tokens" if has_tokens else "characters",
        "quantiles": [
            (name, len(each), [format(sorted(each)[int(q * (len(each) - 1))], form)
                               for q in QUANTILES])
            for name, form, each in columns if each
        ],
        "spent": [
            ("completion tokens", f"{written:,}" if written else None),
            *([("thinking tokens, of these", f"{thinking:,}")] if thinking else []),
            ("prompt tokens", f"{sent:,}" if sent else None),
            ("cost of all requests, dollars",
             f"{cost:,.6g}" if isinstance(cost, int | float) and cost else None),
        ],
        "checklist": checklist,
        "missing": sum(value is None for _, value in checklist),
    }  # fmt: skip


def _checklist(judged: JudgedRun, model: str) -> list[tuple[str, str | None]]:
    """Return what a result on GSM8K must state so that others can get the same number.

    model: its name, and what the server says. The value of a point that the run does not record is
    None.
    """
    manifest, forms = judged.run.manifest, judged.forms
    dataset, shots, protocol, decoding = (
        mapping(manifest.get(name)) for name in ("dataset", "shots", "protocol", "decoding")
    )
    published, version = known_protocol(manifest), manifest.get("gradeschool")
    examples = "none (0-shot)" if manifest else None
    if shots:
        number = f"{published.shot_count} of " if published and published.shot_count else ""
        examples = f"{number}{shots.get('name')}, SHA-256 {shots.get('sha256')}"
    form = sampling = changed = None
    if published:
        form = "chat" if published.is_chat else "completion"
        changed = ", ".join(measured.changed_settings(manifest)) or "nothing"
    if decoding:
        top_p, seed, limit = (decoding.get(name) for name in ("top_p", "seed", "max_tokens"))
        sampling = ", ".join(filter(None, (
            measured.temperature_words(decoding.get("temperature")),
            "" if top_p is None else f"top-p {top_p}",
            "no seed" if seed is None else f"seed {seed}",
            ", ".join(f"stop {text!r}" for text in decoding.get("stop") or ()) or "no stop strings",
            f"at most {limit} tokens" if limit else "the server's limit",
        )))  # fmt: skip
    fewest, most = judged.samples
    samples = "1" if most == 1 else (
        f"{fewest if fewest == most else f'{fewest} to {most}'}: accuracy is the mean over "
        "problems of the share of each"
    )  # fmt: skip
    cut = "truncated" if judged.finish_known else "look cut (no finish reason is recorded)"
    return [
        ("Model", model or None),
        ("Engine, versions, precision", measured.engine_words(manifest) or None),
        ("Evaluated by", version and (
            f"gradeschool {version}, Python {manifest.get('python') or 'unknown'}"
        )),
        ("Completions", judged.files() or None),
        ("Test set and its digest",
         dataset.get("name") and f"{dataset['name']}, SHA-256 {dataset.get('sha256')}"),
        ("Few-shot examples", examples),
        ("Protocol", protocol.get("name") and (
            f"{protocol['name']}{f', a {form} prompt' if form else ''}, hash "
            f"{protocol.get('digest')}; {protocol.get('source')}"
        )),
        ("Changed from the protocol", changed),
        ("Decoding", sampling),
        ("Samples a problem", samples),
        ("Scorer", judged.result.scorer),
        ("Truncated, empty, run-on", f"{forms.truncated} {cut}, {forms.empty} empty, "
                                     f"{forms.run_on} ran on, of {forms.n}"),
        ("Errors", f"{judged.result.error} of {judged.score.n}, left out of the accuracy, except "
                   "texts on which the scorer itself fails: they give its bounds"),
        ("Interval", "95 %, Wilson; by problem where there are several samples"),
    ]  # fmt: skip


def page_blocks(runs: Sequence[JudgedRun], scorers: Sequence[Scorer]) -> Iterator[tuple[str, str]]:
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
        prompts = []
        for problem in chunk:
            sent = [judged.prompts.get(problem.id) for judged in runs]
            prompts.append([prompt and (prompt.text or [
                *prompt.messages,
                *([(BEGUN, prompt.prefix)] if prompt.prefix is not None else []),
            ]) for prompt in sent])  # fmt: skip
        yield f"prompts-{start // PROMPT_CHUNK}", _packed(prompts)
    for start in range(0, len(rows), CHUNK):
        texts = [_text(each, scorers, families) for each in completions[start : start + CHUNK]]
        yield f"texts-{start // CHUNK}", _packed(texts)


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


def heatmap_page(runs: Sequence[JudgedRun]) -> str:
    """Return a page with a verifier's values token by token, as in appendix F of Cobbe et al. 2021.

    It shows solutions of four kinds: correct and wrong ones that the verifier scores high, and
    those that it scores low, each of another problem. Raises InputError if no completion has
    values.
    """
    valued = [
        (judged.name, each, each.valued)
        for judged in runs
        for each in judged.completions
        if each.valued is not None and each.outcome != table.ERROR
    ]
    if not valued:
        raise InputError(
            f"no completion of {', '.join(repr(judged.name) for judged in runs)} has a verifier's "
            "values; write them with `gradeschool verifier score --tokens`"
        )
    values = sorted(value for *_, one in valued for value in one.values)
    edge, middle = len(values) // OUTSIDE, median(one.score for *_, one in valued)
    low, high = values[edge], values[-1 - edge]

    def colour(value: float) -> int:
        """Return the colour of a value: 0 for low or less, LAST_COLOUR for high or more."""
        return round(LAST_COLOUR * min(max((value - low) / max(high - low, 1e-9), 0.0), 1.0))

    kinds = []
    for words, is_right in (("Correct", True), ("Not correct", False)):
        some = [item for item in valued if (item[1].outcome == table.CORRECT) is is_right]
        some.sort(key=lambda item: -item[2].score)
        for level, clearest in (
            ("high", [item for item in some if item[2].score >= middle]),
            ("low", [item for item in reversed(some) if item[2].score < middle]),
        ):
            by_problem: dict[str, Any] = {}
            for item in clearest:
                by_problem.setdefault(item[1].problem.id, item)
            kinds.append((f"{words}, scored {level}", [*by_problem.values()][:EACH_KIND]))
    return render(
        "heatmap.html",
        runs[0].name if len(runs) == 1 else f"{len(runs)} runs",
        "A verifier’s value, token by token",
        several=len(runs) > 1,
        total=len(valued),
        verifiers=list(dict.fromkeys(one.verifier for *_, one in valued)),
        low=low,
        high=high,
        colour=colour,
        kinds=kinds,
    )


def compared_with_first(tables: Sequence[table.ScoredTable]) -> tuple[dict[int, Comparison], str]:
    """Return the comparisons of runs under one scorer with the first, by index.

    If they cannot be compared, there are none, and the text says why.
    """
    try:
        return dict(enumerate(compare(list(map(run_outcomes, tables))), start=1)), ""
    except InputError as refusal:
        # Without the options of `compare` that the message ends with.
        reason = str(refusal)
        return {}, f"The runs are not compared: {reason.rpartition('; give ')[0] or reason}."


def methods_in_words(comparisons: Sequence[Comparison]) -> str:
    """Describe the differences from the first run: interval, test, correction, what they leave out.

    For pages, which do not print the remarks of `print_comparison`.
    """
    intervals = " and ".join(dict.fromkeys(each.ci_method for each in comparisons))
    tests = " and ".join(dict.fromkeys(each.p_method for each in comparisons))
    several = len(comparisons) > 1
    corrected = f", corrected for {len(comparisons)} comparisons (Holm)" if several else ""
    sentences = [
        "Differences are from the first run, in points, on the same problems; "
        f"p: {tests}{corrected}; interval: {intervals}."
    ]
    if left_out := {id for comparison in comparisons for id in comparison.left_out}:
        sentences.append(
            f"{count(len(left_out), 'problem is', 'problems are')} left out of the differences, "
            "without a judged completion in one of two runs."
        )
    return " ".join(sentences)


def markdown(runs: Sequence[JudgedRun], scorers: Sequence[Scorer]) -> str:
    """Return a table of the runs for a pull request, then each scorer's accuracy, collapsed."""
    differences, refusal = compared_with_first([judged.headline for judged in runs])
    methods = markdown_text(refusal) or methods_in_words([*differences.values()])
    text = fill("report.md", runs=runs, scorers=scorers, differences=differences, methods=methods,
                accuracy=accuracy_text)  # fmt: skip
    return f"{text}\n"


def write_report(judged: Sequence[JudgedRun], scorers: Sequence[Scorer], path: Path) -> int:
    """Write the page, or Markdown for a name that ends in .md; return the size in bytes."""
    write = markdown if path.suffix.lower() == ".md" else report_page
    return save_page(write(judged, scorers), path)
