"""The two results of a comparison: their recorded settings, and their completions in pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Finish, Prompt
from gradeschool.errors import InputError, UnknownNameError
from gradeschool.formats import settings as names
from gradeschool.formats.inspect_log import inspect_settings, is_inspect
from gradeschool.formats.lm_eval import is_lm_eval, lm_eval_settings
from gradeschool.formats.own_run import COMPLETIONS_FILE, scorer_of
from gradeschool.formats.read import read_samples
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
from gradeschool.prompts.rendering import prompt_bytes
from gradeschool.protocols.contrast import prompt_lines
from gradeschool.protocols.registry import get_protocol
from gradeschool.runs.plan import prompts_of
from gradeschool.scoring.samples import Run
from gradeschool.scoring.sources import SourceRun

CHAT, TEXT = "chat messages", "one text"
NOT_RECORDED = RecordedRequest()
BEFORE, BEHIND = 24, 40  # characters shown around the first difference of two prompts
ALIKE = 10  # characters after it; differences that share them are of one kind


@dataclass(frozen=True, slots=True)
class DiffSide:
    """One of two results; see `RecordedSettings` for the fields after `run`."""

    run: Run
    kind: str
    settings: Mapping[str, Any]
    requests: Mapping[int, RecordedRequest] = field(default_factory=dict)
    scorer: str = ""

    @property
    def stops(self) -> tuple[str, ...]:
        """Return the stop strings, () if they are not recorded."""
        return tuple(self.settings.get(names.STOP) or ())


def read_side(chosen: SourceRun) -> DiffSide:
    """Return a chosen run with its recorded settings."""
    run, record = chosen.run, _record(chosen)
    prompts = [request.prompt for request in record.requests.values() if request.prompt is not None]
    counts = Counter(sample.problem.id for sample in run.samples if sample.problem is not None)
    samples = Counter(counts.values()).most_common(1)
    derived = {
        names.FORM: _form(prompts),
        names.SYSTEM: _systems(prompts),
        names.SAMPLES: samples[0][0] if samples else None,
    }
    values = {**recorded(derived), **record.values}
    if record.values.get(names.SYSTEM) == "none" and derived[names.SYSTEM] is not None:
        values[names.SYSTEM] = derived[names.SYSTEM]
    return DiffSide(run, record.kind, values, record.requests, record.scorer)


def _record(chosen: SourceRun) -> RecordedSettings:
    run, path = chosen.run, chosen.path
    of_own = chosen.manifest and path.name == COMPLETIONS_FILE
    if of_own or (path / COMPLETIONS_FILE).exists():
        return _own_settings(run, chosen.manifest)
    if not path.is_file():  # a table in several files
        return RecordedSettings("recorded completions", {})
    if path.suffix == ".eval" or is_inspect(read_whole(path)):
        return inspect_settings(path)
    if path.suffix in (".jsonl", "") and is_lm_eval(_first_fields(path)):
        return lm_eval_settings(path)
    samples = (sample for sample in read_samples(path) if sample.run == run.name)
    models = sorted({sample.model for sample in samples if sample.model})
    values = recorded({names.MODEL: ", ".join(models) or None})
    return RecordedSettings("recorded completions", values)


def _first_fields(path: Path) -> dict[str, object]:
    return next((dict(row.fields) for row in read_rows(path) if not row.fault), {})


def _form(prompts: list[Prompt]) -> str | None:
    forms = {CHAT if prompt.is_chat else TEXT for prompt in prompts}
    return " and ".join(sorted(forms)) or None


def _systems(prompts: list[Prompt]) -> str | None:
    """Return the system message of all prompts, "none", or the number of different ones."""
    turns = chain.from_iterable(prompt.messages[:1] for prompt in prompts)
    texts = {turn.content for turn in turns if turn.role == "system"}
    if not prompts:
        return None
    if len(texts) > 1:
        return f"{len(texts)} different ones"
    return next(iter(texts), "none")


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
        sample.row: RecordedRequest(prompts.get(sample.stored.key), sample.usage.prompt_tokens)
        for sample in run.samples
        if sample.stored is not None
    }
    models = {sample.stored.model for sample in run.samples if sample.stored} - {""}
    values = {**_manifest_values(manifest), names.ANSWERED_BY: sorted(models) or None}
    return RecordedSettings("run folder", recorded(values), requests, scorer_of(manifest) or "")


def _manifest_values(manifest: Mapping[str, Any]) -> dict[str, Any]:
    protocol = mapping(manifest.get("protocol"))
    decoding, dataset = mapping(manifest.get("decoding")), mapping(manifest.get("dataset"))
    shots, engine = mapping(manifest.get("shots")), mapping(manifest.get("engine"))
    model, _, address = str(manifest.get("model") or "").partition(" at ")
    name, digest = protocol.get("name"), protocol.get("digest")
    return {
        names.MODEL: model or None,
        names.ADDRESS: address_of(address),
        names.ENGINE: _joined(engine, "engine", "settings"),
        names.VERSIONS: _joined(engine, "version") if engine else _versions(manifest),
        names.PRECISION: engine.get("precision"),
        names.KV_CACHE: _known(engine, "kv_cache"),
        names.FLASH_ATTENTION: _known(engine, "flash_attention"),
        names.PROTOCOL: f"{name} {digest}" if name else None,
        names.SHOTS: _shot_source(shots) if "shots" in manifest else None,
        names.SHOT_COUNT: _shot_count(str(name)),
        names.TEMPERATURE: decoding.get("temperature"),
        names.TOP_P: decoding.get("top_p"),
        names.SEED: decoding.get("seed", "") if "seed" in decoding else None,
        names.STOP: decoding.get("stop"),
        names.LIMIT: decoding.get("max_tokens"),
        names.SAMPLES: manifest.get("samples"),
        names.DATASET: dataset.get("name"),
        names.DIGEST: dataset.get("sha256"),
    }


def _versions(manifest: Mapping[str, Any]) -> str | None:
    version = manifest.get("gradeschool")
    return f"gradeschool {version}, Python {manifest.get('python')}" if version else None


def _known(engine: Mapping[str, Any], key: str) -> str | None:
    """Return a setting of the engine, None if the engine does not report it."""
    value = engine.get(key)
    return None if value in (None, names.UNKNOWN) else str(value)


def _joined(engine: Mapping[str, Any], *keys: str) -> str | None:
    return ", ".join(str(engine[key]) for key in keys if key in engine) or None


def _shot_source(shots: Mapping[str, Any]) -> str:
    return f"{shots.get('name')} {str(shots.get('sha256'))[:12]}" if shots else "none"


def _shot_count(protocol: str) -> int | None:
    try:
        return get_protocol(protocol).shot_count
    except UnknownNameError:
        return None


@dataclass(frozen=True, slots=True)
class SamplePair:
    """Two completions of the same sample, with what is recorded about their requests."""

    problem_a: Problem
    problem_b: Problem
    a: Sample
    b: Sample
    request_a: RecordedRequest
    request_b: RecordedRequest

    @property
    def texts_equal(self) -> bool:
        """Whether both texts are identical."""
        return self.a.text == self.b.text

    @property
    def prompts_equal(self) -> bool | None:
        """Whether both prompts have the same bytes; None if a prompt is not recorded."""
        a, b = self.request_a.prompt, self.request_b.prompt
        if a is None or b is None:
            return None
        return a == b or prompt_bytes(a) == prompt_bytes(b)

    @property
    def more_tokens(self) -> int | None:
        """Return how many tokens longer b's prompt is if the prompts are equal, else None."""
        a, b = self.request_a.prompt_tokens, self.request_b.prompt_tokens
        if a is None or b is None or self.prompts_equal is not True:
            return None
        return b - a

    @property
    def cut(self) -> str:
        """Return "a" or "b" if only the limit ended that text early, else ""."""
        if self.texts_equal:
            return ""
        if _is_start(self.a, self.b):
            return "a"
        return "b" if _is_start(self.b, self.a) else ""


