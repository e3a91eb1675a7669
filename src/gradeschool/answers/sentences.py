"""The sentences that close a text, the last one first, and those that only add to what was said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

# A text is read from its end; so many characters of it hold its closing sentences.
WINDOW = 1_500
MOST_SENTENCES = 16
# A period behind a title, an initial or the number of a list item ends no sentence.
BOUNDARY = re.compile(
    r"[.!?\n。！？](?:(?<=\n)\n*|(?<=[。！？])|(?<=[.!?])(?<!\bM[rs]\.)(?<!\bDr\.)(?<!\bSt\.)"
    r"(?<!\bMrs\.)(?<!\b[A-Z]\.)(?<!\bi\.e\.)(?<!\n\d\.)(?<!\n\d\d\.)[)\"'*”\]]{0,3}\s+)"
)
ASIDE = re.compile(
    r"(?i)[^\w$\\]{0,8}(?:note\b|p\.?s\.|let\sme\sknow|(?:i\s)?hope\b|feel\sfree"
    r"|(?:to\s|let['’]?s\s)?(?:double-?\s?)?(?:check|verify|verification)\b"
    r"|\[\d{1,3}\][.\s]*$|(?:date|time\staken|confidence|references?|sources?|(?:word|token)\scount"
    r"|comment|score|rating|difficulty)[*_]{0,2}:"
    r"|th(?:is|at)(?:\sis|['’]s)\sbecause\b|if\syou\shave\s(?:any|more|other|further)|this\sassumes|assuming"
    r"|\((?:[^()\s]{1,40}\s){2,40}[^()\s]{1,40}\)[.\s]*$)"
)
QUESTION = re.compile(r"\?[\s\"'*)]*$")


class Sentence(NamedTuple):
    """Where a sentence stands, and whether the text breaks off in it."""

    start: int
    end: int
    cut: bool


def last_sentences(text: str, start: int, end: int) -> Iterator[Sentence]:
    """Yield the sentences of a piece of text from the last one back, a few at most."""
    begin = max(start, end - WINDOW)
    edges = [begin, *(found.end() for found in BOUNDARY.finditer(text, begin, end)), end]
    cut = bool(text[begin:end].rstrip()) and text[begin:end].rstrip()[-1].isalnum()
    for left, right in list(pairwise(edges))[: -MOST_SENTENCES - 1 : -1]:
        if text[left:right].strip():
            yield Sentence(left, right, cut)
            cut = False


def is_aside(text: str, sentence: Sentence) -> bool:
    """Tell whether a sentence asks something, or adds a note to what was said."""
    if ASIDE.match(text, sentence.start, sentence.end):
        return True
    return QUESTION.search(text, max(sentence.start, sentence.end - 12), sentence.end) is not None
