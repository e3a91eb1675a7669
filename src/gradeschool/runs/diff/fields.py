"""Every recorded setting of two results, with how many completions a difference in it explains."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gradeschool.completion import Finish
from gradeschool.runs.diff import side
from gradeschool.runs.diff.pairs import Pair, Paired
from gradeschool.runs.diff.side import Side
from gradeschool.runs.diff.steps import STEPS_OF_TEXTS, Ledger, cut_at

SAME, DIFFERS, UNKNOWN = "same", "differs", "not recorded"
# What a tokenizer adds and should not stand in a completion.
SPECIAL = re.compile(r"<\|[a-z_0-9]{1,24}\|>|</?s>|<(?:bos|eos|pad|end_of_turn|start_of_turn)>")


@dataclass(frozen=True, slots=True)
class Field:
    """One setting with its value on either side, None where it is not recorded.

    state: "same", "differs" or "not recorded". explains: completions on which it acts, of `of`
    pairs; None where that cannot be told from the texts. words: what they are.
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
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Counts:
    """What the pairs come to: texts and prompts that are equal, texts that are cut or hold marks.

    special: completions of A alone, and of B alone, that hold a special token of a tokenizer.
    """

    pairs: int
    equal_texts: int
    prompts_equal: int
    prompts_differ: int
    other_texts_same_prompts: int

    def as_json(self) -> dict[str, int]:
        """Return the fields as JSON values."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def counts_of(pairs: Sequence[Pair]) -> Counts:
    """Count pairs by what is equal in them."""
    states = Counter((pair.prompts_equal, pair.texts_equal) for pair in pairs)
    return Counts(
        pairs=len(pairs),
        equal_texts=sum(pair.texts_equal for pair in pairs),
        prompts_equal=states[True, True] + states[True, False],
        prompts_differ=states[False, True] + states[False, False],
        other_texts_same_prompts=states[True, False],
    )


Explain = Callable[[Side, Side, Paired, Ledger], tuple[int | None, str]]


def fields_of(
    a: Side, b: Side, paired: Paired, account: Ledger, scorers: tuple[str, str]
) -> list[Field]:
    """Return every setting that a side records, in the order of SETTINGS, then what texts show."""
    found = []
    for name in side.SETTINGS:
        one, other = _values(name, a, b, paired, scorers)
        if one is None and other is None:
            continue
        state = UNKNOWN if one is None or other is None else SAME if one == other else DIFFERS
        explains, words = None, ""
        if state != SAME or name in (side.STOP, side.LIMIT, side.LABELS):
            explains, words = EXPLAIN.get(name, _everywhere)(a, b, paired, account)
        found.append(Field(name, one, other, state, explains, len(paired.pairs), words))
    return found


def _values(
    name: str, a: Side, b: Side, paired: Paired, scorers: tuple[str, str]
) -> tuple[Any, Any]:
    pairs = paired.pairs
    if name == side.SCORER:
        return scorers
    if name == side.PROMPT:
        one, other = (sum(asked.prompt is not None for asked in both) for both in _asked(pairs))
        unlike = sum(pair.prompts_equal is False for pair in pairs)
        words = [f"{n} recorded" if n else None for n in (one, other)]
        return words[0], f"{words[1]}, {unlike} differ" if unlike else words[1]
    if name == side.PROMPT_TOKENS:
        return tuple(_tokens(both) for both in _asked(pairs))  # type: ignore[return-value]
    if name == side.LABELS:
        differing = _relabelled(pairs)
        return "of its problems", "of its problems" if not differing else "other golds"
    return a.settings.get(name), b.settings.get(name)


def _asked(pairs: Sequence[Pair]) -> tuple[list[side.Asked], list[side.Asked]]:
    return [pair.asked_a for pair in pairs], [pair.asked_b for pair in pairs]


def _tokens(asked: Sequence[side.Asked]) -> str | None:
    counted = [one.prompt_tokens for one in asked if one.prompt_tokens is not None]
    return f"{sum(counted) / len(counted):.1f} each" if counted else None


def _everywhere(a: Side, b: Side, paired: Paired, account: Ledger) -> tuple[int | None, str]:
    """Explain what acts on no text that could be told from another: at most those left over."""
    left = sum(one.texts for one in account.steps if one.name in STEPS_OF_TEXTS)
    return left, "at most; no text tells" if left else "all texts are equal"


def _nothing(a: Side, b: Side, paired: Paired, account: Ledger) -> tuple[int | None, str]:
    return None, ""


def _prompt(a: Side, b: Side, paired: Paired, account: Ledger) -> tuple[int | None, str]:
    counts = counts_of(paired.pairs)
    compared = counts.prompts_equal + counts.prompts_differ
    if not compared:
        return None, "the prompts cannot be compared"
    same = sum(pair.texts_equal for pair in paired.pairs if pair.prompts_equal is False)
    return counts.prompts_differ, f"asked with other bytes; {same} of them answered alike"


def _part(a: Side, b: Side, paired: Paired, account: Ledger) -> tuple[int | None, str]:
    """Explain what is part of the prompt."""
    explains, _ = _prompt(a, b, paired, account)
    return explains, "" if explains is None else "prompts that differ"


def _system(a: Side, b: Side, paired: Paired, account: Ledger) -> tuple[int | None, str]:
    def opening(asked: side.Asked) -> str | None:
        turns = asked.prompt.messages[:1] if asked.prompt else ()
        return turns[0].content if turns and turns[0].role == "system" else None

    known = [pair for pair in paired.pairs if pair.asked_a.prompt and pair.asked_b.prompt]
    if not known:
        return None, "the prompts cannot be compared"
    return sum(opening(pair.asked_a) != opening(pair.asked_b) for pair in known), "asked with it"


def _prompt_tokens(a: Side, b: Side, paired: Paired, account: Ledger) -> tuple[int | None, str]:
    """Explain counts that differ where the prompts do not: a BOS token, another template."""
    steps = [pair.more_tokens for pair in paired.pairs]
    unlike = Counter(step for step in steps if step)
    if not unlike:
        told = any(step == 0 for step in steps)
        return (0, "of equal prompts") if told else (None, "the prompts differ")
    step, often = unlike.most_common(1)[0]
    hint = "; a BOS token, or the template" if abs(step) <= 8 else ""
    return unlike.total(), f"equal prompts, {step:+d} tokens on {often}{hint}"


def _stops(a: Side, b: Side, paired: Paired, account: Ledger) -> tuple[int | None, str]:
    ours = sum(cut_at(pair.a.text, b.stops) != pair.a.text for pair in paired.pairs)
    theirs = sum(cut_at(pair.b.text, a.stops) != pair.b.text for pair in paired.pairs)
    return ours + theirs, f"B's would cut {ours} of A's texts, A's {theirs} of B's"


def _limit(a: Side, b: Side, paired: Paired, account: Ledger) -> tuple[int | None, str]:
    ended = Counter(
        (pair.a.finish == Finish.LENGTH, pair.b.finish == Finish.LENGTH) for pair in paired.pairs
    )
    starts = Counter(pair.cut for pair in paired.pairs)
    words = f"reached in A alone {ended[True, False]}, in B alone {ended[False, True]}"
    if starts["a"] or starts["b"]:
        words += f"; A's text is the start of B's {starts['a']}, B's of A's {starts['b']}"
    return starts["a"] + starts["b"], words


def _set(a: Side, b: Side, paired: Paired, account: Ledger) -> tuple[int | None, str]:
    lone = paired.problems_a + paired.problems_b
    return lone, f"problems in A alone {paired.problems_a}, in B alone {paired.problems_b}"


def _samples(a: Side, b: Side, paired: Paired, account: Ledger) -> tuple[int | None, str]:
    lone = paired.samples_a + paired.samples_b
    return lone, f"samples in A alone {paired.samples_a}, in B alone {paired.samples_b}"


def _relabelled(pairs: Sequence[Pair]) -> int:
    return sum(pair.problem_a.gold != pair.problem_b.gold for pair in pairs)


def _labels(a: Side, b: Side, paired: Paired, account: Ledger) -> tuple[int | None, str]:
    differing = _relabelled(paired.pairs)
    return differing, "judged by another gold" if differing else ""


def _scorer(a: Side, b: Side, paired: Paired, account: Ledger) -> tuple[int | None, str]:
    (gained, lost), (other_gained, other_lost) = account.turned
    words = f"A's completions under B's scorer: +{gained} -{lost}; B's under A's: "
    return gained + lost, f"{words}+{other_gained} -{other_lost}"


EXPLAIN: dict[str, Explain] = {
    side.PROTOCOL: _nothing,
    side.ANSWERED_BY: _everywhere,
    side.FORM: _part,
    side.SYSTEM: _system,
    side.PROMPT: _prompt,
    side.SHOTS: _part,
    side.SHOT_COUNT: _part,
    side.PROMPT_TOKENS: _prompt_tokens,
    side.STOP: _stops,
    side.LIMIT: _limit,
    side.SAMPLES: _samples,
    side.DATASET: _set,
    side.DIGEST: _set,
    side.LABELS: _labels,
    side.SCORER: _scorer,
}


def special_tokens(pairs: Sequence[Pair]) -> tuple[int, int]:
    """Return the completions of A, and of B, that hold a tokenizer's special token as text."""
    ours = sum(SPECIAL.search(pair.a.text) is not None for pair in pairs)
    return ours, sum(SPECIAL.search(pair.b.text) is not None for pair in pairs)
