r"""Scans of an answer in linear time, for patterns of OpenCompass that are quadratic."""

from __future__ import annotations

from collections.abc import Iterable


class Replacements:
    """String replacements one after the other; those whose characters are absent cost nothing."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self.steps = [(old, new, frozenset(old)) for old, new in pairs]

    def __call__(self, text: str) -> str:
        """Return the text with every pair's first string replaced by its second."""
        present = set(text)
        for old, new, needed in self.steps:
            if needed <= present and old in text:
                text = text.replace(old, new)
                present.update(new)
        return text


def unwrapped(text: str, opening: str, closing: str) -> str:
    """Take wrappers off; each reaches to the nearest closing."""
    parts: list[str] = []
    at = 0
    while (start := text.find(opening, at)) >= 0:
        inside = start + len(opening)
        end = text.find(closing, inside)
        if end < 0:
            break
        parts += text[at:start], text[inside:end]
        at = end + len(closing)
    return "".join([*parts, text[at:]])


def last_between(text: str, opening: str, closing: str) -> str:
    """Return what the last pair of marks encloses; the whole text where there is no pair."""
    between, at = text, 0
    while (start := text.find(opening, at)) >= 0:
        inside = start + len(opening)
        end = text.find(closing, inside)
        if end < 0:
            break
        between, at = text[inside:end], end + len(closing)
    return between