def _is_start(short: Sample, long: Sample) -> bool:
    """Return whether a text is the start of a longer one, and was not ended by the model."""
    start = short.text.rstrip()
    longer = len(start) < len(long.text.rstrip())
    ended = short.finish in (Finish.STOP, Finish.FILTER)
    return longer and not ended and bool(start) and long.text.startswith(start)


@dataclass(frozen=True, slots=True)
class PairedSamples:
    """The pairs, and the numbers without a partner: problems on one side only, and other samples.

    Samples without a completion (errors) have no partner.
    """

    pairs: tuple[SamplePair, ...]
    problems_a: int
    problems_b: int
    samples_a: int
    samples_b: int


def paired(a: DiffSide, b: DiffSide) -> PairedSamples:
    """Pair the completions of two sides by the problem's question, or by its id without one."""
    samples_a, samples_b = dict(_keyed(a)), dict(_keyed(b))
    problems_a, problems_b = ({key for key, _ in side} for side in (samples_a, samples_b))
    pairs = tuple(
        _pair(a, b, sample, samples_b[key]) for key, sample in samples_a.items() if key in samples_b
    )
    return PairedSamples(
        pairs,
        len(problems_a - problems_b),
        len(problems_b - problems_a),
        sum(key not in samples_b and key[0] in problems_b for key in samples_a),
        sum(key not in samples_a and key[0] in problems_a for key in samples_b),
    )


