"""The difference of two results: each recorded setting and what it explains, and the total."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gradeschool.completion import Finish
from gradeschool.formats import settings as names
from gradeschool.formats.settings import RecordedRequest
from gradeschool.runs.diff.pairs import (
    DiffSide,
    PairedSamples,
    PromptDifference,
    SamplePair,
    paired,
    prompt_differences,
)
from gradeschool.runs.diff.steps import (
    STEPS_OF_TEXTS,
    TEXTS,
    UNPROMPTED,
    DiffAccount,
    account_of,
    cut_at,
)
from gradeschool.scorer import Scorer

SAME, DIFFERS, UNKNOWN = "same", "differs", "not recorded"
# Special tokens, which a tokenizer adds and no completion should contain.
SPECIAL = re.compile(r"<\|[a-z_0-9]{1,24}\|>|</?s>|<(?:bos|eos|pad|end_of_turn|start_of_turn)>")
MOST_KINDS = 5


@dataclass(frozen=True, slots=True)
class SettingDifference:
    """One setting with its value on each side, None if it is not recorded.

    state: "same", "differs" or "not recorded". explains: number of completions that it affects, of
    `of` pairs; None if the texts do not show it. words: a description of these completions.
    """

    name: str
    a: Any
    b: Any
    state: str
    explains: int | None
    of: int
    words: str

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Counts of pairs, by what is equal in them."""

    pairs: int
    equal_texts: int
    prompts_equal: int
    prompts_differ: int
    other_texts_same_prompts: int

    def as_json(self) -> dict[str, int]:
        """Return the fields as JSON values."""
        return asdict(self)


def pair_counts(pairs: Sequence[SamplePair]) -> PairCounts:
    """Count pairs by what is equal."""
    states = Counter((pair.prompts_equal, pair.texts_equal) for pair in pairs)
    return PairCounts(
        pairs=len(pairs),
        equal_texts=sum(pair.texts_equal for pair in pairs),
        prompts_equal=states[True, True] + states[True, False],
        prompts_differ=states[False, True] + states[False, False],
        other_texts_same_prompts=states[True, False],
    )


# Number of completions that a difference explains, None if the texts do not show it; description.
Explanation = tuple[int | None, str]
Explain = Callable[[DiffSide, DiffSide, PairedSamples, DiffAccount], Explanation]


def fields_of(
    a: DiffSide, b: DiffSide, paired: PairedSamples, account: DiffAccount, scorers: tuple[str, str]
) -> list[SettingDifference]:
    """Return every recorded setting in the order of SETTINGS, then facts from the texts."""
    fields = []
    for name in names.SETTINGS:
        value_a, value_b = _values(name, a, b, paired, scorers)
        if value_a is None and value_b is None:
            continue
        is_known = value_a is not None and value_b is not None
        state = UNKNOWN if not is_known else SAME if value_a == value_b else DIFFERS
        explains, words = None, ""
        if state != SAME or name in (names.STOP, names.LIMIT, names.LABELS):
            explains, words = EXPLAIN.get(name, _everywhere)(a, b, paired, account)
        fields.append(
            SettingDifference(name, value_a, value_b, state, explains, len(paired.pairs), words)
        )
    return fields


def _values(
    name: str, a: DiffSide, b: DiffSide, paired: PairedSamples, scorers: tuple[str, str]
) -> tuple[Any, Any]:
    pairs = paired.pairs
    if name == names.SCORER:
        return scorers
    if name == names.PROMPT:
        counts = [sum(request.prompt is not None for request in side) for side in _requests(pairs)]
        unlike = sum(pair.prompts_equal is False for pair in pairs)
        words = [f"{n} recorded" if n else None for n in counts]
        return words[0], f"{words[1]}, {unlike} differ" if unlike else words[1]
    if name == names.PROMPT_TOKENS:
        tokens_a, tokens_b = map(_tokens, _requests(pairs))
        return tokens_a, tokens_b
    if name == names.LABELS:
        differing = _relabelled(pairs)
        return "of its problems", "of its problems" if not differing else "other golds"
    return a.settings.get(name), b.settings.get(name)


def _requests(pairs: Sequence[SamplePair]) -> tuple[list[RecordedRequest], list[RecordedRequest]]:
    return [pair.request_a for pair in pairs], [pair.request_b for pair in pairs]


def _tokens(requests: Sequence[RecordedRequest]) -> str | None:
    counts = (request.prompt_tokens for request in requests)
    counted = [count for count in counts if count is not None]
    return f"{sum(counted) / len(counted):.1f} each" if counted else None


