r"""A scan of a completion: which markers are in it, and the short parts that scorers depend on.

Scoring looks for the markers of a text once and asks each scorer about a part of a few words
instead
of the whole (`scorer.Claim`); parts repeat ("#### 18", "18."), so most have been read before. A
part
function returns None where it cannot tell; a test holds every scorer to the parts that it claims.
"""

from __future__ import annotations

import re
import string

# What a text holds, as bits of `Scan.holds`.
HAS_HASHES = 1 << 0  # "####"
HAS_BOX = 1 << 1  # "\boxed", its last "boxed" among them
HAS_BARE_BOX = 1 << 2  # a last "boxed" without a backslash
HAS_ANSWER = 1 << 3  # "answer" in any case
HAS_ANSWERS = 1 << 4  # the same more than once
HAS_ANSWER_COLON = 1 << 5  # the same with white space and a colon
HAS_HE_ANSWER_IS = 1 << 6  # "he answer is"
HAS_FINAL_ANSWER_IS = 1 << 7  # "final answer is"
HAS_QUESTION = 1 << 8  # "Question"
HAS_Q = 1 << 9  # "Q", of HAS_QUESTION too
HAS_EQUALS = 1 << 10  # "="
HAS_DOLLARS = 1 << 11  # two "$" or more
HAS_FENCE = 1 << 12  # "```"
HAS_THOUGHT = 1 << 13  # "</think>"
HAS_BOLD = 1 << 14  # "**"
HAS_PLAIN = 1 << 15  # the last word with a digit is "18", "$1,250.50." or the like
HAS_LAST_LINE = 1 << 16  # and it begins on the last line

# Letters that Python's (?i) takes for "s", "i" and "k"; one character each, so places stay.
FOLDED = str.maketrans("ſİıK", "siik")
# What may stand behind the last word with a digit and is read by no scorer, if no two periods
# touch.
PROSE = string.ascii_letters + " \n.!?'"
NO_DIGITS = "".join(map(chr, sorted(set(range(128)) - set(range(48, 58)))))
DIGIT = re.compile(r"[0-9]")
TO_SPACE = re.compile(r"[^ \n]*")
COLON = re.compile(r"answer\s*:")
# Scorers that read the last 300 characters alone must find the number among them.
NEAR = 250
MOST_WORDS, MOST_BRACES = 24, 8
# A word of ASCII with one of these is a number in no version of inspect_ai.
NO_NUMBER = re.compile(r"[A-DF-Za-df-z/<=>%^&|~#@]")
PLAIN_NUMBER = re.compile(r"\$?[0-9][0-9,]{0,40}(?:\.[0-9]{1,40})?\.?")


def lower_in_place(text: str) -> str:
    """Return a text in lower case, as (?i) compares it, with each character in its place."""
    return text.lower() if text.isascii() else text.translate(FOLDED).lower()


