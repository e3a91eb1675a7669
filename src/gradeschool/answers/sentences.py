"""The closing sentences of a text, from the last one back, and the role of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gradeschool.answers.features import SETTING, has_unit
from gradeschool.answers.quantities import WrittenNumber
from gradeschool.answers.question import restates_question

# Number of characters at the end of a text in which the closing sentences are searched.
WINDOW = 1_500
MOST_SENTENCES = 16
# A period after a title, an initial or the number of a list item does not end a sentence.
BOUNDARY = re.compile(
    r"[.!?\n。！？।](?:(?<=\n)\n*|(?<=[。！？।])|(?<=[.!?])(?<!\bM[rs]\.)(?<!\bDr\.)(?<!\bSt\.)"
    r"(?<!\bMrs\.)(?<!\b[A-Z]\.)(?<!\bi\.e\.)(?<!\n\d\.)(?<!\n\d\d\.)[)\"'*”\]]{0,3}\s+)"
)
CONCLUSION = re.compile(
    r"(?i)[\s*>✅🎉✓-]{0,6}(?:therefore|thus|hence|so|finally|in\s(?:total|conclusion|summary|all)|"
    r"consequently|accordingly|altogether|overall|this\smeans|that\smeans|as\sa\sresult|∴"
    r"|insgesamt|somit|daher|folglich|por\s(?:lo\s)?tanto|así\sque|entonces|en\stotal|donc"
    r"|au\stotal|ainsi|par\sconséquent|итак|итого|значит|следовательно|таким\sобразом|поэтому"
    r"|(?:kwa\s)?hivyo|kwa\sjumla)\b"
    r"|[\s*]{0,6}(?:因此|所以|したがって|よって|つまり|সুতরাং|অতএব|তাই|কাজেই|కాబట్టి|అందువల్ల|ดังนั้น)"
)
REVISION = re.compile(
    r"(?i)\b(?:wait|actually|correction|oops|sorry|(?<!common )mistake|error|incorrect|re-?check"
    r"|reconsider|on\ssecond\sthought|let\s(?:me|us|'s)\sre)\b|\bshould\s(?:actually\s)?be\b"
)
ASIDE = re.compile(
    r"(?i)[^\w$\\]{0,8}(?:note\b|p\.?s\.|let\sme\sknow|(?:i\s)?hope\b|feel\sfree"
    r"|(?:to\s|let['’]?s\s)?(?:double-?\s?)?(?:check|verify|verification)\b"
    r"|\[\d{1,3}\][.\s]*$|(?:date|time\staken|confidence|references?|sources?|(?:word|token)\scount"
    r"|comment|score|rating|difficulty)[*_]{0,2}:|rated\b"
    r"|th(?:is|at)(?:\sis|['’]s)\sbecause\b|if\syou\s(?:have\s(?:any|more|other|further)|need|want|would)|happy\sto\b|this\sassumes|assuming"
    r"|by\sthe\sway\b|(?:for|in|by)\s(?:comparison|reference|contrast)\b|incidentally\b"
    r"|as\san\saside\b|fun\sfact\b|similarly\b|to\srecap\b|i\scan\s(?:answer|help|also)\b"
    r"|if\s(?:\w+\s){1,3}had\s(?!\d|an?\b|the\b|no\b)\w+|had\s(?:\w+\s){1,4}been\b"
    r"|\((?:[^()\s]{1,40}\s){2,40}[^()\s]{1,40}\)[.\s]*$|\*\((?:[^()\n]){10,200}\)\*[.\s]*$)"
)
QUESTION = re.compile(r"\?[\s\"'*)]*$")
# Phrases that begin a check of the result.
CHECK = re.compile(
    r"(?i)(?:\n|(?<=[.!?])\s)[\s*#>_(-]{0,6}"
    r"(?:(?:to|we\scan|you\scan|let\s(?:me|us)|let['’]s|i(?:['’]ll|\swill|\scan)?)\s)?"
    r"(?:just\s|quickly\s|also\s)?(?:double[-\s]?)?"
    r"(?:check(?:ing)?|verif(?:y|ication|ying)|confirm(?:ing)?|sanity\scheck|verifica(?:ção|ción)?|vérification"
    r"|comprobación|probe|kontrolle|проверка)\b|\n\s{0,3}(?:验算|検算)"
    r"|\n[\s*#]{0,6}(?:references?|sources?|citations?)[*_]{0,2}:"
)
CHECK_SIGNS = (
    "heck", "erif", "érif", "onfirm", "eference", "ource", "itation", "HECK", "ERIF", "omprobac",
    "robe", "ontroll", "роверка", "验算", "検算",
)  # fmt: skip
NEW_CONCLUSION = re.compile(
    r"(?i)(?:\n|[.!?]\s)[\s*]{0,4}(?:so|therefore|thus|hence)\b[^\n.]{0,90}\d"
)
# A text with this end was cut off before its result.
DANGLING = re.compile(
    r"(?:[+/×=<(−-]|\s\*|\\times|\\frac(?:\{[^{}]{0,20}(?:\}\{[^{}]{0,20})?)?"
    r"|\b(?:is|are|was|has|have|had|the|an?|of|and|or|by|plus|minus"
    r"|times|with|for|to|from|at|in|on|per|than|every|his|her|their|so"
    r"|to\s(?:determine|find|get|calculate|compute|obtain|see|figure)))\s*$"
)
# "7 sq in" and "600 times" end in a unit.
UNIT_AT_END = re.compile(r"\d\)?\s?(?:(?:sq(?:uare)?|cu(?:bic)?)\.?\s)?(?:in|times)\s*$")
TIMES_WHAT = re.compile(r"\b(?:be|is|are|equals?)\s\$?[\d,.]{1,12}\stimes\s*$")
# "Now, add the 5 to the 8" says what to do, but not the result.
INSTRUCTION = re.compile(
    r"(?i)[\s*#\d.)-]{0,8}(?:now|then|next|first|finally)?,?\s?(?:to\s[^,\n=]{4,120},\s)?"
    r"(?:we\s(?:(?:need\sto|can|must|have\sto)\s)?)?"
    r"(?:add|subtract|multiply|divide|calculate|find|determine|compute)\s"
)
# ... unless it gives its figure: "Add 5 to 8 to get 13", "Find the total: 13".
CARRIED_OUT = re.compile(
    r"(?i):(?!\d)|[=≈→]|\\approx|\b(?:gets?|giving|gives\s(?:us|you)|equals?|which|obtain|yields?|so"
    r"|leav(?:es?|ing)|(?:find|determine|calculate|compute)\s(?:that|\$?\d)|total(?:s|ing)?\sof)\b"
)
OPERAND = re.compile(
    r"[\w)}%][\s$]{0,3}[+×÷/][\s$]{0,3}$|[\d)][\s$]{0,3}(?:[−–-]\s|\*(?!\*)\s?)[$]?$"
)
# A single word that may end a finished text.
CLOSER = re.compile(r"(?i)(?:done|thanks?|good|great|correct|true|yes|cheers|end)\b")
# Maximum number of words in a unit after the number of an unfinished sentence.
LONGEST_UNIT = 4
# A longer number is a model repeating digits.
MOST_DIGITS = 50
# Minimum length of text whose repetition counts as going round; the second for short sentences.
SHORTEST_PERIOD, LONGEST_PERIOD = 20, 60
LABEL = re.compile(r"([A-Z][a-z]{2,9}) (\d{1,3}):")
DIGIT = re.compile(r"\d")


class Sentence(NamedTuple):
    """The place of a sentence, and whether the text breaks off in it."""

    start: int
    end: int
    cut: bool


def last_sentences(text: str, start: int, end: int) -> Iterator[Sentence]:
    """Yield the sentences of a piece of text from the last one back, a few at most."""
    begin = max(start, end - WINDOW)
    tail = text[begin:end].rstrip()
    cut = bool(tail) and tail[-1].isalnum()
    edges = [begin, *(match.end() for match in BOUNDARY.finditer(text, begin, end))]
    stop = end
    for edge in edges[: -MOST_SENTENCES - 1 : -1]:
        if edge < stop and not text[edge:stop].isspace():
            yield Sentence(edge, stop, cut)
            cut = False
        stop = edge


def first_sentence_end(text: str, start: int, end: int) -> int | None:
    """Return where the first sentence of a piece of text ends, None if it extends to the end."""
    while (boundary := BOUNDARY.search(text, start, end)) is not None:
        if text[start : boundary.end()].strip():
            return boundary.end()
        start = boundary.end()
    return None


def is_aside(text: str, sentence: Sentence) -> bool:
    """Return whether a sentence asks something, or adds a note to the text before."""
    if ASIDE.match(text, sentence.start, sentence.end):
        return text.find("=", sentence.start, sentence.end) < 0
    asks = QUESTION.search(text, max(sentence.start, sentence.end - 12), sentence.end) is not None
    return asks and text.find("=", sentence.start, sentence.end) < 0


def before_check(text: str, start: int, end: int) -> int:
    """Return where a check that confirms a result begins, else the end."""
    tail = text[max(start, end - WINDOW) : end]
    if not any(map(tail.__contains__, CHECK_SIGNS)):
        return end
    check = CHECK.search(text, max(start, end - WINDOW), end)
    if check is None or REVISION.search(text, check.end(), end):
        return end
    if NEW_CONCLUSION.search(text, check.end(), end):
        return end
    return check.start() if DIGIT.search(text, start, check.start()) else end


def breaks_off(text: str, sentence: Sentence, number: WrittenNumber | None, question: str) -> bool:
    """Return whether an unfinished last sentence leads to a figure that is missing."""
    written = text[sentence.start : sentence.end].rstrip()
    if DANGLING.search(written[-40:]) and (
        not UNIT_AT_END.search(written[-40:]) or TIMES_WHAT.search(written[-40:])
    ):
        return True
    if not sentence.cut:
        return False
    words = written.split()
    before = text[max(0, sentence.start - 8) : sentence.start]
    if number is None:
        fragment = written[:1].isupper() and CLOSER.match(written) is None
        return len(words) > 2 or (fragment and "\n" not in before)
    stop = sentence.start + len(written)
    if number.end - number.start > MOST_DIGITS:  # 0.3333333333333...
        return True
    if "," in text[number.end : stop]:
        setting = text[max(sentence.start, number.start - 40) : number.start]
        if SETTING.search(setting) and "=" not in written:  # "Therefore, in 48 hours, the pool"
            return True
    if announces_step(text, sentence):
        return True
    if written.rfind("(") > written.rfind(")"):
        return True
    display = text.rfind("\\[", max(0, sentence.start - LONGEST_PERIOD), stop)
    if display >= 0 and text.find("\\]", display, stop) < 0:
        return True
    if number.end >= stop and OPERAND.search(text, sentence.start, number.start):
        return True
    if number.end < stop and len(words) > 2 and not DIGIT.search(text, number.start, number.end):
        return True
    if "\n" in before or not before.rstrip().endswith((".", "!", "?")):
        return False  # a line may end without a period
    if number.start == sentence.start and len(words) <= LONGEST_UNIT:
        return False  # "Therefore, it takes 3 hours. 3"
    if len(text[number.end : stop].split()) > LONGEST_UNIT:
        return True
    return not (
        CONCLUSION.match(written)
        or "=" in written
        or restates_question(written, question)
        or has_unit(text, number, stop, question)
    )


def announces_step(text: str, sentence: Sentence) -> bool:
    """Return whether a sentence says what to do next, but not the result."""
    written = text[sentence.start : sentence.end].strip()
    return INSTRUCTION.match(written) is not None and CARRIED_OUT.search(written) is None


def is_next_item(text: str, sentence: Sentence, end: int) -> bool:
    """Return whether a text breaks off after the number of a list's next item."""
    written = text[sentence.start : sentence.end].strip().rstrip(".)")
    if label := LABEL.fullmatch(written):
        return f"\n{label[1]} {int(label[2]) - 1}:" in text[: sentence.start]
    if len(written) > 3 or not written.isdecimal() or text[sentence.end : end].strip():
        return False
    return any(f"\n{int(written) - 1}{mark} " in text[: sentence.start] for mark in ".)")


def is_repetitive(text: str, sentence: Sentence, start: int, end: int) -> bool:
    """Return whether a text repeats its last sentence, or its last words, over and over."""
    written = text[sentence.start : sentence.end].strip().lstrip("0123456789. ")
    if len(written) < SHORTEST_PERIOD:
        stop = sentence.start + len(text[sentence.start : sentence.end].rstrip())
        written = text[max(start, stop - LONGEST_PERIOD) : stop]
    return len(written) >= SHORTEST_PERIOD and text.count(written, start, end) >= 4