def _everywhere(
    a: DiffSide, b: DiffSide, paired: PairedSamples, account: DiffAccount
) -> Explanation:
    """Explain a setting without a trace: at most the texts that nothing else explains."""
    texts = sum(step.texts for step in account.steps if step.name in STEPS_OF_TEXTS)
    return texts, "at most; no text shows it" if texts else "all texts are equal"


def _nothing(a: DiffSide, b: DiffSide, paired: PairedSamples, account: DiffAccount) -> Explanation:
    return None, ""


def _prompt(a: DiffSide, b: DiffSide, paired: PairedSamples, account: DiffAccount) -> Explanation:
    counts = pair_counts(paired.pairs)
    compared = counts.prompts_equal + counts.prompts_differ
    if not compared:
        return None, "the prompts cannot be compared"
    same = sum(pair.texts_equal for pair in paired.pairs if pair.prompts_equal is False)
    return counts.prompts_differ, f"prompts differ; {same} of them have equal texts"


def _part(a: DiffSide, b: DiffSide, paired: PairedSamples, account: DiffAccount) -> Explanation:
    """Explain a setting that is part of the prompt."""
    explains, _ = _prompt(a, b, paired, account)
    return explains, "" if explains is None else "prompts that differ"


def _system(a: DiffSide, b: DiffSide, paired: PairedSamples, account: DiffAccount) -> Explanation:
    def opening(request: RecordedRequest) -> str | None:
        turns = request.prompt.messages[:1] if request.prompt else ()
        return turns[0].content if turns and turns[0].role == "system" else None

    compared = [pair for pair in paired.pairs if pair.request_a.prompt and pair.request_b.prompt]
    if not compared:
        return None, "the prompts cannot be compared"
    return sum(
        opening(pair.request_a) != opening(pair.request_b) for pair in compared
    ), "sent with it"


def _prompt_tokens(
    a: DiffSide, b: DiffSide, paired: PairedSamples, account: DiffAccount
) -> Explanation:
    """Explain token counts that differ for equal prompts: a BOS token, another template."""
    steps = [pair.more_tokens for pair in paired.pairs]
    unlike = Counter(step for step in steps if step)
    if not unlike:
        if any(step == 0 for step in steps):
            return 0, "of equal prompts"
        counts = pair_counts(paired.pairs)
        compared = counts.prompts_equal + counts.prompts_differ
        return None, "the prompts differ" if compared else "the prompts cannot be compared"
    step, often = unlike.most_common(1)[0]
    hint = "; a BOS token, or the template" if abs(step) <= 8 else ""
    return unlike.total(), f"equal prompts, {step:+d} tokens on {often}{hint}"


def _stops(a: DiffSide, b: DiffSide, paired: PairedSamples, account: DiffAccount) -> Explanation:
    cut_a = sum(cut_at(pair.a.text, b.stops) != pair.a.text for pair in paired.pairs)
    cut_b = sum(cut_at(pair.b.text, a.stops) != pair.b.text for pair in paired.pairs)
    return cut_a + cut_b, f"B's stop strings would cut {cut_a} of A's texts; A's, {cut_b} of B's"


def _limit(a: DiffSide, b: DiffSide, paired: PairedSamples, account: DiffAccount) -> Explanation:
    ended = Counter(
        (pair.a.finish == Finish.LENGTH, pair.b.finish == Finish.LENGTH) for pair in paired.pairs
    )
    starts = Counter(pair.cut for pair in paired.pairs)
    words = f"limit reached only in A: {ended[True, False]}; only in B: {ended[False, True]}"
    if starts["a"] or starts["b"]:
        words += f"; A's text is the start of B's {starts['a']}, B's of A's {starts['b']}"
    return starts["a"] + starts["b"], words


def _set(a: DiffSide, b: DiffSide, paired: PairedSamples, account: DiffAccount) -> Explanation:
    lone = paired.problems_a + paired.problems_b
    return lone, f"problems only in A {paired.problems_a}, only in B {paired.problems_b}"


def _samples(a: DiffSide, b: DiffSide, paired: PairedSamples, account: DiffAccount) -> Explanation:
    lone = paired.samples_a + paired.samples_b
    return lone, f"samples only in A {paired.samples_a}, only in B {paired.samples_b}"


def _relabelled(pairs: Sequence[SamplePair]) -> int:
    return sum(pair.problem_a.gold != pair.problem_b.gold for pair in pairs)


def _labels(a: DiffSide, b: DiffSide, paired: PairedSamples, account: DiffAccount) -> Explanation:
    differing = _relabelled(paired.pairs)
    return differing, "judged against another gold" if differing else ""


def _scorer(a: DiffSide, b: DiffSide, paired: PairedSamples, account: DiffAccount) -> Explanation:
    (gained, lost), (other_gained, other_lost) = account.turned
    words = f"A's completions under B's scorer: +{gained} -{lost}; B's under A's: "
    return gained + lost, f"{words}+{other_gained} -{other_lost}"