def _pair(a: DiffSide, b: DiffSide, sample_a: Sample, sample_b: Sample) -> SamplePair:
    assert sample_a.problem is not None  # noqa: S101  (for the type checker)
    assert sample_b.problem is not None  # noqa: S101
    return SamplePair(
        sample_a.problem,
        sample_b.problem,
        sample_a,
        sample_b,
        a.requests.get(sample_a.row, NOT_RECORDED),
        b.requests.get(sample_b.row, NOT_RECORDED),
    )


def _keyed(side: DiffSide) -> Iterator[tuple[tuple[str, int], Sample]]:
    for sample in side.run.samples:
        if sample.problem is not None and not sample.error:
            question = " ".join(sample.problem.question.split())
            yield (question or f"id {sample.problem.id}", sample.sample), sample


class PromptDifference(NamedTuple):
    """One kind of difference: its first example, and how many completions have it.

    shared: number of bytes with which both prompts begin. before: the last of these characters. a,
    b: how each continues, "" at its end. problem: the id of the example's problem.
    """

    shared: int
    before: str
    a: str
    b: str
    completions: int
    problem: str

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        fields = self._asdict()
        return {"shared_bytes": fields.pop("shared"), **fields}


def prompt_differences(pairs: Sequence[SamplePair]) -> list[PromptDifference]:
    """Return the kinds of first differences among prompts, the most frequent first."""
    kinds: dict[tuple[str, str], PromptDifference] = {}
    for pair in pairs:
        if pair.prompts_equal is not False:
            continue
        a, b = (prompt_text(request.prompt) for request in (pair.request_a, pair.request_b))
        start = _shared(a, b)
        key = (_word(a, start), _word(b, start))
        kind = kinds.get(key)
        if kind is not None:
            kinds[key] = kind._replace(completions=kind.completions + 1)
            continue
        shared = len(a[:start].encode("utf-8", "surrogatepass"))
        before = a[max(0, start - BEFORE) : start]
        behind = a[start : start + BEHIND], b[start : start + BEHIND]
        kinds[key] = PromptDifference(shared, before, *behind, 1, pair.problem_a.id)
    return sorted(kinds.values(), key=lambda kind: -kind.completions)


def _word(text: str, start: int) -> str:
    return next(iter(text[start : start + ALIKE].split(maxsplit=1)), "")


def _shared(a: str, b: str) -> int:
    """Return the length of the common start of two texts."""
    characters = enumerate(zip(a, b, strict=False))
    return next((index for index, (c, d) in characters if c != d), min(len(a), len(b)))


def prompt_text(prompt: Prompt | None) -> str:
    """Return a prompt as one text: the text that is sent, or the messages with their roles."""
    return "" if prompt is None else "\n".join(prompt_lines(prompt))
