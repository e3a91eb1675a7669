"""Where the prompts of two results part, for the pairs whose prompts differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gradeschool.completion import Prompt
from gradeschool.protocols.contrast import prompt_lines
from gradeschool.runs.diff.pairs import Pair

BEFORE, BEHIND = 24, 40  # characters shown around the first difference
ALIKE = 10  # characters behind it, of its first word, that make two differences one kind


class Parting(NamedTuple):
    """One kind of difference: the first of it, and how many completions have it.

    at: bytes that both prompts share. before: the last characters of these; a, b: how each goes on,
    "" where it ends. problem: the id of the problem that it is shown of.
    """

    at: int
    before: str
    a: str
    b: str
    completions: int
    problem: str

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return self._asdict()


def partings(pairs: Sequence[Pair]) -> list[Parting]:
    """Return the kinds of first differences among prompts, the most frequent first."""
    kinds: dict[tuple[str, str], Parting] = {}
    for pair in pairs:
        if pair.prompts_equal is not False:
            continue
        one, other = (written(asked.prompt) for asked in (pair.asked_a, pair.asked_b))
        at = _shared(one, other)
        key = (_word(one, at), _word(other, at))
        known = kinds.get(key)
        if known is not None:
            kinds[key] = known._replace(completions=known.completions + 1)
            continue
        shared = len(one[:at].encode("utf-8", "surrogatepass"))
        before = one[max(0, at - BEFORE) : at]
        behind = one[at : at + BEHIND], other[at : at + BEHIND]
        kinds[key] = Parting(shared, before, *behind, 1, pair.problem_a.id)
    return sorted(kinds.values(), key=lambda kind: -kind.completions)


def _word(text: str, at: int) -> str:
    return next(iter(text[at : at + ALIKE].split(maxsplit=1)), "")


def _shared(one: str, other: str) -> int:
    """Return how many characters two texts have in common from their start."""
    both = enumerate(zip(one, other, strict=False))
    return next((at for at, (mine, its) in both if mine != its), min(len(one), len(other)))


def written(prompt: Prompt | None) -> str:
    """Return a prompt as one text: what is sent, or the messages under their roles."""
    return "" if prompt is None else "\n".join(prompt_lines(prompt))