EXPLAIN: dict[str, Explain] = {
    names.PROTOCOL: _nothing,
    names.FORM: _part,
    names.SYSTEM: _system,
    names.PROMPT: _prompt,
    names.SHOTS: _part,
    names.SHOT_COUNT: _part,
    names.PROMPT_TOKENS: _prompt_tokens,
    names.STOP: _stops,
    names.LIMIT: _limit,
    names.SAMPLES: _samples,
    names.DATASET: _set,
    names.DIGEST: _set,
    names.LABELS: _labels,
    names.SCORER: _scorer,
}


def special_tokens(pairs: Sequence[SamplePair]) -> tuple[int, int]:
    """Return the completions of A, and of B, that contain a tokenizer's special token as text."""
    in_a = sum(SPECIAL.search(pair.a.text) is not None for pair in pairs)
    return in_a, sum(SPECIAL.search(pair.b.text) is not None for pair in pairs)


@dataclass(frozen=True, slots=True)
class RunDifference:
    """Two results, each under its own scorer, and the causes of their difference.

    special: completions of A and of B that contain a special token as text. possible_causes: the
    settings that differ and may have changed the remaining different texts; unrecorded: settings
    that may have changed them but that one side does not record.
    """

    a: DiffSide
    b: DiffSide
    scorers: tuple[str, str]
    account: DiffAccount
    fields: tuple[SettingDifference, ...]
    counts: PairCounts
    prompts: tuple[PromptDifference, ...]
    special: tuple[int, int]
    possible_causes: tuple[str, ...]
    unrecorded: tuple[str, ...]

    @property
    def points(self) -> float:
        """Return the difference in accuracy, B minus A, in points."""
        return 100 * (self.account.accuracy_b - self.account.accuracy_a)

    @property
    def unexplained(self) -> float:
        """Return the points of texts that differ for an unknown reason."""
        return sum(step.points for step in self.account.steps if step.name in (TEXTS, UNPROMPTED))

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        accuracies = (self.account.accuracy_a, self.account.accuracy_b)
        sides = zip("ab", (self.a, self.b), self.scorers, accuracies, strict=True)
        return {
            **{
                name: {
                    "run": side.run.name,
                    "kind": side.kind,
                    "scorer": scorer,
                    "accuracy": accuracy,
                    "completions": len(side.run.samples),
                }
                for name, side, scorer, accuracy in sides
            },
            "points": self.points,
            "judged_pairs": self.account.judged,
            "steps": [step.as_json() for step in self.account.steps],
            "possible_causes": list(self.possible_causes),
            "unrecorded_settings": list(self.unrecorded),
            "unexplained_points": self.unexplained,
            "fields": [field.as_json() for field in self.fields],
            "pairs": self.counts.as_json(),
            "prompt_differences": [kind.as_json() for kind in self.prompts],
            "special_tokens_in_texts": list(self.special),
        }


def run_difference(a: DiffSide, b: DiffSide, scorers: tuple[Scorer, Scorer]) -> RunDifference:
    """Return the difference of two sides.

    Raises InputError if they share no sample, or one has none that its scorer can judge.
    """
    samples = paired(a, b)
    account = account_of(a, b, samples, scorers)
    scorer_names = (scorers[0].name, scorers[1].name)
    fields = fields_of(a, b, samples, account, scorer_names)
    return RunDifference(
        a=a,
        b=b,
        scorers=scorer_names,
        account=account,
        fields=tuple(fields),
        counts=pair_counts(samples.pairs),
        prompts=tuple(prompt_differences(samples.pairs)[:MOST_KINDS]),
        special=special_tokens(samples.pairs),
        possible_causes=_possible_causes(fields),
        unrecorded=tuple(_unrecorded(fields)),
    )


def _possible_causes(fields: Sequence[SettingDifference]) -> tuple[str, ...]:
    """Return the differing settings that affect every text; a seed only with sampling."""
    by_name = {field.name: field for field in fields}
    temperature = by_name.get(names.TEMPERATURE)
    greedy = temperature is not None and temperature.a == temperature.b == 0
    return tuple(
        name
        for name in names.EVERYWHERE
        if (field := by_name.get(name)) is not None
        and field.state == DIFFERS
        and not (name in (names.SEED, names.TOP_P) and greedy)
        and not (name == names.PROMPT_TOKENS and not field.explains)
    )


def _unrecorded(fields: Sequence[SettingDifference]) -> list[str]:
    recorded = {field.name for field in fields if field.state != UNKNOWN}
    return [
        name for name in names.EVERYWHERE if name not in recorded and name != names.PROMPT_TOKENS
    ]