class Scan:
    """A text, what it holds, and where its markers stand (-1 for those that it does not hold).

    low: the text in lower case, each character in its place. hashes: the first "####". boxed and
    answer: the last "boxed", and "answer" in any case. number: the last word with a digit, with
    what is needed around it; None where there is none. start: where that begins.
    """

    __slots__ = ("answer", "boxed", "hashes", "holds", "low", "number", "start", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.low = low = lower_in_place(text)
        self.answer = low.rfind("answer")
        self.hashes = text.find("####") if "#" in text else -1
        self.boxed = text.rfind("boxed")
        self.start, self.number = last_number_word(text)
        self.holds = self._marks() | (self._answers() if self.answer >= 0 else 0)

    def _marks(self) -> int:
        text, holds = self.text, 0
        if self.hashes >= 0:
            holds |= HAS_HASHES
        if self.boxed >= 0:
            holds |= HAS_BOX if self.boxed and text[self.boxed - 1] == "\\" else HAS_BARE_BOX
        if "Q" in text:
            holds |= (HAS_QUESTION | HAS_Q) if "Question" in text else HAS_Q
        if "=" in text:
            holds |= HAS_EQUALS
        if "$" in text and text.find("$", text.find("$") + 1) >= 0:
            holds |= HAS_DOLLARS
        if "`" in text and "```" in text:
            holds |= HAS_FENCE
        if "<" in text and "</think>" in text:
            holds |= HAS_THOUGHT
        if "*" in text and "**" in text:
            holds |= HAS_BOLD
        if self.number is not None and PLAIN_NUMBER.fullmatch(self.number):
            holds |= HAS_PLAIN
            if text.find("\n", self.start) < 0:
                holds |= HAS_LAST_LINE
        return holds

    def _answers(self) -> int:
        text, low, holds = self.text, self.low, HAS_ANSWER
        if low.find("answer") != self.answer:
            holds |= HAS_ANSWERS
        if ":" in text and COLON.search(low):
            holds |= HAS_ANSWER_COLON
        if "he answer is" in text:
            holds |= HAS_HE_ANSWER_IS
        if "final answer is" in text:
            holds |= HAS_FINAL_ANSWER_IS
        return holds


def last_number_word(text: str) -> tuple[int, str | None]:
    """Return the last word with a digit and where it begins; (-1, None) where there is none.

    A scorer whose pattern matches no white space finds its last match in the text there, if it
    finds
    one there. What stands behind the word is left out if it is prose, else it belongs to the part;
    so do the words before it that a pattern might join to it ("1, 200", "$ 18").
    """
    last = len(text.rstrip(PROSE))
    if not last:
        return -1, None
    start = _word_start(text, last)
    found = TO_SPACE.match(text, last)
    end = len(text) if found is None else found.end()
    if not DIGIT.search(text, start, end) or text.find("..", end) >= 0 or len(text) - start > NEAR:
        last = len(text.rstrip(NO_DIGITS))
        if not last:
            return -1, None
        start, end = _word_start(text, last), len(text)
    while start > 1 and _joins(text, start - 2):
        start = _word_start(text, start - 1)
        if end - start > NEAR:
            return -1, None
    return start, text[start:end]


def _word_start(text: str, end: int) -> int:
    start, line = text.rfind(" ", 0, end), text.rfind("\n", 0, end)
    return (line if line > start else start) + 1


def _joins(text: str, at: int) -> bool:
    """Tell whether what ends at a place may belong to a number behind it."""
    before = text[at]
    if before.isspace():
        before = text[max(at - 4, 0) : at + 1].rstrip()[-1:]
        return before != "" and before in "$€£"
    return before in ",$€£" or before.isdecimal()


def nothing(scan: Scan) -> str:
    """Return an empty part: for scorers that read nothing without their marker."""
    return ""


def hashes(scan: Scan) -> str:
    """Return the text from its first "####" on."""
    return scan.text[scan.hashes :]


def number(scan: Scan) -> str | None:
    """Return the last word with a digit."""
    return scan.number


def number_before(text: str, stop: str) -> str | None:
    """Return the last word with a digit before the first `stop`, if that occurs."""
    end = text.find(stop)
    return last_number_word(text if end < 0 else text[:end])[1]


def bare_number(scan: Scan) -> str | None:
    """Return the last word that is a plain number and the words with digits behind it."""
    return bare_number_in(scan.text)


def bare_number_in(text: str, words: int = MOST_WORDS) -> str | None:
    """Return the same of a text that was not scanned; all such words if none is a plain number.

    None where there are more words and no plain number among the last of them.
    """
    kept: list[str] = []
    parts = text.rsplit(None, words)
    for word in reversed(parts):
        if word.isascii() and (word.isalpha() or NO_NUMBER.search(word) or not DIGIT.search(word)):
            continue
        kept.append(word)
        if PLAIN_NUMBER.fullmatch(word):
            return " ".join(reversed(kept)) if len(parts) <= words or word is not parts[0] else None
    return " ".join(reversed(kept)) if len(parts) <= words else None


def box(scan: Scan) -> str:
    r"""Return the last `\boxed{...}` and the character behind it; else all from `\boxed` on."""
    text, start = scan.text, scan.boxed - 1
    end = text.find("}", start) + 1
    for _ in range(MOST_BRACES):
        part = text[start:end]
        if not end or part.count("{") <= part.count("}"):
            break
        end = text.find("}", end) + 1
    else:
        end = 0
    return text[start : end + 1] if end else text[start:]
