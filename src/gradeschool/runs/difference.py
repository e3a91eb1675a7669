"""The difference of two runs: what each recorded, and the points of each change between them.

The changes are made one at a time, from the run's completions under its scorer to the other's under
its own, so that their points add up to the difference. Their order is fixed, which matters if two
affect the same completion: labels, scorer, stop strings, limit, then the texts that none of these
explains, first those with another prompt, then the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Finish, Prompt
from gradeschool.errors import InputError, UnknownNameError
from gradeschool.formats import settings as names
from gradeschool.formats.inspect_log import inspect_settings, is_inspect
from gradeschool.formats.lm_eval import is_lm_eval, lm_eval_settings
from gradeschool.formats.own_run import COMPLETIONS_FILE, scorer_of
from gradeschool.formats.samples import Sample
from gradeschool.formats.settings import (
    RecordedRequest,
    RecordedSettings,
    address_of,
    mapping,
    recorded,
)
from gradeschool.formats.tables import read_rows, read_whole
from gradeschool.problem import Problem
from gradeschool.prompts import prompt_bytes
from gradeschool.protocols.registry import get_protocol
from gradeschool.runs.plan import prompts_of
from gradeschool.scorer import Scorer
from gradeschool.scoring.samples import Run
from gradeschool.scoring.sources import SourceRun
from gradeschool.scoring.statistics import mean_share
from gradeschool.scoring.table import (
    CORRECT,
    ERROR,
    ScorerSet,
    Tally,
    nothing_judged,
    tally_by_problem,
)

SET, LABELS, SCORER = "problems", "labels", "scorer"
STOP, LIMIT, PROMPTS, TEXTS = "stop strings", "truncation", "prompts", "other texts"
ROUNDING = 1e-9  # points
BEFORE, BEHIND = 24, 40  # characters shown around the first difference of two prompts
NO_REQUEST = RecordedRequest()


class Step(NamedTuple):
    """A change: points of accuracy that it adds; completions whose text or verdict it changes."""

    name: str
    points: float
    changed: int


@dataclass(frozen=True, slots=True)
class Difference:
    """Two runs, `here` and `there`, each under its own scorer.

    steps: from here to there. settings: (name, value here, value there) of what differs. notes:
    sentences on texts and prompts. tallies: of the problems here.
    """

    scorers: tuple[str, str]
    accuracies: tuple[float, float]
    tallies: tuple[Tally, ...]
    steps: tuple[Step, ...]
    settings: tuple[tuple[str, Any, Any], ...]
    notes: tuple[str, ...]


class Pair(NamedTuple):
    """Two completions of the same sample with the requests for them, as far as recorded."""

    here: Sample
    there: Sample
    problem: Problem
    other: Problem
    asked: RecordedRequest
    asked_there: RecordedRequest

    @property
    def same_prompt(self) -> bool | None:
        """Whether both prompts have the same bytes; None if a prompt is not recorded."""
        a, b = self.asked.prompt, self.asked_there.prompt
        return None if a is None or b is None else a == b or prompt_bytes(a) == prompt_bytes(b)


def read_settings(chosen: SourceRun) -> RecordedSettings:
    """Return what the file or folder of a run records of its settings and requests."""
    run, path, manifest = chosen.run, chosen.path, chosen.manifest
    own = manifest and path.name == COMPLETIONS_FILE
    if own or (path / COMPLETIONS_FILE).exists():
        record = _own_settings(run, manifest)
    elif path.is_file() and (path.suffix == ".eval" or is_inspect(read_whole(path))):
        record = inspect_settings(path)
    elif path.is_file() and path.suffix in (".jsonl", "") and is_lm_eval(_first_fields(path)):
        record = lm_eval_settings(path)
    else:
        models = sorted({sample.model for sample in run.samples if sample.model})
        record = RecordedSettings(
            "recorded completions", recorded({names.MODEL: ", ".join(models) or None})
        )
    prompts = [request.prompt for request in record.requests.values() if request.prompt is not None]
    forms = sorted({"chat messages" if prompt.is_chat else "one text" for prompt in prompts})
    first = chain.from_iterable(prompt.messages[:1] for prompt in prompts)
    systems = {turn.content for turn in first if turn.role == "system"} or {"none"}
    system = next(iter(systems)) if len(systems) == 1 else f"{len(systems)} different ones"
    counts = Counter(sample.problem.id for sample in run.samples if sample.problem is not None)
    usual = Counter(counts.values()).most_common(1)
    derived = recorded({
        names.FORM: " and ".join(forms) or None,
        names.SYSTEM: system if prompts else None,
        names.SAMPLES: usual[0][0] if usual else None,
    })  # fmt: skip
    values = {**derived, **record.values}
    if values.get(names.SYSTEM) == "none" and names.SYSTEM in derived:
        values[names.SYSTEM] = derived[names.SYSTEM]
    return RecordedSettings(record.kind, values, record.requests, record.scorer)


def _first_fields(path: Path) -> dict[str, object]:
    return next((dict(row.fields) for row in read_rows(path) if not row.fault), {})


def _own_settings(run: Run, manifest: Mapping[str, Any]) -> RecordedSettings:
    """Return the settings that a run folder records.

    A prompt counts as recorded if the protocol's current rendering gives the completion's key,
    which is a hash of model, prompt and decoding.
    """
    try:
        prompts = prompts_of(manifest)
    except InputError:
        prompts = {}
    requests = {
        sample.row: RecordedRequest(
            prompts.get(sample.stored.key), sample.stored.usage.prompt_tokens
        )
        for sample in run.samples
        if sample.stored is not None
    }
    protocol, decoding = mapping(manifest.get("protocol")), mapping(manifest.get("decoding"))
    dataset, shots = mapping(manifest.get("dataset")), mapping(manifest.get("shots"))
    engine = mapping(manifest.get("engine"))
    model, _, address = str(manifest.get("model") or "").partition(" at ")
    address, options = address.partition(" with ")[0], mapping(manifest.get("options"))
    name = protocol.get("name")
    try:
        shot_count = get_protocol(str(name)).shot_count
    except UnknownNameError:
        shot_count = None
    known = {key: value for key, value in engine.items() if value != names.UNKNOWN}
    models = {sample.stored.model for sample in run.samples if sample.stored} - {""}
    values = {
        names.MODEL: model or None,
        names.ANSWERED_BY: sorted(models) or None,
        names.ADDRESS: address_of(address),
        names.ENGINE: engine.get("engine"),
        names.VERSIONS: engine.get("version"),
        names.PRECISION: engine.get("precision"),
        names.KV_CACHE: known.get("kv_cache"),
        names.FLASH_ATTENTION: known.get("flash_attention"),
        names.PROTOCOL: f"{name} {protocol.get('digest')}" if name else None,
        names.SHOTS: f"{shots['name']} {str(shots['sha256'])[:12]}" if shots else "none",
        names.SHOT_COUNT: shot_count,
        names.OPTIONS: ", ".join(f"{name} {value}" for name, value in options.items()) or "none",
        names.TEMPERATURE: decoding.get("temperature"),
        names.TOP_P: decoding.get("top_p"),
        names.SEED: "none" if decoding.get("seed") is None else decoding.get("seed"),
        names.STOP: decoding.get("stop"),
        names.LIMIT: decoding.get("max_tokens"),
        names.SAMPLES: manifest.get("samples"),
        names.DATASET: dataset.get("name"),
        names.DIGEST: dataset.get("sha256"),
    }
    return RecordedSettings("run folder", recorded(values), requests, scorer_of(manifest) or "")


def difference_of(
    runs: tuple[Run, Run],
    records: tuple[RecordedSettings, RecordedSettings],
    scorers: tuple[Scorer, Scorer],
) -> Difference:
    """Return the difference of two runs, each under its own scorer.

    Raises InputError for a run without a sample that its scorer can judge, and for runs that share
    no sample.
    """
    # One for each run's problems, as their labels may differ.
    judges = ScorerSet(scorers), ScorerSet(scorers)
    tallies: list[tuple[Tally, ...]] = []
    for place, (run, scorer) in enumerate(zip(runs, scorers, strict=True)):
        counted = tally_by_problem(
            (sample.problem.id, judges[place].outcomes(sample.text, sample.problem)[place])
            for sample in run.samples
            if sample.problem is not None and not sample.error
        )
        if not counted:
            raise nothing_judged(run.name, scorer.name)
        tallies.append(tuple(counted.values()))
    keyed = [dict(_keyed(run)) for run in runs]
    pairs = [
        Pair(
            here, there, here.problem, there.problem,
            records[0].requests.get(here.row, NO_REQUEST),
            records[1].requests.get(there.row, NO_REQUEST),
        )
        for key, here in keyed[0].items()
        if (there := keyed[1].get(key)) is not None
        and here.problem is not None and there.problem is not None
    ]  # fmt: skip
    if not pairs:
        raise InputError(
            f"{runs[0].name!r} and {runs[1].name!r} have no sample of the same problem; give two "
            "results of one dataset"
        )
    steps, judged = _steps(pairs, records, judges)
    accuracies = mean_share(tallies[0]), mean_share(tallies[1])
    rest = 100 * (accuracies[1] - accuracies[0]) - sum(step.points for step in steps)
    lone = sum(len(run.samples) for run in runs) - 2 * judged
    if abs(rest) > ROUNDING:
        steps.insert(0, Step(SET, rest, lone))
    values = [{**record.values, names.SCORER: scorer.name}
              for record, scorer in zip(records, scorers, strict=True)]  # fmt: skip
    differing = [
        (name, values[0].get(name), values[1].get(name))
        for name in names.SETTINGS
        if values[0].get(name) != values[1].get(name)
    ]
    return Difference(
        scorers=(scorers[0].name, scorers[1].name),
        accuracies=accuracies,
        tallies=tallies[0],
        steps=tuple(steps),
        settings=tuple(differing),
        notes=tuple(_notes(pairs)),
    )


def _keyed(run: Run) -> Iterator[tuple[tuple[str, int], Sample]]:
    """Yield the answered samples by question, or by id without one, and number."""
    for sample in run.samples:
        if sample.problem is not None and not sample.error:
            question = " ".join(sample.problem.question.split())
            yield (question or f"id {sample.problem.id}", sample.sample), sample


def _steps(
    pairs: Sequence[Pair],
    records: tuple[RecordedSettings, RecordedSettings],
    judges: tuple[ScorerSet, ScorerSet],
) -> tuple[list[Step], int]:
    """Return the steps of the pairs that every step can judge, and the number of these pairs."""
    stops = [tuple(record.values.get(names.STOP) or ()) for record in records]
    limits = [record.values.get(names.LIMIT) for record in records]
    same_limit = limits[0] is not None and limits[0] == limits[1]
    order = (LABELS, SCORER, STOP, LIMIT, PROMPTS, TEXTS)
    gained, changed, judged = Counter[str](), Counter[str](), 0
    for pair in pairs:
        text, problem, scorer = pair.here.text, pair.problem, 0
        outcome = judges[0].outcomes(text, problem)[0]
        walked: list[tuple[str, int, int, bool]] = []
        for name in order:
            before = text, problem, scorer
            if name == LABELS:
                problem = pair.other
            elif name == SCORER:
                scorer = 1
            elif name == STOP:
                cut = cut_at(text, stops[1])
                same = cut.rstrip() == cut_at(pair.there.text, stops[0]).rstrip()
                text = pair.there.text if cut.strip() and same else cut
            elif name == LIMIT:
                is_cut = _is_start(pair.here, pair.there) or _is_start(pair.there, pair.here)
                text = pair.there.text if is_cut and not same_limit else text
            elif name == PROMPTS:
                text = pair.there.text if pair.same_prompt is False else text
            else:
                text = pair.there.text
            earlier = outcome
            if (text, problem, scorer) != before:
                outcome = judges[1].outcomes(text, problem)[scorer]
            walked.append((name, earlier, outcome, text != before[0]))
        if any(ERROR in (earlier, later) for _, earlier, later, _ in walked):
            continue
        judged += 1
        for name, earlier, later, is_other in walked:
            gained[name] += (later == CORRECT) - (earlier == CORRECT)
            changed[name] += is_other or (later == CORRECT) != (earlier == CORRECT)
    points = {name: 100 * gained[name] / judged if judged else 0.0 for name in order}
    return [Step(name, points[name], changed[name]) for name in order if changed[name]], judged


def cut_at(text: str, stops: Sequence[str]) -> str:
    """Return a text up to the first stop string in it."""
    places = [place for stop in stops if stop and (place := text.find(stop)) >= 0]
    return text[: min(places, default=len(text))]


def _is_start(short: Sample, long: Sample) -> bool:
    """Return whether a text is the start of a longer one, and was not ended by the model."""
    start = short.text.rstrip()
    longer = len(start) < len(long.text.rstrip())
    ended = short.finish in (Finish.STOP, Finish.FILTER)
    return longer and not ended and bool(start) and long.text.startswith(start)


def _notes(pairs: Sequence[Pair]) -> Iterator[str]:
    equal = sum(pair.here.text == pair.there.text for pair in pairs)
    yield f"{equal:,} of {len(pairs):,} completions are identical"
    same = Counter(pair.same_prompt for pair in pairs)
    if not same[True] + same[False]:
        yield "the prompts are not recorded on both sides"
        return
    yield f"prompts are equal for {same[True]:,} of {same[True] + same[False]:,}"
    other = next((pair for pair in pairs if pair.same_prompt is False), None)
    if other is not None:
        here, there = (_text(asked.prompt) for asked in (other.asked, other.asked_there))
        shared = next(
            (n for n, (a, b) in enumerate(zip(here, there, strict=False)) if a != b),
            min(len(here), len(there)),
        )
        shown = [repr(text[max(0, shared - BEFORE) : shared + BEHIND]) for text in (here, there)]
        length = len(here[:shared].encode("utf-8", "surrogatepass"))
        yield (
            f"the prompts of problem {other.problem.id} differ after byte {length:,}: {shown[0]} "
            f"here, {shown[1]} there"
        )
    more = Counter(
        pair.asked_there.prompt_tokens - pair.asked.prompt_tokens
        for pair in pairs
        if pair.same_prompt
        and pair.asked.prompt_tokens is not None
        and pair.asked_there.prompt_tokens is not None
    )
    more.pop(0, None)
    if more:
        tokens, _ = more.most_common(1)[0]
        yield (
            f"{more.total():,} equal prompts have other numbers of tokens, such as {tokens:+d} "
            "there: a BOS token, or the chat template"
        )


def _text(prompt: Prompt | None) -> str:
    """Return a prompt as one text: the text that is sent, or the messages with their roles."""
    if prompt is None:
        return ""
    if prompt.text is not None:
        return prompt.text
    return "\n".join(f"{turn['role']}: {turn['content']}" for turn in prompt.as_messages())
