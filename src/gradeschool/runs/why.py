"""Explain a gap to an expected accuracy: missing points by cause, with evidence and a test.

`explain_gap` uses only the run: its texts, settings and size. `explain_difference` uses a run with
the expected score. From the run's completions under its scorer to the other's under its own, it
makes one change at a time, so that their points add up to the difference. The order is fixed, which
matters if two changes affect the same completion: labels, scorer, stop strings, limit, then the
texts that none of these explains, first those with another prompt, then the rest.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from shlex import quote
from statistics import median
from typing import Any, NamedTuple

from gradeschool.answers.failures import Failure, is_right
from gradeschool.answers.regions import is_truncated
from gradeschool.completion import IN_THINKING, Finish, cut_at, empty_cause
from gradeschool.datasets.load import DATASET_ALIASES
from gradeschool.errors import InputError
from gradeschool.formats import foreign, run_folder
from gradeschool.formats.tables import read_rows, read_whole
from gradeschool.formats.values import UNKNOWN, Sample, mapping
from gradeschool.printable import count
from gradeschool.prompts import prompt_bytes
from gradeschool.runs.job import known_protocol, recorded_prompts
from gradeschool.scorer import Scorer
from gradeschool.scoring.causes import Side, explained_samples, label_changes_for
from gradeschool.scoring.checks import length_of_cut_texts
from gradeschool.scoring.sources import Run
from gradeschool.scoring.statistics import clustered_wilson, mean_share
from gradeschool.scoring.table import CORRECT, ERROR, ScoredTable, Tally, nothing_judged

LEAST_POINTS = 0.05
NOTABLE = 0.02  # minimum share of completions for a form to be reported
SHORT_WORDS = 6  # a lower median means that the model answers without working
# Roles, and special tokens that a tokenizer adds and no completion should contain.
MARKS_OF_CHAT = re.compile(
    r"(?m)^(?:<\|im_start\|>)?(?i:user|assistant|human|system)\b:?"
    r"|<\|[a-z_0-9]{1,24}\|>|</?s>|<(?:bos|eos|pad|end_of_turn|start_of_turn)>"
)
FULL_PRECISION = re.compile(r"(?i)b?f(?:loat)?(?:16|32)\b")
BEFORE, BEHIND = 24, 40  # characters shown around the first difference of two prompts
DOCTOR = "gradeschool doctor URL -p PROTOCOL"

# The changes from a run to another one, and the settings that explain each.
SET, LABELS, SCORER = "problems", "labels", "scorer"
STOP, LIMIT, PROMPTS, TEXTS = "stop strings", "truncation", "prompts", "other texts"
EXPLAINED_BY = {
    SET: ("dataset", "samples per problem"),
    LABELS: ("labels", "dataset", "dataset SHA-256"),
    SCORER: ("scorer",),
    STOP: ("stop strings",),
    LIMIT: ("max tokens",),
    PROMPTS: ("protocol", "system message", "prompt form", "few-shot source", "few-shot examples",
              "chat template"),
    TEXTS: ("precision", "engine", "KV cache", "flash attention",
            "temperature", "seed", "chat template", "BOS token", "top-p", "model",
            "answered by", "options of the model", "versions", "address"),
}  # fmt: skip


class GapCause(NamedTuple):
    """One cause of missing points. points: its share; None if only a test can tell.

    most: `points` is an upper limit. command: tests or fixes the cause; "" if there is none.
    """

    name: str
    points: float | None
    evidence: str
    command: str = ""
    most: bool = False


class GapAccount:
    """The missing points of a run and their causes, those with the most points first.

    expected, accuracy: shares. interval: of the accuracy, 95 %; within_chance: it contains the
    expected accuracy. missing: points; rest: those that no cause explains. settings: what another
    run records differently, as (name, value here, value there). notes: sentences on its texts and
    prompts.
    """

    def __init__(
        self,
        scorer: Scorer,
        expected: float,
        tallies: Sequence[Tally],
        causes: Sequence[GapCause],
        settings: Sequence[tuple[str, Any, Any]] = (),
        notes: Sequence[str] = (),
    ) -> None:
        self.scorer, self.expected, self.accuracy = scorer.name, expected, mean_share(tallies)
        self.settings, self.notes = settings, list(notes)
        self.judged = sum(tally.judged for tally in tallies)
        self.interval = clustered_wilson(tallies)
        self.within_chance = self.interval.low <= expected <= self.interval.high
        self.causes = sorted(causes, key=lambda each: (each.points is None, -(each.points or 0.0)))
        self.missing = 100 * (expected - self.accuracy)
        self.rest = self.missing - sum(c.points for c in self.causes if c.points and not c.most)

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "scorer": self.scorer, "expected": self.expected, "accuracy": self.accuracy,
            "ci95": list(self.interval), "missing_points": self.missing,
            "within_chance": self.within_chance, "rest_points": self.rest,
            "causes": [cause._asdict() for cause in self.causes],
            "settings": [{"name": name, "here": here, "there": there}
                         for name, here, there in self.settings],
            "notes": self.notes,
        }  # fmt: skip


def explain_gap(
    run: Run, scorer: Scorer, expected: float, changes: Sequence[str], place: str
) -> GapAccount:
    """Return the causes of the points missing to an expected accuracy, from the run alone.

    changes: its settings that differ from the protocol's, in words. place: the run as named on a
    command line, with the options for reading it. Raises InputError if no completion could be
    judged.
    """
    table, revised_labels = ScoredTable(run, [scorer]), label_changes_for(run)
    explained = [each for each in explained_samples(table, revised_labels) if not each.unjudged]
    judged = [each.sample for each in explained]
    if not judged:
        raise nothing_judged(run.name, scorer.name)
    unread, reasons = Counter[str](), Counter[tuple[str, str]]()
    right = cut = empty = marked = revised = 0
    cut_length = length_of_cut_texts(Counter(len(sample.text) for sample in judged))
    for each in explained:
        sample, cause, seen = each.sample, each.causes[0], each.reading
        if each.verdicts[0].correct or seen is None:
            right += 1
            continue
        if cause is not None and cause.side is Side.MISSED:
            unread[cause.cause.failure.value] += 1
        is_of_text = cause is None or cause.side is Side.TEXT
        is_cut = is_truncated(sample.text, sample.finish) and not seen.region.ran_on
        if is_cut or len(sample.text) == cut_length > 0:
            cut += is_of_text
        elif not sample.text.strip():
            empty += 1
            if sample.stored is not None and (reason := empty_cause(sample.stored)) is not None:
                reasons[reason] += 1
        marked += is_of_text and bool(MARKS_OF_CHAT.search(sample.text))
        if (other := revised_labels.get(each.problem.id)) is not None:
            revised += is_right(seen.reading, other.gold)
    # Of the texts without an answer, as many may be right as among the others.
    others = len(judged) - cut - empty
    share = (right + unread.total()) / others if others > 0 else 1.0
    ran_on = unread.pop(Failure.RUN_ON.value, 0)
    kinds = ", ".join(f"{k} {kind}" for kind, k in unread.most_common(3))
    words, mends = "the server ends immediately, or keeps the answer in another field", DOCTOR
    for (cause_of_empty, remedy), n in reasons.most_common(1):
        words, mends = f"{n} have {cause_of_empty}", remedy
    longer = "evaluate again with a larger --max-tokens"
    if (tokens := run_folder.cut_by_server(run.manifest, run.samples)) is not None:
        longer = (f"the server's own limit cut them, the longest after {count(tokens, 'token')}: "
                  "raise it there and evaluate again")  # fmt: skip
        if words.endswith(IN_THINKING):
            mends = longer
    causes = []
    # `most`: the points are an upper limit, and rare texts are not worth a line.
    for name, n, noun, evidence, command, most in (
        ("run-on", ran_on, "completion", "with the right answer and then another question, from "
         f"which {scorer.name} extracts its answer", "evaluate with a protocol whose stop strings "
         "end the answer, or a chat protocol", False),
        ("extraction", unread.total(), "completion", f"with the right answer, which {scorer.name} "
         f"does not read: {kinds}", f"gradeschool explain {place} --scorer {quote(scorer.name)} "
         "gradeschool/reader", False),
        (LABELS, revised, "miss misses", "right by the revised labels of GSM8K-Platinum",
         f"gradeschool score {place} --labels platinum", False),
        (LIMIT, cut, "miss misses", "cut before the answer; the points are the gain if as many are "
         f"right as among the other {others:,}", longer, True),
        ("empty completions", empty, "completion", f"without text: {words}", mends, True),
        ("chat template", marked, "miss misses", "with special tokens or names of roles as text: "
         "the model's chat template is not applied, or applied twice", DOCTOR, True),
    ):  # fmt: skip
        if n and (not most or n >= NOTABLE * len(judged)):
            points = 100 * n * (share if most else 1) / len(judged)
            named = f"{count(n, *noun.split())} {evidence}"
            causes.append(GapCause(name, points, named, command, most))
    half = int(median(len(sample.text.split()) for sample in judged))
    if 0 < half < SHORT_WORDS:
        causes.append(GapCause("no working", None, "half of the completions have at most "
            f"{count(half, 'word')}: the model answers without working, so a system message or the "
            "examples may be missing", "gradeschool protocols prompts PROTOCOL -n 1, then evaluate "
            "with a chain-of-thought protocol"))  # fmt: skip
    # What run.json says that can cost points; only a second run measures how many.
    manifest, published = run.manifest, known_protocol(run.manifest)
    answered_by = Counter(each.model for each in judged if each.stored is not None and each.model)
    answering = run_folder.other_models(str(manifest.get("model")), answered_by)
    dataset, usual = mapping(manifest.get("dataset")).get("name"), published and published.dataset
    heat = mapping(manifest.get("decoding")).get("temperature")
    precision = str(mapping(manifest.get("engine")).get("precision") or "")
    for holds, name, evidence, command in (
        (answering, "another model", f"the server says that another model answered: {answering}",
         "check the model's name"),
        (usual and dataset and dataset != DATASET_ALIASES.get(usual, usual), "other problems",
         f"the run is on {dataset}; a figure of {usual} is of others", f"evaluate with -d {usual}"),
        (changes, "changed settings", f"not the protocol's: {', '.join(changes)}",
         "evaluate without these options"),
        (heat and manifest.get("samples") == 1, "sampling",
         f"one sample at temperature {heat}: another seed gives another score",
         "evaluate with --temperature 0, or with -k 8"),
        (precision and not FULL_PRECISION.search(precision), "precision",
         f"the weights are {precision}; published scores are of 16 bits",
         "evaluate the model in BF16 or F16, then give that run as --expected-run"),
    ):  # fmt: skip
        if holds:
            causes.append(GapCause(name, None, evidence, command))
    account = GapAccount(scorer, expected, list(table.tallies().values()), causes)
    if failed := len(run.samples) - len(judged):
        account.notes.append(
            f"{count(failed, 'sample')} of {len(run.samples):,} failed and are left out of the "
            "accuracy; it may change when they are requested again"
        )
    return account


# Beside a run with the expected score


def read_settings(run: Run) -> foreign.RecordedSettings:
    """Return what the file or folder of a run records of its settings and requests."""
    path = run.path
    is_file = path.is_file()
    is_stored = (path / run_folder.COMPLETIONS_FILE).exists()
    if is_stored or (run.manifest and path.name == run_folder.COMPLETIONS_FILE):
        record = _own_settings(run)
    elif is_file and (path.suffix == ".eval" or foreign.is_inspect(read_whole(path))):
        record = foreign.inspect_settings(path)
    elif is_file and foreign.is_lm_eval(
        next((dict(row.fields) for row in read_rows(path) if not row.fault), {})
    ):
        record = foreign.lm_eval_settings(path)
    else:
        models = sorted({sample.model for sample in run.samples if sample.model})
        record = foreign.RecordedSettings({"model": ", ".join(models) or None})
    derived: dict[str, Any] = {}
    if counts := Counter(sample.problem.id for sample in run.samples if sample.problem):
        derived["samples per problem"] = Counter(counts.values()).most_common(1)[0][0]
    prompts = [request.prompt for request in record.requests.values() if request.prompt is not None]
    if prompts:
        forms = {"chat messages" if prompt.is_chat else "one text" for prompt in prompts}
        systems = {turn.content for prompt in prompts for turn in prompt.messages[:1]
                   if turn.role == "system"} or {"none"}  # fmt: skip
        derived["prompt form"] = " and ".join(sorted(forms))
        several = f"{len(systems)} different ones"
        derived["system message"] = several if len(systems) > 1 else next(iter(systems))
    values = derived | {name: each for name, each in record.values.items() if each is not None}
    if prompts and values["system message"] == "none":
        values["system message"] = derived["system message"]
    return replace(record, values=values)


def _own_settings(run: Run) -> foreign.RecordedSettings:
    """Return the settings that a run folder records.

    A prompt counts as recorded if the protocol's current rendering gives the completion's key,
    which is a hash of model, prompt and decoding.
    """
    manifest = run.manifest
    protocol, decoding, dataset, shots, engine, options = (
        mapping(manifest.get(name))
        for name in ("protocol", "decoding", "dataset", "shots", "engine", "options")
    )
    published = known_protocol(manifest)
    prompts = recorded_prompts(manifest)
    stored = [(sample.row, sample.stored) for sample in run.samples if sample.stored is not None]
    requests = {
        row: foreign.RecordedRequest(prompts.get(each.key), each.usage.prompt_tokens)
        for row, each in stored
    }
    model, _, address = str(manifest.get("model") or "").partition(" at ")
    name = protocol.get("name")
    known = {key: value for key, value in engine.items() if value != UNKNOWN}
    values = {
        "model": model or None,
        "answered by": sorted({each.model for _, each in stored} - {""}) or None,
        "address": foreign.base_address(address.partition(" with ")[0]),
        "engine": engine.get("engine"),
        "versions": engine.get("version"),
        "precision": engine.get("precision"),
        "KV cache": known.get("kv_cache"),
        "flash attention": known.get("flash_attention"),
        "protocol": f"{name} {protocol.get('digest')}" if name else None,
        "few-shot source": f"{shots['name']} {str(shots['sha256'])[:12]}" if shots else "none",
        "few-shot examples": published and published.shot_count,
        "options of the model": ", ".join(f"{name} {value}" for name, value in options.items())
        or "none",
        "temperature": decoding.get("temperature"),
        "top-p": decoding.get("top_p"),
        "seed": "none" if decoding.get("seed") is None else decoding.get("seed"),
        "stop strings": decoding.get("stop"),
        "max tokens": decoding.get("max_tokens"),
        "samples per problem": manifest.get("samples"),
        "dataset": dataset.get("name"),
        "dataset SHA-256": dataset.get("sha256"),
    }
    return foreign.RecordedSettings(values, requests, run_folder.scorer_of(manifest) or "")


class _Pair(NamedTuple):
    """The samples of one problem in two runs, and what is recorded of their requests.

    same_prompt: whether both prompts have the same bytes; None if one is not recorded.
    """

    here: Sample
    there: Sample
    requests: tuple[foreign.RecordedRequest, foreign.RecordedRequest]
    same_prompt: bool | None


def explain_difference(
    runs: tuple[Run, Run],
    records: tuple[foreign.RecordedSettings, foreign.RecordedSettings],
    scorers: tuple[Scorer, Scorer],
) -> GapAccount:
    """Return the causes of the points missing to another run, each run under its own scorer.

    Raises InputError for a run without a sample that its scorer can judge, and for runs that share
    no sample.
    """
    # Both scorers for each run, as the labels of its problems may be others.
    tables = ScoredTable(runs[0], scorers), ScoredTable(runs[1], scorers)
    tallies = [list(table.tallies(place).values()) for place, table in enumerate(tables)]
    for run, scorer, counted in zip(runs, scorers, tallies, strict=True):
        if not counted:
            raise nothing_judged(run.name, scorer.name)
    keyed = [
        {(" ".join(problem.question.split()) or f"id {problem.id}", sample.sample): sample
         for sample, problem in zip(table.samples, table.problems, strict=True)}
        for table in tables
    ]  # fmt: skip
    pairs = []
    for key, here in keyed[0].items():
        if (there := keyed[1].get(key)) is not None:
            sent = (records[0].requests.get(here.row, foreign.RecordedRequest()),
                    records[1].requests.get(there.row, foreign.RecordedRequest()))  # fmt: skip
            a, b = sent[0].prompt, sent[1].prompt
            is_known = a is not None and b is not None
            same = a == b or prompt_bytes(a) == prompt_bytes(b) if a and b and is_known else None
            pairs.append(_Pair(here, there, sent, same))
    if not pairs:
        names_of_runs = f"{runs[0].name!r} and {runs[1].name!r}"
        raise InputError(f"{names_of_runs} have no problem in common; give results of one dataset")
    expected = mean_share(tallies[1])
    points, changed, judged = _points_of_changes(pairs, records, tables)
    rest = 100 * (expected - mean_share(tallies[0])) - sum(points.values())
    lone = sum(len(run.samples) for run in runs) - 2 * judged
    points, changed = {SET: rest, **points}, {SET: lone, **changed}
    settings, known = [], {}
    for name in foreign.SETTINGS:
        first, second = (record.values.get(name) for record in records)
        if name == "scorer":
            first, second = (scorer.name for scorer in scorers)
        if first != second:
            settings.append((name, first, second))
            if first is not None and second is not None:
                known[name] = f"{name}: {first} here, {second} there"
    causes = []
    for change, gain in points.items():
        if abs(gain) >= LEAST_POINTS:
            shown = [name for name in EXPLAINED_BY[change] if name in known]
            # Texts that differ for no other reason are named by the first setting that may be it.
            title = shown[0] if change == TEXTS and shown else change
            words = "; ".join(known[name] for name in shown[:3])
            words = words or "no recorded setting explains it"
            causes.append(GapCause(title, gain, f"{changed[change]:,} completions: {words}"))
    return GapAccount(scorers[0], expected, tallies[0], causes, settings, list(_notes(pairs)))


def _points_of_changes(
    pairs: Sequence[_Pair],
    records: tuple[foreign.RecordedSettings, foreign.RecordedSettings],
    tables: tuple[ScoredTable, ScoredTable],
) -> tuple[dict[str, float], dict[str, int], int]:
    """Return the points of each change and its completions; the number of pairs judged for it."""
    stops = [tuple(record.values.get("stop strings") or ()) for record in records]
    limits = [record.values.get("max tokens") for record in records]
    same_limit = limits[0] is not None and limits[0] == limits[1]
    order, judges = (LABELS, SCORER, STOP, LIMIT, PROMPTS, TEXTS), [each.scorers for each in tables]
    gained, changed, judged = Counter[str](), Counter[str](), 0
    for here, there, _, same_prompt in pairs:
        assert here.problem is not None and there.problem is not None  # noqa: S101
        text, problem, scorer = here.text, here.problem, 0
        outcome = judges[0].judge_all([(text, problem)])[0][0]
        walked: list[tuple[str, int, int, bool]] = []
        for name in order:
            before, earlier = (text, problem, scorer), outcome
            if name == LABELS:
                problem = there.problem
            elif name == SCORER:
                scorer = 1
            elif name == STOP:
                cut = cut_at(text, stops[1])
                same = cut.rstrip() == cut_at(there.text, stops[0]).rstrip()
                text = there.text if cut.strip() and same else cut
            elif name == LIMIT:
                if not same_limit and (_is_cut_of(here, there) or _is_cut_of(there, here)):
                    text = there.text
            elif name == TEXTS or same_prompt is False:
                text = there.text
            if (text, problem, scorer) != before:
                outcome = judges[1].judge_all([(text, problem)])[0][scorer]
            walked.append((name, earlier, outcome, text != before[0]))
        if any(ERROR in (earlier, later) for _, earlier, later, _ in walked):
            continue
        judged += 1
        for name, earlier, later, is_other in walked:
            gained[name] += (later == CORRECT) - (earlier == CORRECT)
            changed[name] += is_other or (later == CORRECT) != (earlier == CORRECT)
    return {name: 100 * gained[name] / max(1, judged) for name in order}, changed, judged


def _is_cut_of(short: Sample, long: Sample) -> bool:
    """Return whether a text is the start of a longer one, and was not ended by the model."""
    start = short.text.rstrip()
    longer = len(start) < len(long.text.rstrip())
    ended = short.finish in (Finish.STOP, Finish.FILTER)
    return longer and not ended and bool(start) and long.text.startswith(start)


def _notes(pairs: Sequence[_Pair]) -> Iterator[str]:
    """Yield sentences on the texts and prompts of two runs."""
    equal = sum(pair.here.text == pair.there.text for pair in pairs)
    yield f"{equal:,} of {len(pairs):,} completions are identical"
    same = [pair for pair in pairs if pair.same_prompt]
    other = [pair for pair in pairs if pair.same_prompt is False]
    if not same and not other:
        yield "the prompts are not recorded on both sides"
        return
    yield f"prompts are equal for {len(same):,} of {len(same) + len(other):,}"
    if other:
        texts = []
        for request in other[0].requests:  # a chat as one text, with the roles
            turns = request.prompt.as_messages() if request.prompt else []
            text = "\n".join(f"{turn['role']}: {turn['content']}" for turn in turns)
            texts.append(text or (request.prompt.text if request.prompt else "") or "")
        a, b = texts
        differing = (n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
        shared = next(differing, min(len(a), len(b)))
        shown = [repr(text[max(0, shared - BEFORE) : shared + BEHIND]) for text in texts]
        length = len(a[:shared].encode("utf-8", "surrogatepass"))
        problem = other[0].here.problem
        yield (
            f"the prompts of problem {problem.id if problem else '?'} differ after byte "
            f"{length:,}: {shown[0]} here, {shown[1]} there"
        )
    more = Counter[int]()
    for pair in same:
        first, second = (request.prompt_tokens for request in pair.requests)
        if first is not None and second is not None and first != second:
            more[second - first] += 1
    for tokens, _ in more.most_common(1):
        equal_prompts = count(more.total(), "equal prompt has", "equal prompts have")
        yield (
            f"{equal_prompts} another number of tokens, such as {tokens:+d} there: a BOS token, or "
            "the chat template"
        )
