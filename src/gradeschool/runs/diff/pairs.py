"""The completions of two results, paired: the same sample of the same problem."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gradeschool.completion import Finish, Prompt
from gradeschool.formats.settings import RecordedRequest
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import prompt_bytes
from gradeschool.protocols.contrast import prompt_lines
from gradeschool.runs.diff.sides import DiffSide
from gradeschool.scoring.samples import Sample

NOT_RECORDED = RecordedRequest()
BEFORE, BEHIND = 24, 40  # characters shown around the first difference of two prompts
ALIKE = 10  # characters behind it, of its first word, that make two differences one kind


@dataclass(frozen=True, slots=True)
class SamplePair:
    """Two completions of one sample of one problem, with what is recorded of their requests."""

    problem_a: Problem
    problem_b: Problem
    a: Sample
    b: Sample
    request_a: RecordedRequest
    request_b: RecordedRequest

    @property
    def texts_equal(self) -> bool:
        """Whether both texts are equal to the letter."""
        return self.a.text == self.b.text

    @property
    def prompts_equal(self) -> bool | None:
        """Whether both prompts have the same bytes; None where one prompt is not recorded."""
        a, b = self.request_a.prompt, self.request_b.prompt
        if a is None or b is None:
            return None
        return a == b or prompt_bytes(a) == prompt_bytes(b)

    @property
    def more_tokens(self) -> int | None:
        """Return by how many tokens b's prompt is longer where the prompts are equal, else None."""
        a, b = self.request_a.prompt_tokens, self.request_b.prompt_tokens
        if a is None or b is None or self.prompts_equal is False:
            return None
        return b - a

    @property
    def cut(self) -> str:
        """Return "a" or "b" where the limit alone ended that text early, else ""."""
        if self.texts_equal:
            return ""
        if _is_start(self.a, self.b):
            return "a"
        return "b" if _is_start(self.b, self.a) else ""


def _is_start(short: Sample, long: Sample) -> bool:
    """Tell whether a text is the start of a longer one, and was not ended by the model itself."""
    start = short.text.rstrip()
    longer = len(start) < len(long.text.rstrip())
    ended = short.finish in (Finish.STOP, Finish.FILTER)
    return longer and not ended and bool(start) and long.text.startswith(start)


@dataclass(frozen=True, slots=True)
class PairedSamples:
    """The pairs, and what has no partner: problems of one side alone, other lone samples.

    A sample without a completion (an error) has none.
    """

    pairs: tuple[SamplePair, ...]
    problems_a: int
    problems_b: int
    samples_a: int
    samples_b: int


def paired(a: DiffSide, b: DiffSide) -> PairedSamples:
    """Pair the completions of two sides by the problem's question (its id where it has none)."""
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
    """One kind of difference: the first of it, and how many completions have it.

    shared: bytes that both prompts begin with. before: the last characters of these. a, b: how
    each goes on, "" where it ends. problem: the id of the problem that it is shown of.
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
        return {"at": fields.pop("shared"), **fields}


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
    """Return how many characters two texts have in common from their start."""
    characters = enumerate(zip(a, b, strict=False))
    return next((index for index, (c, d) in characters if c != d), min(len(a), len(b)))


def prompt_text(prompt: Prompt | None) -> str:
    """Return a prompt as one text: what is sent, or the messages under their roles."""
    return "" if prompt is None else "\n".join(prompt_lines(prompt))
