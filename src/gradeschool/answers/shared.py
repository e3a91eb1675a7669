"""Memos: results that several scorers need from one text, and results for frequent words.

`scoring.table` applies one scorer to all texts of a batch, then the next scorer. A function that
several scorers call on the text is decorated with `shared`: it remembers the texts of a batch. A
function of an extracted answer is decorated with `remembered`: a dataset has few different answers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar

BATCH = 64  # texts that are scored together; larger batches are not faster
MOST_CHARACTERS = 2**22  # of a batch; shared results of a longer one are dropped immediately
MOST_WORDS = 1 << 14  # remembered by each function
LONGEST_WORD = 40  # characters; longer words are not remembered
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
_memories: list[Any] = []


def shared(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Return a pure function of a text that computes each result once for all scorers."""
    remembering = lru_cache(BATCH)(function)
    _memories.append(remembering)
    return remembering  # type: ignore[return-value]  # lru_cache's type has no parameters


def remembered(function: Callable[[str], Result]) -> Callable[[str], Result]:
    """Return a pure function of a word that remembers its results, except for long words."""
    return _Memory(function).__getitem__


class _Memory(dict[str, Result]):
    """Results by word. A lookup needs no Python call, which would double its time."""

    def __init__(self, function: Callable[[str], Result]) -> None:
        super().__init__()
        self.function = function

    def __missing__(self, word: str) -> Result:
        result = self.function(word)
        if len(word) <= LONGEST_WORD:
            if len(self) >= MOST_WORDS:
                self.clear()
            self[word] = result
        return result


def forget() -> None:
    """Drop all texts, to free their memory."""
    for memory in _memories:
        memory.cache_clear()
